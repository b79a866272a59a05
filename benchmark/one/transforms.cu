// SPDX-License-Identifier: Apache-2.0
//
// Functions of the items: one multiplication, and about 30 flops beside a kernel written by hand
// for just that.
#include "../support/functions.hpp"
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

constexpr int nt = 256;
constexpr int blocks = 132 * 8;

/// What a user would write: a grid stride over vectors of four, warp shuffles, an atomic a block.
__global__ void __launch_bounds__(nt) sum_of_polynomials(const float4* items, index n, float* out) {
  const polynomial f;
  const index step = index{gridDim.x} * nt;
  float sum = 0;
#pragma unroll 4
  for (index i = index{blockIdx.x} * nt + threadIdx.x; i < n; i += step) {
    const float4 four = items[i];
    sum += (f(four.x) + f(four.y)) + (f(four.z) + f(four.w));
  }
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  __shared__ float of_warp[nt / 32];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < nt / 32; ++warp) sum += of_warp[warp];
  atomicAdd(out, sum);
}

contestant by_hand() {
  contestant result;
  result.name = "by-hand";
  result.in_a_row = blocks;  // their atomics
  result.enqueue = [](const fold_call& c) {
    check(cudaMemsetAsync(c.out, 0, sizeof(float), c.stream), "cudaMemsetAsync");
    sum_of_polynomials<<<blocks, nt, 0, c.stream>>>(c.items<float4>(), c.n / 4, c.result<float>());
    check(cudaGetLastError(), "launch of the kernel by hand");
  };
  return result;
}

template <class F>
contestant sum_of_f(cudaStream_t stream) {
  return ours(stream, [](auto& executor, const fold_call& c) {
    const float* first = c.items<float>();
    tilefold::transform_reduce_into(executor, first, first + c.n, c.result<float>(), 0.0f,
                                    tilefold::plus{}, F{});
  });
}

}  // namespace

void add_transforms(shapes& all, cudaStream_t stream) {
  all.push_back(large_shape<sum_of<computed<square>, float>, mixed<float>, float>(
      "float_transform", sum_of_f<square>(stream)));
  all.push_back(large_shape<sum_of<computed<polynomial>, float>, mixed<float>, float>(
      "float_polynomial", sum_of_f<polynomial>(stream)));
  all.back().contestants.push_back(by_hand());
}

}  // namespace bench
