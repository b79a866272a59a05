// SPDX-License-Identifier: Apache-2.0
//
// Whether sums of segments are right: a warp a segment adds up in double.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "../support/contestant.hpp"
#include "../support/structs.hpp"

namespace bench {

/// Where segment s begins: its offset, or s times the size without offsets.
struct segment_bounds {
  const std::int64_t* offsets;
  index size;

  __device__ index begin(index s) const { return offsets != nullptr ? offsets[s] : s * size; }
};

__device__ inline double sum_over_warp(double value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  return value;
}

/// The numbers of which an item is made, and what rounding may do to a sum of them.
template <class T>
struct parts_of {
  static constexpr int count = 1;
  static constexpr double rounding = 1e-5;
  __device__ static double part(const T& item, int) { return static_cast<float>(item); }
};
template <class T, int N>
struct parts_of<vec<T, N>> {
  static constexpr int count = N;
  static constexpr double rounding = sizeof(T) == 8 ? 1e-13 : 1e-5;
  __device__ static double part(const vec<T, N>& item, int k) { return item.part[k]; }
};

/// Whether part k of `got` is the sum of the items [begin, end) but for rounding. All lanes of a
/// warp ask together and get the same answer.
template <class T, class Sum>
__device__ bool is_sum(const T* items, index begin, index end, const Sum& got, int k) {
  double sum = 0;
  double magnitude = 0;
  for (index i = begin + static_cast<int>(threadIdx.x) % 32; i < end; i += 32) {
    const double item = parts_of<T>::part(items[i], k);
    sum += item;
    magnitude += fabs(item);
  }
  sum = bench::sum_over_warp(sum);
  magnitude = bench::sum_over_warp(magnitude);
  return fabs(parts_of<Sum>::part(got, k) - sum) <= parts_of<Sum>::rounding * magnitude;
}

/// Counts the segments whose value is not within what rounding may do to a sum of their items.
template <class T, class Sum>
__global__ void count_wrong_sums(const T* items, segment_bounds bounds, index segments,
                                 const Sum* got, unsigned long long* wrong) {
  const index step = index{gridDim.x} * blockDim.x / 32;
  for (index s = (index{blockIdx.x} * blockDim.x + threadIdx.x) / 32; s < segments; s += step) {
    bool right = true;
    for (int k = 0; k < parts_of<Sum>::count; ++k) {
      right &= is_sum(items, bounds.begin(s), bounds.begin(s + 1), got[s], k);
    }
    if (threadIdx.x % 32 == 0 && !right) atomicAdd(wrong, 1ull);
  }
}

/// Fills `bytes` bytes of results with NaN, has work() write them and count() count wrong ones in
/// *wrong (device memory); throws if there are any.
template <class Work, class Count>
void check_segments(void* results, index bytes, unsigned long long* wrong, cudaStream_t stream,
                    const Work& work, const Count& count) {
  check(cudaMemsetAsync(results, 0xff, static_cast<std::size_t>(bytes), stream), "cudaMemsetAsync");
  work();
  check(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream), "cudaMemsetAsync");
  count();
  check(cudaGetLastError(), "launch of the check");
  unsigned long long found = 0;
  check(cudaMemcpyAsync(&found, wrong, sizeof found, cudaMemcpyDefault, stream), "copy");
  check(cudaStreamSynchronize(stream), "the check of the results");
  if (found != 0) throw std::runtime_error(std::to_string(found) + " segments are wrong");
}

}  // namespace bench
