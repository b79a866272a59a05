// SPDX-License-Identifier: Apache-2.0
//
// Where runs of equal neighbouring keys begin: a bit an item, found in one pass over the keys.
//
//     keys       a a b c c c d ...      heads   1 0 1 1 0 0 1 ...
//     patch      | quarter 0 | quarter 1 | quarter 2 | quarter 3 |      2048 items, by one warp
//     load       a quarter is 4 stripes of 128 keys; lane l loads keys 4 l to 4 l + 3 of each
//     keep       a word of 64 bits a lane: bit 16 p + i of lane l is item 16 l + i of quarter p
//     count      of a patch: its runs, and where the last one begins
//     group      the block that completes a group of patches scans their counts
//     launch     the block that completes the last group scans the counts of groups, and writes the
//                number of runs
#pragma once

#include <tilefold/detail/core/keyed_items.hpp>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/keys/tuning_keys.cuh>

namespace tilefold::detail::cuda {

/// condition ? word : word | bit. In assembly, because ptxas keeps conditions that are shifted into
/// a word as predicates, of which there are seven: with sixteen comparisons of keys of 2 or 8 bytes
/// it gave up for sm_90 (C7600, CUDA 13.0).
TILEFOLD_D unsigned with_bit_unless(bool condition, unsigned bit, unsigned word) {
  asm("{\n\t.reg .pred skip;\n\tsetp.ne.u32 skip, %1, 0;\n\t@!skip or.b32 %0, %0, %2;\n\t}"
      : "+r"(word)
      : "r"(static_cast<unsigned>(condition)), "r"(bit));
  return word;
}

// Keys are read in stripes of a quad a lane; of each quarter of a patch a lane keeps 16 bits.
inline constexpr int quad_items = 4;
inline constexpr int key_stripe_items = quad_items * warp_size;
inline constexpr int quarter_stripes = 4;
inline constexpr int quarter_bits = quad_items * quarter_stripes;
inline constexpr int quarter_items = quarter_bits * warp_size;
inline constexpr int patch_quarters = patch_items / quarter_items;

/// The heads among the items of a patch that are one lane's: bit 16 p + i tells of item i of its 16
/// neighbouring items in quarter p whether a run begins there.
using head_bits = unsigned long long;
static_assert(patch_quarters * quarter_bits == 64);

/// The item of the patch that bit `bit` of this lane's heads tells of.
TILEFOLD_D int item_of_bit(int bit) {
  return bit / quarter_bits * quarter_items + lane_of_thread() * quarter_bits + bit % quarter_bits;
}

/// The number of heads in a range of items, and where the last one is.
template <class Integer>
struct basic_head_count {
  Integer runs;
  Integer end;  // index of the last head in the range + 1, 0 if there is none

  /// The count of this range and a later one; both count items from the same place.
  TILEFOLD_D basic_head_count then(const basic_head_count& later) const {
    return {runs + later.runs, detail::larger(end, later.end)};
  }
  template <class Other>
  TILEFOLD_D basic_head_count<Other> shifted(Other items) const {
    return {static_cast<Other>(runs), end == 0 ? Other{0} : items + static_cast<Other>(end)};
  }
  /// The count of all lanes' ranges, in every lane.
  TILEFOLD_D basic_head_count of_warp() const {
    basic_head_count all = *this;
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      all = all.then(
          {__shfl_xor_sync(full_warp, all.runs, mask), __shfl_xor_sync(full_warp, all.end, mask)});
    }
    return all;
  }
};
using head_count = basic_head_count<std::int64_t>;
/// A count within a group of patches, from the group's first item on.
using short_head_count = basic_head_count<unsigned>;

/// The count of a patch of which this lane has `heads`, in every lane.
TILEFOLD_D basic_head_count<int> count_heads(head_bits heads) {
  const int end = heads == 0 ? 0 : item_of_bit(63 - __clzll(static_cast<long long>(heads))) + 1;
  return basic_head_count<int>{__popcll(heads), end}.of_warp();
}

/// The tables through which blocks and launches exchange counts. A group has 2^group_bits patches.
struct run_tables {
  head_bits* heads;            // of each patch, a word a lane
  short_head_count* in_group;  // of each patch: its count, then the count before it in its group
  head_count* of_groups;       // of each group: the count before it
  unsigned* arrivals;          // of each group, and one for all groups; zero between launches
  // The items of each open run, and which of the runs it is.
  std::int64_t* begins;
  std::int64_t* ends;
  std::int64_t* ranks;
  std::int64_t* num_open;
  std::int64_t num_patches;
  std::int64_t origin;  // item that the first patch begins with, <= 0, so that quads lie aligned
  int group_bits;

  TILEFOLD_D std::int64_t begin(std::int64_t patch) const { return origin + patch * patch_items; }
  TILEFOLD_D head_count before(std::int64_t patch) const {
    const std::int64_t group = patch >> group_bits;
    return of_groups[group].then(in_group[patch].shifted((group << group_bits) * patch_items));
  }

  /// Lists the last of the runs that `found` counts, if it is open. That run ends before item
  /// `end`, where the next run begins or the range ends. `next_place()` gives its place.
  template <class NextPlace>
  TILEFOLD_D bool list_if_open(const head_count& found, std::int64_t end,
                               const NextPlace& next_place) const {
    if (found.runs == 0) return false;
    const std::int64_t last = found.end - 1;
    if (end < begin(last / patch_items + 1) + reach_items) return false;
    const std::int64_t i = next_place();
    begins[i] = origin + last;
    ends[i] = end;
    ranks[i] = found.runs - 1;
    return true;
  }
};

/// An exclusive scan of n counts by a whole block: calls put(i, sum of get(0) to get(i - 1)) for
/// each i, and returns the sum of all in every thread. A thread takes neighbouring counts.
template <class Get, class Put>
TILEFOLD_D head_count scan_counts(std::int64_t n, const Get& get, const Put& put) {
  __shared__ head_count up_to_warp[by_key_warps];
  const std::int64_t each = ceil_div(n, by_key_nt);
  const std::int64_t first = detail::smaller(threadIdx.x * each, n);
  const std::int64_t last = detail::smaller(first + each, n);
  head_count mine{0, 0};
#pragma unroll 4
  for (std::int64_t i = first; i < last; ++i) mine = mine.then(get(i));
  head_count up_to = mine;
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const head_count left{__shfl_up_sync(full_warp, up_to.runs, distance),
                          __shfl_up_sync(full_warp, up_to.end, distance)};
    if (lane_of_thread() >= distance) up_to = left.then(up_to);
  }
  const int warp = warp_of_thread();
  if (lane_of_thread() == warp_size - 1) up_to_warp[warp] = up_to;
  __syncthreads();
  head_count before{0, 0};
  head_count all{0, 0};
  for (int w = 0; w < by_key_warps; ++w) {
    if (w < warp) before = before.then(up_to_warp[w]);
    all = all.then(up_to_warp[w]);
  }
  const head_count left{__shfl_up_sync(full_warp, up_to.runs, 1),
                        __shfl_up_sync(full_warp, up_to.end, 1)};
  if (lane_of_thread() > 0) before = before.then(left);
  for (std::int64_t i = first; i < last; ++i) {
    const head_count count = get(i);
    put(i, before);
    before = before.then(count);
  }
  __syncthreads();  // up_to_warp is free again
  return all;
}

/// Four neighbouring keys that one lane loads at once, if `Keys` is a pointer to such as fit.
template <class Keys>
inline constexpr bool loads_key_quads = false;
template <class Key>
inline constexpr bool loads_key_quads<Key*> =
    std::is_trivially_copyable_v<Key> && sizeof(Key) <= 8 && alignof(Key) == sizeof(Key);
template <class Key>
struct key_quad {
  Key key[quad_items];
};
template <class Key>
using key_packet = packet<static_cast<int>(sizeof(key_quad<Key>))>;

/// Finds heads. All lanes of a warp.
template <class Keys>
struct head_finder {
  using key_type = typename Keys::key_type;

  const Keys& input;

  /// This lane's heads of the patch that begins with item `begin`, which may be negative.
  TILEFOLD_D head_bits of_patch(std::int64_t begin) const {
    head_bits heads = 0;
    if (begin > 0 && begin + patch_items <= input.size) {
#pragma unroll
      for (int p = 0; p < patch_quarters; ++p) {
        heads |= head_bits{unstriped(inside(begin + p * quarter_items))} << (p * quarter_bits);
      }
    } else {
#pragma unroll 1
      for (int p = 0; p < patch_quarters; ++p) {
        heads |= head_bits{unstriped(at_an_edge(begin + p * quarter_items))} << (p * quarter_bits);
      }
    }
    return heads;
  }

 private:
  // From bits as keys are loaded to bits as heads are kept. Before, bit 4 q + i of lane l is item i
  // of its quad in stripe q. After, lane l has 16 neighbours: the quads of lanes 4 (l % 8) + k, k =
  // 0 to 3, in stripe l / 8, which become bits 4 k to 4 k + 3.
  TILEFOLD_D static unsigned unstriped(unsigned heads) {
    constexpr int lanes = warp_size / quarter_stripes;  // that have a stripe's items in the end
    const int lane = lane_of_thread();
    unsigned result = 0;
#pragma unroll
    for (int k = 0; k < quarter_stripes; ++k) {
      const unsigned quads = __shfl_sync(full_warp, heads, lane % lanes * quarter_stripes + k);
      result |= (quads >> (lane / lanes * quad_items) & 15) << (k * quad_items);
    }
    return result;
  }

  // The heads of the quarter that begins with item `first`, all of which exist.
  TILEFOLD_D unsigned inside(std::int64_t first) const {
    if constexpr (loads_key_quads<std::remove_const_t<decltype(Keys::keys)>>) {
      return of_quads(first);
    } else {
      unsigned heads = 0;
#pragma unroll 1
      for (int q = 0; q < quarter_stripes; ++q) {
#pragma unroll
        for (int i = 0; i < quad_items; ++i) {
          const bool is_head =
              input.begins_run(first + q * key_stripe_items + lane_of_thread() * quad_items + i);
          heads |= static_cast<unsigned>(is_head) << (q * quad_items + i);
        }
      }
      return heads;
    }
  }

  // The heads of a quarter of which some items do not exist. In their place an existing item is
  // compared, and the answer dropped: no load is under a condition, and none waits for another.
  TILEFOLD_D unsigned at_an_edge(std::int64_t first) const {
    unsigned heads = 0;
    const std::int64_t last = input.size - 1;
#pragma unroll 1
    for (int q = 0; q < quarter_stripes && first <= last; ++q) {
#pragma unroll
      for (int i = 0; i < quad_items; ++i) {
        const std::int64_t j = first + q * key_stripe_items + lane_of_thread() * quad_items + i;
        const bool begins = last > 0 && input.begins_run(detail::bounded(j, std::int64_t{1}, last));
        const bool is_head = j == 0 || (j > 0 && j <= last && begins);
        heads |= static_cast<unsigned>(is_head) << (q * quad_items + i);
      }
    }
    return heads;
  }

  // The key before a quad is the last key of the lane below; before lane 0's quad, the last key of
  // the stripe before, which the last lane sends to lane 0 in place of its own.
  TILEFOLD_D unsigned of_quads(std::int64_t first) const {
    using quad = key_quad<key_type>;
    const int lane = lane_of_thread();
    const auto* const stripes =
        reinterpret_cast<const key_packet<key_type>*>(input.keys + first) + lane;
    key_packet<key_type> loaded[quarter_stripes];
#pragma unroll
    for (int q = 0; q < quarter_stripes; ++q) loaded[q] = stripes[q * warp_size];
    const bool is_last = lane == warp_size - 1;
    slot<key_type> before_quarter;
    if (is_last) before_quarter.put(input.key(first - 1));
    unsigned heads = 0;
#pragma unroll
    for (int q = 0; q < quarter_stripes; ++q) {
      const quad keys = __builtin_bit_cast(quad, loaded[q]);
      const quad stripe_before = __builtin_bit_cast(quad, loaded[q == 0 ? 0 : q - 1]);
      const key_type& before_stripe =
          q == 0 ? before_quarter.value : stripe_before.key[quad_items - 1];
      const key_type before =
          shuffle_from(cuda::select(is_last, before_stripe, keys.key[quad_items - 1]),
                       (lane + warp_size - 1) % warp_size);
#pragma unroll
      for (int i = 0; i < quad_items; ++i) {
        const key_type& left = i == 0 ? before : keys.key[i == 0 ? 0 : i - 1];
        const bool is_same = static_cast<bool>(input.equal(left, keys.key[i]));
        heads = cuda::with_bit_unless(is_same, 1u << (q * quad_items + i), heads);
      }
    }
    return heads;
  }
};

/// Finds and counts all heads; a warp takes `rounds` patches. The block that completes a group of
/// patches scans its counts, and the block that completes the last group scans those of groups.
template <class Build, class Keys, class CountOut>
__global__ void __launch_bounds__(by_key_nt)
    heads_kernel(Keys keys, CountOut num_runs_out, run_tables tables, int rounds) {
  __shared__ bool completed;
  cuda::wait_for_previous_launch();
  const int patches_of_block = rounds * by_key_warps;
  const std::int64_t first_patch = std::int64_t{blockIdx.x} * patches_of_block;
  const std::int64_t left = tables.num_patches - first_patch;
#pragma unroll 1
  for (int p = warp_of_thread(); p < patches_of_block && p < left; p += by_key_warps) {
    const std::int64_t patch = first_patch + p;
    const head_bits heads = head_finder<Keys>{keys}.of_patch(tables.begin(patch));
    tables.heads[patch * warp_size + lane_of_thread()] = heads;
    const auto found = count_heads(heads);
    if (lane_of_thread() == 0) tables.in_group[patch] = found.shifted(0u);
  }
  __syncthreads();
  const std::int64_t group = first_patch >> tables.group_bits;
  const std::int64_t first = group << tables.group_bits;
  const std::int64_t size =
      detail::smaller(std::int64_t{1} << tables.group_bits, tables.num_patches - first);
  const auto arrived = static_cast<unsigned>(detail::smaller(std::int64_t{patches_of_block}, left));
  if (!cuda::arrive(tables.arrivals + group, arrived, static_cast<unsigned>(size), completed)) {
    return;
  }
  short_head_count* const in_group = tables.in_group + first;
  const head_count of_group = cuda::scan_counts(
      size, [&](std::int64_t i) { return in_group[i].shifted(i * patch_items); },
      [&](std::int64_t i, const head_count& before) {
        in_group[i] = {static_cast<unsigned>(before.runs), static_cast<unsigned>(before.end)};
      });
  if (threadIdx.x == 0) tables.of_groups[group] = of_group.shifted(first * patch_items);
  __syncthreads();
  const std::int64_t groups = ceil_div(tables.num_patches, std::int64_t{1} << tables.group_bits);
  head_count all = of_group;
  if (groups == 1) {
    if (threadIdx.x == 0) tables.of_groups[0] = {0, 0};
  } else {
    if (!cuda::arrive(tables.arrivals + groups, 1u, static_cast<unsigned>(groups), completed)) {
      return;
    }
    all = cuda::scan_counts(
        groups, [&](std::int64_t i) { return tables.of_groups[i]; },
        [&](std::int64_t i, const head_count& before) { tables.of_groups[i] = before; });
  }
  if (threadIdx.x != 0) return;
  cuda::write(num_runs_out, all.runs);
  const bool open = tables.list_if_open(all, keys.size, [] { return 0; });
  *tables.num_open = open ? 1 : 0;
}

}  // namespace tilefold::detail::cuda
