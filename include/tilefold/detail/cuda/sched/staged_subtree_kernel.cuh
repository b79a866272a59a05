// SPDX-License-Identifier: Apache-2.0
//
// Trees of 2^k items, one after the other, of what single folds stage (staged_rows.cuh). They are
// the nodes of level k of the neighbour tree over all of them (subtree_kernel.cuh):
//
//     group     | row 0 | row 1 | row 2 | row 3 |    of runs; warp w takes groups w, w + warps...
//     lane      a node of each row
//     level k   row_fold (row_merge.cuh) merges nodes up to level k, and one lane writes each
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/fold/row_merge.cuh>
#include <tilefold/detail/cuda/fold/staged_rows.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// One warp's work.
template <class Source, class Reducer, class Init, class Out>
class staged_subtree_work {
  using acc = typename Reducer::accumulator;

 public:
  using rows_type = staged_rows<Source, Reducer>;
  static constexpr staged_shape shape = staged_shape_of<Source, Reducer>;
  // Items of a tree at least and at most.
  static constexpr int least_length = shape.run;
  static constexpr int group_items = shape.rows * rows_type::items;

  const Source& source;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  const rows_type rows;
  std::int64_t n;  // items of all trees, a multiple of 2^level
  int level;

  /// Writes the nodes of groups `g`, `g` + step...
  __device__ __forceinline__ void run(std::int64_t g, std::int64_t step) const {
    const std::int64_t whole = (n - rows.overread_items()) / group_items;
    if (g < whole) {
      const among_equals<Reducer> equals{reducer};
      rows.template groups<shape.rows>(
          g * group_items, step * group_items, g, whole, step,
          [&](const registers<acc, shape.rows>& nodes, std::int64_t at) {
            row_fold<shape.rows, shape.run, true, among_equals<Reducer>>(equals, 0, 0)
                .nodes(nodes, level - tree::floor_log2(shape.run), [&](int node, const acc& value) {
                  keep(((at * group_items) >> level) + node, value);
                });
          });
    }
    // What is left is less than a group, but for what a whole row would overread.
    for (std::int64_t t = (whole * group_items >> level) + g; t < n >> level; t += step) {
      const acc value =
          cuda::fold_stretches_by_warp(source, reducer, t << level, std::int64_t{1} << level, n);
      if (threadIdx.x % warp_size == 0) keep(t, value);
    }
  }

 private:
  __device__ __forceinline__ void keep(std::int64_t t, const acc& value) const {
    cuda::write(out + t, detail::finish(reducer, init, value));
  }
};

/// Folds trees of 2^level items each, `n` in all.
template <class Build, class Source, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(staged_shape_of<Source, Reducer>.nt,
                                  staged_shape_of<Source, Reducer>.blocks)
    staged_subtree_kernel(Source source, Reducer reducer, Init init, Out out, std::int64_t n,
                          int level) {
  using work_type = staged_subtree_work<Source, Reducer, Init, Out>;
  constexpr int num_warps = work_type::shape.nt / warp_size;
  __shared__ typename work_type::rows_type::stage stages[num_warps][2];
  cuda::wait_for_previous_launch();
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const work_type work{source, reducer, init, out, {source, reducer, stages[warp]}, n, level};
  work.run(std::int64_t{blockIdx.x} * num_warps + warp, std::int64_t{gridDim.x} * num_warps);
}

}  // namespace tilefold::detail::cuda
