// SPDX-License-Identifier: Apache-2.0
//
// Folds inside a kernel, measured: each thread loads its items once, and then its warp or block
// folds them over and over, so that the time is that of the fold. Includes no tilefold, as peers
// compile it against another CCCL.
#pragma once

#include "contestant.hpp"

namespace bench {

inline constexpr int rounds_of_folds = 128;

// The compiler shall not know that the next round folds the same.
__device__ inline void forget(float& x) { asm volatile("" : "+f"(x)); }
__device__ inline void forget(double& x) { asm volatile("" : "+d"(x)); }
__device__ inline void forget(int& x) { asm volatile("" : "+r"(x)); }

/// A Folder says how one round goes:
///
///     item, nt, per_thread                 blocks of nt threads, each with that many items in a
///     row storage                              its shared memory round(storage, items) a sum;
///     summed over the threads with holds(thread), the sum
///                                          of all items of the block
///     sync()                               between two rounds
///
/// *out, zero before, becomes the sum of n items; something else if two rounds differ.
template <class Folder>
__global__ void __launch_bounds__(Folder::nt)
    fold_rounds(const typename Folder::item* items, index n, typename Folder::item* out) {
  using item = typename Folder::item;
  __shared__ typename Folder::storage storage;
  const int thread = static_cast<int>(threadIdx.x);
  const index first = (index{blockIdx.x} * Folder::nt + thread) * Folder::per_thread;
  item mine[Folder::per_thread];
  for (int i = 0; i < Folder::per_thread; ++i) mine[i] = first + i < n ? items[first + i] : item{};
  const item value = Folder::round(storage, mine);
  bool same = true;
#pragma unroll 1
  for (int r = 1; r < rounds_of_folds; ++r) {
    for (item& x : mine) forget(x);
    Folder::sync();
    same &= Folder::round(storage, mine) == value;
  }
  if (Folder::holds(thread)) atomicAdd(out, same ? value : value + item{1} + value);
}

/// A contestant that folds so.
template <class Folder>
contestant folds_in_rounds(const std::string& name) {
  using item = typename Folder::item;
  contestant result;
  result.name = name;
  result.enqueue = [](const fold_call& c) {
    check(cudaMemsetAsync(c.out, 0, sizeof(item), c.stream), "cudaMemsetAsync");
    constexpr index block_items = index{Folder::nt} * Folder::per_thread;
    const auto blocks = static_cast<unsigned>((c.n + block_items - 1) / block_items);
    fold_rounds<Folder>
        <<<blocks, Folder::nt, 0, c.stream>>>(c.items<item>(), c.n, c.result<item>());
    check(cudaGetLastError(), "launch of folds in rounds");
  };
  return result;
}

}  // namespace bench
