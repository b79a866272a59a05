// SPDX-License-Identifier: Apache-2.0
//
// axis_reduce on a GPU, over sums of floats: the columns of matrices of several widths, and the
// middle axis of rank 3. The ceiling is a kernel that only reads as many bytes as items and results
// are.
#pragma once

#include "../support/roster.hpp"

namespace bench {

void enter_columns(roster& all);

}  // namespace bench
