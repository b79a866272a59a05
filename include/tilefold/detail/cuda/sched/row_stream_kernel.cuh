// SPDX-License-Identifier: Apache-2.0
//
// Trees of one length, each of whole chunks in aligned memory, by warps. For narrow items. The
// chunks of a warp's trees are one stream:
//
//     warp w      |      tree w       |   |   tree w + warps  |  ...
//     chunks      | c0 | c1 | c2 | c3 |   | c4 | c5 | c6 | c7 |     rows of 32 packets each
//     loading       c1   c2   c3   c4       c5   c6   c7   c8       into registers, while
//     folding       c0   c1   c2   c3       c4   c5   c6   c7       this one becomes one node
//     warp_stack    every node is pushed    cleared, then pushed    nodes wait for neighbours
//     result                    out[w]              out[w + warps]
//
// If memory is not aligned, a warp folds its trees one by one (tree_by_warp.cuh).
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/fold/chunk.cuh>
#include <tilefold/detail/cuda/fold/lane_plan.cuh>
#include <tilefold/detail/cuda/fold/row_merge.cuh>
#include <tilefold/detail/cuda/fold/stream.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>

namespace tilefold::detail::cuda {

/// One warp's work.
template <class Forest, class Reducer, class Init, class Out>
class row_stream_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Forest::source_type;
  static constexpr int vt = chunk_tiles * warp_policy<source_type>.vt;
  static constexpr tile_shape shape = shape_of<acc>(vt, static_cast<const source_type*>(nullptr));
  using loaded_rows = lane_rows<source_type, shape.rows, shape.width>;

 public:
  static constexpr int chunk_items = shape.rows * warp_size * shape.width;
  static constexpr bool pays =
      pays_to_load_chunks_ahead(sizeof(acc), shape.width) && !loads_stretches<source_type>;

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Out& out;

  __device__ __forceinline__ static bool overreads(const Forest& forest) {
    return loaded_rows::overreads(forest.source);
  }

  /// Trees `t`, `t` + step..., of `chunks` chunks each.
  __device__ __forceinline__ void run(std::int64_t t, std::int64_t step, int chunks) const {
    if (t >= forest.size()) return;
    const bool aligned = !loaded_rows::overreads(forest.source);
    __builtin_assume(aligned);
    const std::int64_t first =
        t * forest.length + static_cast<int>(threadIdx.x) % warp_size * shape.width;
    warp_stack<Reducer> stack(reducer);
    int left = chunks;  // of this tree
    cuda::stream_ahead<loaded_rows>(
        first,
        [&](std::int64_t& next) {
          next += chunk_items;
          if (--left > 0) return true;
          next += (step - 1) * forest.length;
          return t + step < forest.size();
        },
        [&](std::int64_t at) {
          loaded_rows rows;
          rows.load_rows(forest.source, at);
          return rows;
        },
        [&](const loaded_rows& rows, std::int64_t) {
          stack.push(cuda::fold_chunk(reducer, rows));
          if (left > 0) return;
          const acc value = stack.value();
          if (threadIdx.x % warp_size == 0) {
            cuda::write(out + t, detail::finish(reducer, init, value));
          }
          stack.clear();
          left = chunks;
          t += step;
        });
  }
};

template <class Build, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(row_stream_nt, min_resident_row_stream_blocks)
    row_stream_kernel(Forest forest, Reducer reducer, Init init, Out out) {
  using work_type = row_stream_work<Forest, Reducer, Init, Out>;
  cuda::wait_for_previous_launch();
  constexpr int warps_per_block = row_stream_nt / warp_size;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t first = std::int64_t{blockIdx.x} * warps_per_block + warp;
  const std::int64_t warps = std::int64_t{gridDim.x} * warps_per_block;
  if (!work_type::overreads(forest)) {
    work_type{forest, reducer, init, out}.run(
        first, warps, static_cast<int>(forest.length / work_type::chunk_items));
    return;
  }
  for (std::int64_t t = first; t < forest.size(); t += warps) {
    const auto value = cuda::fold_by_warp(forest.tree(t), reducer, forest.length);
    if (threadIdx.x % warp_size == 0) {
      cuda::write(out + t, detail::finish(reducer, init, value));
    }
  }
}

}  // namespace tilefold::detail::cuda
