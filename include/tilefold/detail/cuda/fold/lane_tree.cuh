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

#include <type_traits>

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

  /// The node of N items from `at` on: all exist if `Full`, else those before `end`. get(i) may be
  /// called for every i. join's third argument: whether both operands are items.
  template <bool Full, int N, class Get, class Join>
  TILEFOLD_D static Acc cut(int at, int end, const Get& get, const Join& join) {
    static_assert(tree::is_power_of_two(N));
    if constexpr (N == 1) {
      return get(at);
    } else {
      slot<Acc> node;
      node.put(cut<Full, N / 2>(at, end, get, join));
      const Acc right = cut<Full, N / 2>(at + N / 2, end, get, join);
      if (Full || at + N / 2 < end) {
        node.put(join(node.value, right, std::bool_constant < N == 2 > {}));
      }
      return node.value;
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

  /// The node of N items from `at` on, of which items before `end` exist; get() is called for these
  /// alone. No lane has items from `most` on. join(left, right, first item of the right half).
  template <int N, class Get, class Join>
  TILEFOLD_D static Acc within(int at, int end, int most, const Get& get, const Join& join) {
    static_assert(tree::is_power_of_two(N));
    slot<Acc> value;
    if constexpr (N == 1) {
      if (at < end) value.put(get(at));
    } else {
      value.put(within<N / 2>(at, end, most, get, join));
      const int right = at + N / 2;
      if (N <= 4 || right < most) {
        value.put(join(value.value, within<N / 2>(right, end, most, get, join), right));
      }
    }
    return value.value;
  }
};

}  // namespace tilefold::detail::cuda
