// SPDX-License-Identifier: Apache-2.0
//
// axis_reduce on a GPU, over sums of floats: the columns of matrices of several widths, and the
// middle axis of rank 3. The ceiling is a kernel that only reads as many bytes as items and results
// are.
#pragma once

#include <set>
#include <string>

#include "support/session.hpp"

namespace bench {

/// Registers the contests. `gpu` and `failures` must outlive their runs.
void register_axis_contests(session& gpu, std::set<std::string>& failures);

}  // namespace bench
