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

  /// The node of the items of a warp in a full tile, of type `Tile` (tile_fold.cuh).
  template <class Tile, class Source>
  TILEFOLD_D static mean node_of_warp(const Source& source, const Reducer& reducer,
                                      std::int64_t tile_first, int warp) {
    using sums = typename Tile::template with<sums_of_means>;
    slot<mean> node;
    const double sum = sums::chunks_of_warp(source, {reducer}, tile_first, 0, warp);
    if (put(node, Tile::warp_items, sum)) return node.value;
    return fold_again<Tile>(source, reducer, tile_first, warp);
  }

 private:
  // Not inlined: its registers would add to those of the common path.
  template <class Tile, class Source>
  __device__ TILEFOLD_APART static mean fold_again(Source source, Reducer reducer,
                                                   std::int64_t tile_first, int warp) {
    return Tile::chunks_of_warp(source, reducer, tile_first, 0, warp);
  }
};

}  // namespace tilefold::detail::cuda
