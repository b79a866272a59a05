// SPDX-License-Identifier: Apache-2.0
//
// The contests in sums by index.
#pragma once

#include "../support/roster.hpp"

namespace bench {

/// Sums of floats by int32 indices in any order.
void enter_by_index(roster& all);

}  // namespace bench
