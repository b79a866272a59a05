// SPDX-License-Identifier: Apache-2.0
//
// The contests over segments.
#pragma once

#include <memory>

#include "../support/roster.hpp"
#include "../support/values.cuh"

namespace bench {

using shared_floats = std::shared_ptr<shared_values<float>>;

/// Sums of floats by segment, 4 GiB.
void enter_sums(roster& all, const shared_floats& items);
/// Sums of structs of 16, 32 and 64 bytes by segment, 1 GiB.
void enter_structs(roster& all);
/// Mean, variance, minimum and maximum of every segment in one read, beside the plain sum of the
/// same segments.
void enter_statistics(roster& all, const shared_floats& items);
/// What is small or narrow: rows of halves into floats, many and few, and a thousand segments of a
/// thousand floats.
void enter_rows(roster& all);

}  // namespace bench
