// SPDX-License-Identifier: Apache-2.0
//
// The tree over neighbouring nodes that one lane gets one by one, by that lane alone. They are
// items, or packets of them:
//
//     nodes    0   1   2   3   4   5   6   7
//              `-.-'   `-.-'   `-.-'   `-.-'
//                `---.---'       `---.---'       here 8; of the first 5: ((0 1) (2 3)) 4
//                    `-------.-------'
//
// The left half is folded before the right one is begun, so few values are alive at a time. Where
// all nodes are in registers already, fold_packet() (stripe_merge.cuh) goes level by level.
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// get(i) is item i, join(left, right) the node of two neighbours.
template <class Acc>
struct lane_tree {
  /// The node of N items from `at` on, of halves of equally many: join may be combine_equals.
  template <int N, class Get, class Join>
  TILEFOLD_D static Acc whole(int at, const Get& get, const Join& join) {
    static_assert(tree::is_power_of_two(N));
    if constexpr (N == 1) {
      return get(at);
    } else {
      const Acc left = whole<N / 2>(at, get, join);
      return join(left, whole<N / 2>(at + N / 2, get, join));
    }
  }

  /// The node of the first n >= 1 of N items from `at` on; get() is called for these alone.
  template <int N, class Get, class Join>
  TILEFOLD_D static Acc first(int at, int n, const Get& get, const Join& join) {
    static_assert(tree::is_power_of_two(N));
    if constexpr (N == 1) {
      return get(at);
    } else {
      const Acc left = first<N / 2>(at, n, get, join);
      if (n <= N / 2) return left;
      return join(left, first<N / 2>(at + N / 2, n - N / 2, get, join));
    }
  }
};

}  // namespace tilefold::detail::cuda
