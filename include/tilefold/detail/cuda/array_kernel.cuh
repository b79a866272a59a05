// SPDX-License-Identifier: Apache-2.0
//
// The first launch over a forest whose trees lie in no common range: what forest_kernel.cuh does
// for trees in a row, with arrays that a warp gathers in its stage one after the other. Long arrays
// go to the same queue for the same second launch.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/array_stage.cuh>
#include <tilefold/detail/cuda/forest_kernel.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// One warp's work: stretch by stretch, neighbouring arrays whose items fit the stage together.
template <class Forest, class Reducer, class Init, class Out>
class array_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Forest::source_type;
  using stage_type = array_stage<source_type>;
  using fold_type = staged_fold<stage_type, source_type, Reducer>;

 public:
  struct warp_memory {
    stage_type stage[2];
    unsigned short end[2][stretch_trees];  // where arrays end in the stage
  };

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const acc& empty;
  const Out& out;
  const forest_plan& plan;
  const long_queue<acc>& queue;
  warp_memory& memory;

  /// Arrays [begin, end).
  __device__ __forceinline__ void run(std::int64_t begin, std::int64_t end) const {
    int turn = 0;
    stretch now = fetch(begin, end, turn);
    while (begin < end) {
      if (now.arrays == 0) {
        fold_alone(begin++);
        now = fetch(begin, end, turn);
        continue;
      }
      const stretch next = fetch(begin + now.arrays, end, turn ^ 1);
      cuda::finish_stage<1>();
      fold_stretch(begin, now, turn);
      begin += now.arrays;
      now = next;
      turn ^= 1;
    }
  }

 private:
  struct stretch {
    int arrays;
    int longest;
    int items;
  };

  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }

  // Finds the stretch from array `begin` on and has its items fetched.
  __device__ __forceinline__ stretch fetch(std::int64_t begin, std::int64_t end, int turn) const {
    __syncwarp();  // everyone has read what was here
    const stretch found = find_stretch(begin, end, turn);
    __syncwarp();
    const int arrays = detail::larger(found.arrays, 1);
    const int mean = (found.items + arrays - 1) / arrays;
    fill(begin, found, turn, detail::smaller(cuda::ceil_log2(mean), 5));
    cuda::commit_stage();
    return found;
  }

  // As many arrays from `begin` on as fit the stage. None if the first is too long.
  __device__ __forceinline__ stretch find_stretch(std::int64_t begin, std::int64_t end,
                                                  int turn) const {
    stretch found{0, 0, 0};
    for (int q = 0; q < stretch_trees; q += warp_size) {
      const std::int64_t t = begin + q + lane();
      const int items = t < end ? items_in_stage(forest.count(t)) : too_many;
      const int last = found.items + sum_up_to(items);
      const unsigned misfits = ~__ballot_sync(full_warp, last <= stage_type::capacity);
      const int good = misfits == 0 ? warp_size : __ffs(static_cast<int>(misfits)) - 1;
      if (lane() < good) {
        memory.end[turn][q + lane()] = static_cast<unsigned short>(last);
        found.longest = detail::larger(found.longest, items);
      }
      found.arrays += good;
      if (good > 0) found.items = __shfl_sync(full_warp, last, good - 1);
      if (good < warp_size) break;
    }
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      found.longest =
          detail::larger(found.longest, __shfl_xor_sync(full_warp, found.longest, mask));
    }
    return found;
  }

  static constexpr int too_many = stage_type::capacity + 1;

  __device__ __forceinline__ static int items_in_stage(std::int64_t count) {
    return static_cast<int>(detail::bounded(count, std::int64_t{0}, std::int64_t{too_many}));
  }

  // The sum of `x` over this lane and those before it.
  __device__ __forceinline__ static int sum_up_to(int x) {
#pragma unroll
    for (int distance = 1; distance < warp_size; distance *= 2) {
      const int before = __shfl_up_sync(full_warp, x, distance);
      if (lane() >= distance) x += before;
    }
    return x;
  }

  // Each array by 2^bits lanes.
  __device__ __forceinline__ void fill(std::int64_t begin, const stretch& s, int turn,
                                       int bits) const {
    const int lanes = 1 << bits;
    for (int t = lane() >> bits; t < s.arrays; t += warp_size >> bits) {
      const int first = start_of(t, turn);
      const int count = start_of(t + 1, turn) - first;
      if (count == 0) continue;
      memory.stage[turn].fill(forest.tree(begin + t), first, count, lane() & (lanes - 1), lanes);
    }
  }

  // First item of array t of a stretch.
  __device__ __forceinline__ int start_of(int t, int turn) const {
    return t == 0 ? 0 : memory.end[turn][t - 1];
  }

  __device__ __forceinline__ void fold_stretch(std::int64_t begin, const stretch& s,
                                               int turn) const {
    const source_type source = forest.tree(begin);
    const fold_type fold{memory.stage[turn], source, reducer, 0};
    // About a packet for each lane.
    const int bits = detail::smaller(cuda::ceil_log2((s.longest + 7) / 8), 5);
    const int lane_of_array = lane() & ((1 << bits) - 1);
    const int arrays_per_round = warp_size >> bits;
    for (int round = 0; round < s.arrays; round += arrays_per_round) {
      const int t = round + (lane() >> bits);
      const bool exists = t < s.arrays;
      const int first = exists ? start_of(t, turn) : 0;
      const int count = exists ? start_of(t + 1, turn) - first : 0;
      const acc value = fold(first, count, lane_of_array, bits);
      if (exists && lane_of_array == 0) keep(begin + t, count, value);
    }
  }

  // Longer than the stage.
  __device__ __forceinline__ void fold_alone(std::int64_t t) const {
    const std::int64_t count = forest.count(t);
    if (count > plan.warp_items) {
      bool queued = false;
      if (lane() == 0) queued = cuda::enqueue(queue, plan, t, count);
      if (__any_sync(full_warp, queued)) return;
    }
    const acc value = fold_long(forest.tree(t), count);
    if (lane() == 0) keep(t, count, value);
  }

  // A stage's worth at a time, the next on its way while one is folded; the result is in every
  // lane.
  __device__ acc fold_long(const source_type& tree, std::int64_t count) const {
    warp_stack<Reducer> stack(reducer);
    int turn = 0;
    fetch_chunk(tree, count, 0, turn);
    for (std::int64_t done = 0; done < count; done += chunk) {
      fetch_chunk(tree, count, done + chunk, turn ^ 1);
      cuda::finish_stage<1>();
      stack.push(fold_type{memory.stage[turn], tree, reducer, done}(0, chunk_items(count, done),
                                                                    lane(), 5));
      turn ^= 1;
    }
    cuda::finish_stage<0>();
    return stack.value();
  }

  static constexpr int chunk = 1 << tree::floor_log2(stage_type::capacity);

  __device__ __forceinline__ static int chunk_items(std::int64_t count, std::int64_t done) {
    return static_cast<int>(detail::smaller(count - done, std::int64_t{chunk}));
  }

  __device__ __forceinline__ void fetch_chunk(const source_type& tree, std::int64_t count,
                                              std::int64_t done, int turn) const {
    __syncwarp();  // everyone has read what was here
    if (done < count) {
      memory.stage[turn].fill(detail::starting_at(tree, done), 0, chunk_items(count, done), lane(),
                              warp_size);
    }
    cuda::commit_stage();
  }

  __device__ __forceinline__ void keep(std::int64_t i, std::int64_t count, const acc& value) const {
    if (count > 0) {
      cuda::write(out + i, detail::finish(reducer, init, value));
    } else {
      cuda::write(out + i, reducer.project(empty));
    }
  }
};

template <class Build, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(forest_nt, sizeof(typename Reducer::accumulator) > 8 ? 4 : 5)
    array_kernel(Forest forest, Reducer reducer, Init init, typename Reducer::accumulator empty,
                 Out out, forest_plan plan, long_queue<typename Reducer::accumulator> queue) {
  using work_type = array_work<Forest, Reducer, Init, Out>;
  constexpr int warps_per_block = forest_nt / warp_size;
  __shared__ slot<typename work_type::warp_memory> memory[warps_per_block];
  const work_type work{
      forest, reducer, init,  empty,
      out,    plan,    queue, memory[static_cast<int>(threadIdx.x) / warp_size].value};
  const std::int64_t size = forest.size();
  const std::int64_t warps = std::int64_t{gridDim.x} * warps_per_block;
  const std::int64_t batch = cuda::batch_size(size, warps);
  const std::int64_t warp =
      std::int64_t{blockIdx.x} * warps_per_block + static_cast<int>(threadIdx.x) / warp_size;
  for (std::int64_t begin = warp * batch; begin < size; begin += warps * batch) {
    work.run(begin, detail::smaller(begin + batch, size));
  }
}

}  // namespace tilefold::detail::cuda
