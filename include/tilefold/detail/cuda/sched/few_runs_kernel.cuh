// SPDX-License-Identifier: Apache-2.0
//
// Finds and folds the runs of a range of few patches in one launch, where two launches of little
// work each would take longer:
//
//     turn     a block takes the next two patches: those before it belong to blocks that run
//     find     a warp finds the heads of a span of 1024 items, a fifth warp those of the reach
//     tell     the fifth warp writes how many heads the block has, and where the last one is: a
//              word, which is its own flag
//     add up   each other warp reads the words of all blocks before, until they are there
//     fold     ... and folds the runs of its span (runs_kernel.cuh)
//     clear    the last block to have read makes all words zero again
//
// Blocks wait for others here. Those that they wait for have taken their turn earlier, so they run
// already, and wait for earlier ones only. Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/sched/heads_kernel.cuh>
#include <tilefold/detail/cuda/sched/runs_kernel.cuh>
#include <tilefold/detail/keyed_items.hpp>

namespace tilefold::detail::cuda {

inline constexpr int few_runs_warps = by_key_warps + 1;
inline constexpr int few_runs_nt = few_runs_warps * warp_size;
// One block's heads: they and the last one's end are small numbers.
inline constexpr int few_runs_items = few_runs_patches * patch_items;
static_assert(few_runs_patches == 2 && patch_spans == 2 && span_bits == warp_size);

/// What blocks tell each other, and whose turn it is. All zero between launches.
struct told_counts {
  unsigned* words;  // one for each block, then the two counters
  int blocks;

  // Above the number of heads and the end, which is at most few_runs_items, too.
  static constexpr unsigned is_there = 1u << 31;
  static constexpr int end_bits = 15;
  static_assert(few_runs_items < 1 << end_bits);

  __device__ __forceinline__ unsigned* turns() const { return words + blocks; }
  __device__ __forceinline__ unsigned* readers() const { return words + blocks + 1; }

  __device__ __forceinline__ void tell(int block, const basic_head_count<int>& found) const {
    const unsigned told =
        is_there | static_cast<unsigned>(found.runs) << end_bits | static_cast<unsigned>(found.end);
    // Nothing else goes with the word, so nothing has to be ordered.
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(words + block), "r"(told) : "memory");
  }

  /// Of all blocks before `block`, once all have told. All lanes of a warp; a lane has several
  /// words on their way.
  __device__ __forceinline__ head_count before(int block) const {
    constexpr int at_once = 8;
    basic_head_count<int> found{0, 0};
    for (int first = lane_of_thread(); __any_sync(full_warp, first < block);
         first += at_once * warp_size) {
      unsigned told[at_once];
      bool all_there = false;
      do {
        all_there = true;
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          const int i = first + k * warp_size;
          told[k] = is_there;
          if (i < block) {
            asm volatile("ld.relaxed.gpu.u32 %0, [%1];"
                         : "=r"(told[k])
                         : "l"(words + i)
                         : "memory");
          }
        }
#pragma unroll
        for (int k = 0; k < at_once; ++k) all_there = all_there && told[k] != 0;
      } while (!__all_sync(full_warp, all_there));
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const unsigned count = told[k] & ~is_there;
        const basic_head_count<int> of_block{static_cast<int>(count >> end_bits),
                                             static_cast<int>(count & ((1u << end_bits) - 1))};
        found = found.then(of_block.shifted((first + k * warp_size) * few_runs_items));
      }
    }
    return found.of_warp().shifted(std::int64_t{0});
  }

  /// By the lanes of one warp of a block, when all of it have read.
  __device__ __forceinline__ void leave() const {
    bool is_last = false;
    if (lane_of_thread() == 0) {
      is_last = cuda::count_in(readers(), 1u, static_cast<unsigned>(blocks));
    }
    if (!__any_sync(full_warp, is_last)) return;
    for (int i = lane_of_thread(); i <= blocks; i += warp_size) words[i] = 0;
  }
};

// The fifth warp waits for the others to have read; they do not wait for it.
__device__ __forceinline__ void have_read() {
  asm volatile("bar.arrive 1, %0;" ::"n"(few_runs_nt) : "memory");
}
__device__ __forceinline__ void wait_for_readers() {
  asm volatile("bar.sync 1, %0;" ::"n"(few_runs_nt) : "memory");
}

/// Finds and folds all runs but the open ones, which it lists. A block for two patches.
template <class Build, class Input, class Reducer, class Init, class KeysOut, class Out,
          class CountOut>
__global__ void __launch_bounds__(few_runs_nt, 4)
    few_runs_kernel(Input input, Reducer reducer, Init init, KeysOut keys_out, Out out,
                    CountOut num_runs_out, run_tables tables) {
  using work_type = patch_work<true, Input, Reducer, Init, KeysOut, Out>;
  __shared__ slot<typename work_type::warp_memory> memory[by_key_warps];
  __shared__ unsigned heads_of_span[few_runs_warps][warp_size];
  __shared__ unsigned turn;
  cuda::wait_for_previous_launch();
  const told_counts counts{tables.arrivals, static_cast<int>(gridDim.x)};
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = lane_of_thread();
  if (threadIdx.x == 0) {
    turn = atomicAdd(counts.turns(), 1u);
    if (turn == 0) *tables.num_open = 0;
  }
  __syncthreads();
  const int block = static_cast<int>(turn);
  const std::int64_t first_patch = std::int64_t{block} * few_runs_patches;
  heads_of_span[warp][lane] =
      static_cast<unsigned>(head_finder<Input>{input}.template of_parts<patch_parts / patch_spans>(
          tables.begin(first_patch) + warp * span_items));
  __syncthreads();

  // Of the block's patch `p`; of the patch after both there is the reach alone.
  const auto heads_of = [&](int p) {
    return heads_of_span[p * patch_spans][lane] |
           head_bits{heads_of_span[p * patch_spans + 1][lane]} << span_bits;
  };
  const auto count_patch = [&](int p) {
    return cuda::count_heads(heads_of(p)).shifted(p * patch_items);
  };

  if (warp == by_key_warps) {
    const auto found = count_patch(0).then(count_patch(1));
    if (lane == 0) {
      // That there are no open runs yet, before the word that all other blocks read.
      if (block == 0) __threadfence();
      counts.tell(block, found);
    }
    cuda::wait_for_readers();
    counts.leave();
    return;
  }

  head_count before = counts.before(block);
  cuda::have_read();
  const int p = warp / patch_spans;
  const std::int64_t patch = first_patch + p;
  if (p > 0) before = before.then(count_patch(0).shifted(first_patch * patch_items));
  const int bit = warp % patch_spans * span_bits;
  const head_bits all = heads_of(p);
  const head_bits before_span = all & ((head_bits{1} << bit) - 1);
  const head_bits mine = all & (~head_bits{0} >> (64 - span_bits) << bit);
  const patch_heads heads{mine, heads_of_span[(p + 1) * patch_spans][lane],
                          all & ~(before_span | mine)};
  const int earlier = cuda::count_heads(before_span).runs;
  const auto next_place = [&] {
    __threadfence();  // behind the word of the first block
    return tables.next_open();
  };
  if (block + 1 == counts.blocks && warp + 1 == by_key_warps) {
    const head_count found = before.then(cuda::count_heads(all).shifted(patch * patch_items));
    if (lane == 0) {
      cuda::write(num_runs_out, found.runs);
      tables.list_if_open(found, input.size, next_place);
    }
  }
  if (__all_sync(full_warp, mine == 0)) return;
  work_type work(input, reducer, init, keys_out, out, memory[warp].value, tables.begin(patch),
                 heads);
  work.fold_all(before.runs + earlier, cuda::count_heads(mine).runs);
  if (lane == 0 && earlier == 0) tables.list_if_open(before, work.first_head(), next_place);
}

}  // namespace tilefold::detail::cuda
