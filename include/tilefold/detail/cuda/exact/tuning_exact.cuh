// SPDX-License-Identifier: Apache-2.0
//
// The measured numbers of exact sums (tuning.cuh says on which GPU).
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>

namespace tilefold::detail::cuda {

/// nt and vt of ranges that are not long: small chunks, so that all warps have some.
inline constexpr tile_policy exact_policy{256, 8};
inline constexpr int min_resident_exact_blocks = 4;
/// The shortest ranges, by one block or a cluster: a chunk a warp, or two.
inline constexpr tile_policy exact_short_policy{1024, 8};
inline constexpr int most_exact_short_chunks = 2;
/// Items that one block takes alone.
inline constexpr std::int64_t most_exact_items_of_block = 8192;
/// Long ranges of floats by digits: 128 bytes in flight. With three blocks an SM, it would spill.
inline constexpr tile_policy exact_long_policy{256, 32};
inline constexpr int min_resident_exact_long_blocks = 2;
/// Long ranges of halves: 128 bytes in flight, too.
inline constexpr tile_policy exact_policy_of_halves{256, 64};
inline constexpr int min_resident_half_blocks = 3;
static_assert(least_exact_tile == exact_policy.tile());
/// Bins of floats and of doubles, whose shared memory leaves room for so many warps.
inline constexpr tile_policy exact_bins_policy{128, 32};
inline constexpr int min_resident_bins_blocks = 5;
inline constexpr tile_policy exact_integer_bins_policy{128, 16};
inline constexpr int min_resident_integer_bins_blocks = 3;
/// bfloat16, and products of floats: with one block more, the next chunk spills.
inline constexpr tile_policy exact_windows_policy{128, 32};
inline constexpr int min_resident_windows_blocks = 5;
inline constexpr tile_policy exact_products_policy{128, 32};
inline constexpr int min_resident_products_blocks = 3;
/// Ranges of so many items are long, and are added by bins.
inline constexpr std::int64_t least_binned_items = std::int64_t{1} << 22;
/// Whether a GPU adds doubles at half the speed of floats, which bins of floats need.
constexpr bool adds_doubles_fast(int compute_capability) {
  return compute_capability == 80 || compute_capability == 90 || compute_capability == 100;
}
/// For tests: whether a build takes every GPU for one that adds doubles slowly.
template <class Build>
inline constexpr bool adds_doubles_slowly = false;
/// Items of a call at most: of more, sums of digits could leave their words.
inline constexpr std::int64_t most_exact_items = std::int64_t{1} << 38;
/// Items of a tree whose exact sum a warp makes in few words: of more, digits could leave these.
inline constexpr std::int64_t most_narrow_items = std::int64_t{1} << 15;

}  // namespace tilefold::detail::cuda
