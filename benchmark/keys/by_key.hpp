// SPDX-License-Identifier: Apache-2.0
//
// The contests in which keys say where segments are.
#pragma once

#include <memory>

#include "../support/roster.hpp"
#include "../support/values.cuh"

namespace bench {

/// Sums of floats by runs of int32 keys.
void enter_floats_by_key(roster& all, const std::shared_ptr<shared_values<float>>& items);
/// Sums of structs of 16, 32 and 64 bytes by runs of int32 keys.
void enter_structs_by_key(roster& all);

}  // namespace bench
