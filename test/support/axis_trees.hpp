// SPDX-License-Identifier: Apache-2.0
//
// What the tests of axis reductions share on the host and on a GPU: the tree of each result, as
// nested loops gather its elements, and the views to reduce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "order.hpp"
#include "views.hpp"

namespace tilefold::test {

inline const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};

/// All results in row-major order of the kept axes; the items of the view are their own offsets.
inline std::vector<lifted_hash> trees_of(const view_layout& layout, unsigned reduced) {
  const std::size_t rank = layout.extents.size();
  std::vector<lifted_hash> trees;
  for_each_offset(layout, axes_in(reduced, false, rank), [&](std::int64_t kept) {
    running_fold<lifted_node_hash, lifted_hash> fold(lifted_node_hash{});
    bool any = false;
    for_each_offset(layout, axes_in(reduced, true, rank), [&](std::int64_t offset) {
      fold.push(lifted_hash(leaf_hash(kept + offset)));
      any = true;
    });
    trees.push_back(any ? lifted_node_hash{}(initial, fold.value()) : initial);
  });
  return trees;
}

/// Whether `out`, which lies as `out_layout` says, holds those trees.
inline ::testing::AssertionResult holds_trees(const std::vector<lifted_hash>& out,
                                              const view_layout& out_layout,
                                              const view_layout& layout, unsigned reduced) {
  const auto expected = trees_of(layout, reduced);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < out_layout.extents.size(); ++i) all.push_back(i);
  std::size_t k = 0;
  std::size_t wrong = 0;
  for_each_offset(out_layout, all, [&](std::int64_t offset) {
    if (!(out[static_cast<std::size_t>(offset)] == expected[k++])) ++wrong;
  });
  if (wrong == 0 && k == expected.size()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << wrong << " of " << k << " results of view " << layout.text() << "without " << reduced
         << " to " << out_layout.text() << "are wrong";
}

/// Calls visit(layout, axes to reduce) for every layout of these shapes of rank 4 and every set of
/// axes.
template <class Visit>
void for_every_axis_subset(const std::vector<std::vector<std::int64_t>>& shapes,
                           const Visit& visit) {
  for (const auto& extents : shapes) {
    for (const auto& layout : {right_layout(extents), left_layout(extents),
                               right_layout(extents, 1, 3), right_layout(extents, 1, 16),
                               right_layout(extents, 2), layout_in_order(extents, {1, 3, 0, 2})}) {
      for (unsigned reduced = 0; reduced < 16; ++reduced) visit(layout, reduced);
    }
  }
}

/// Calls visit(layout, axes to reduce, layout of the results) for views of nothing with results
/// that lie in a row, in another order, and with gaps.
template <class Visit>
void for_every_result_of_nothing(const Visit& visit) {
  for (const auto& layout : {right_layout({3, 0, 5, 2}), left_layout({3, 0, 5, 2}),
                             layout_in_order({3, 0, 5, 2}, {2, 0, 3, 1})}) {
    for (const unsigned reduced : {2u, 3u, 6u, 10u, 15u}) {
      const auto kept = result_extents(layout, reduced, false);
      for (const auto& out : {right_layout(kept), left_layout(kept), right_layout(kept, 2, 3)}) {
        visit(layout, reduced, out);
      }
    }
  }
}

/// Calls visit(layout, axes to reduce) for a view of every rank and some sets of axes.
template <class Visit>
void for_every_rank(const Visit& visit) {
  std::vector<std::int64_t> extents;
  for (std::size_t rank = 0; rank <= 8; ++rank) {
    for (const unsigned reduced : {0x00u, 0xffu, 0x55u, 0xaau, 0x0fu, 0xf0u, 0x81u}) {
      visit(right_layout(extents), reduced & ((1u << rank) - 1));
    }
    extents.push_back(rank % 3 == 0 ? 3 : 2);
  }
}

}  // namespace tilefold::test
