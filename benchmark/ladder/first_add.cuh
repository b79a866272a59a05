// SPDX-License-Identifier: Apache-2.0
//
// Rung 4: first add during load. Half the threads of rung 3 did nothing but load; here each loads
// two items and combines them on the way, so half as many blocks do the same work and twice as many
// bytes are under way per thread.
#pragma once

#include "rung.cuh"

namespace ladder {

/// The item, and the one `apart` items later, as far as there are any.
template <class T, class Op>
__device__ T load_two(const T* items, index i, index apart, index n, Op op) {
  const T first = i < n ? items[i] : op.identity();
  return i + apart < n ? op(first, items[i + apart]) : first;
}

template <class T, class Op>
__global__ void first_add_kernel(const T* items, index n, T* values, Op op) {
  T* const shared = shared_memory<T>();
  const unsigned t = threadIdx.x;
  const index i = index{blockIdx.x} * (2 * blockDim.x) + t;
  shared[t] = load_two(items, i, blockDim.x, n, op);
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) shared[t] = op(shared[t], shared[t + stride]);
    __syncthreads();
  }
  if (t == 0) values[blockIdx.x] = shared[0];
}

/// *out = the fold of n >= 1 items.
template <class T, class Op>
void first_add(const T* items, index n, T* out, Op op, const setting& s, int threads = 256) {
  require_items(n);
  require_threads(threads, 1);
  const std::size_t bytes = shared_bytes<T>(threads);
  repeat_passes(items, n, out, 2 * threads, s,
                [&](const T* from, index count, T* values, unsigned blocks) {
                  first_add_kernel<<<blocks, threads, bytes, s.stream>>>(from, count, values, op);
                });
}

}  // namespace ladder
