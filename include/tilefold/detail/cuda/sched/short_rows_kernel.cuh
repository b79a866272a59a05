// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length, each as a short range of its own (short_kernel.cuh):
//
//     grid       y: blocks of a row                 x: rows
//     row 0    | b0 | b1 | .. | b7 | -> out[0]      one block, or a cluster of 8 that hand their
//     row 1    | b0 | b1 | .. | b7 | -> out[1]      values to the first
//      ..
//
// All of a row is on its way at once, and the GPU gives the next row to whatever SM is free. The
// kernels of forests hold a GPU and take trees in a fixed order, so the last ones are waited for.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/sched/short_kernel.cuh>

namespace tilefold::detail::cuda {

/// Every row has an item, and no more than the blocks' tiles.
template <class Build, int Nt, int Vt, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt)
    short_rows_kernel(Forest forest, Reducer reducer, Init init, Out out) {
  const std::int64_t row = blockIdx.x;
  cuda::fold_short<tile_policy{Nt, Vt}, true>(
      [&] { return forest.tree(row); }, reducer, init, [&] { return out + row; },
      static_cast<int>(forest.length), {}, blockIdx.y, gridDim.y);
}

}  // namespace tilefold::detail::cuda
