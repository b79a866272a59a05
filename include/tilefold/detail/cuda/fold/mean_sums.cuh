// SPDX-License-Identifier: Apache-2.0
//
// Means in kernels. Their accumulator is a count and a sum; of doubles the count also tells whether
// the sum is in units of 2^64. Where all items of a warp's tile or stripe exist the count is known,
// so the sums alone are folded, in half as many registers and shuffles. A node of doubles that
// leaves their range is folded again, with whole accumulators.
#pragma once

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/op.hpp>

namespace tilefold::detail::cuda {

/// A reducer of the sums alone, for nodes whose count is known.
template <class Reducer>
struct sums_of_means {
  using accumulator = double;
  using mean = typename Reducer::accumulator;
  static constexpr bool commutative = true;

  const Reducer& reducer;

  template <class... Values>
  TILEFOLD_D double lift(const Values&... values) const {
    return reducer.lift(values...).sum;
  }
  TILEFOLD_D double combine(double a, double b) const { return rounded_sum(a, b); }

  /// Makes the node of `count` items with this sum. False if a sum of some of them may have been
  /// out of range.
  TILEFOLD_D static bool put(slot<mean>& node, int count, double sum) {
    mean made{};
    made.count = count;
    made.sum = sum;
    node.put(made);
    if constexpr (requires { Reducer::is_in_range(made); }) {
      return Reducer::is_in_range(made);
    } else {
      return true;
    }
  }
};

}  // namespace tilefold::detail::cuda
