// SPDX-License-Identifier: Apache-2.0
//
// Trees of which more are for blocks than their queue on a GPU has places, with more slices than it
// has partials (forest_plan.cuh): a tree without a place is folded by one warp, one without
// partials by one block.
//
//     period     | two slices | one | one | one | one | one | for a warp |      seven trees
//     items      0 1 2 ...                                                      of three periods,
//                                                                               again and again
//
// So a serial oracle has 21 trees to fold, and no items need memory. Device code.
#pragma once

#include <cstdint>

#include <tilefold/config.hpp>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/tuning_forests.cuh>
#include <tilefold/detail/cuda/keys/tuning_keys.cuh>

namespace tilefold::test {

struct full_queue {
  static constexpr detail::cuda::launch_tuning tuning = detail::cuda::tuning_of(90);
  static constexpr std::int64_t two_slices = tuning.slice_items(tuning.many_trees) + 1;
  static constexpr std::int64_t one_slice = tuning.longest_for_warp(tuning.many_trees) + 1;
  // As a run of keys, this is open wherever in a patch it begins.
  static constexpr std::int64_t of_warp = detail::cuda::patch_items + detail::cuda::reach_items;

  static constexpr std::int64_t for_blocks = 6;  // of a period
  static constexpr std::int64_t trees = for_blocks + 1;
  static constexpr std::int64_t period = two_slices + (for_blocks - 1) * one_slice + of_warp;
  static constexpr std::int64_t periods = 12000;
  static constexpr std::int64_t different_trees = 3 * trees;
  static constexpr std::int64_t different_items = 3 * period;

  static constexpr std::int64_t begin_of(std::int64_t tree) {
    const std::int64_t t = tree % trees;
    return tree / trees * period + (t == 0 ? 0 : two_slices + (t - 1) * one_slice);
  }
};
static_assert(full_queue::two_slices > full_queue::one_slice);
static_assert(full_queue::one_slice > full_queue::of_warp);
static_assert(full_queue::for_blocks * full_queue::periods > detail::cuda::max_queued_trees);
static_assert(2 * detail::cuda::max_queued_trees / full_queue::for_blocks >
              detail::cuda::max_queued_partials);

/// The tree that item i belongs to.
struct tree_of_item {
  TILEFOLD_HD std::int64_t operator()(std::int64_t i) const {
    using q = full_queue;
    const std::int64_t j = i % q::period;
    return i / q::period * q::trees +
           (j < q::two_slices ? 0 : 1 + (j - q::two_slices) / q::one_slice);
  }
};

/// Item i: its number among three periods.
struct number_of_item {
  TILEFOLD_HD std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i % full_queue::different_items);
  }
};

}  // namespace tilefold::test
