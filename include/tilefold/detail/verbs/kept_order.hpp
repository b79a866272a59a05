// SPDX-License-Identifier: Apache-2.0
//
// What is said to an operator with an order of its own where there is only the neighbour tree.
#pragma once

#include <tilefold/detail/verbs/verb.hpp>

namespace tilefold::detail {

// Whether an operator, or the operator inside an if_empty(), has an order of its own.
template <class Op>
inline constexpr bool has_order = is_sequential<Op>;
template <class Op, class Value>
inline constexpr bool has_order<with_empty_value<Op, Value>> = is_sequential<Op>;

/// Whether none of these has an order of its own; says so in one sentence if one has.
template <class... Functions>
constexpr bool keeps_tree_order() {
  constexpr bool keeps = !(has_order<Functions> || ...);
  static_assert(keeps,
                "tilefold: sequential_blocks is for reduce, transform_reduce, segmented_reduce, "
                "batched_reduce, axis_reduce and reduce_by_index, on the host or on one GPU: a "
                "join from left to right needs everything before it, which pieces, ranks and items "
                "that come in parts do not have");
  return keeps;
}

}  // namespace tilefold::detail
