// SPDX-License-Identifier: Apache-2.0
//
// What the translation units of vector folds offer each other: the fold for the instruction set in
// use, or null.
#pragma once

#include <tilefold/detail/host/simd.hpp>

namespace tilefold::detail::host {

/// Floating sums and products, and dot products, in the fold order.
simd_fold tree_fold_for(simd_op op, simd_type value, simd_type accumulator);

/// Squares of floats and doubles in the fold order, as the l2 norm keeps them.
simd_fold square_fold_for(simd_op op, simd_type value);

/// Floats and integers added in double in the fold order, as the mean keeps them.
simd_fold counted_sum_for(simd_type value);

/// Questions of whether items are zero, and what truths stand for.
simd_fold zero_fold_for(simd_op op, simd_type value);

/// What no order of evaluation can change: integers, minima and maxima.
simd_fold order_free_fold_for(simd_op op, simd_type value, simd_type accumulator);

}  // namespace tilefold::detail::host
