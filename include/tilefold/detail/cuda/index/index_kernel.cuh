// SPDX-License-Identifier: Apache-2.0
//
// Before and after the sort of items by their index:
//
//     indices     2 0 3 9 0 2            4 results
//     bins        2 0 3 4 0 2            index_kernel; 4 stands for an index without a result
//     positions   0 1 2 3 4 5
//
//     bins        0 0 2 2 3 4            the sort, which is stable
//     positions   1 4 0 5 2 3
//     offsets     0 2 2 4 5              offsets_kernel: where each result's items begin
//
// Device code.
#pragma once

#include <cstdint>

#include <tilefold/config.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>

namespace tilefold::detail::cuda {

inline constexpr int index_nt = 256;

/// Writes the bin and the position of every item; index_of(j) tells the bin of item j.
template <class Build, class IndexOf>
__global__ void __launch_bounds__(index_nt)
    index_kernel(IndexOf index_of, std::int64_t n, std::uint32_t* bins, std::uint32_t* positions) {
  cuda::wait_for_previous_launch();
  const std::int64_t step = std::int64_t{gridDim.x} * index_nt;
  for (std::int64_t j = std::int64_t{blockIdx.x} * index_nt + threadIdx.x; j < n; j += step) {
    bins[j] = static_cast<std::uint32_t>(index_of(j));
    positions[j] = static_cast<std::uint32_t>(j);
  }
}

/// Writes the number of items in bins below b as offsets[b], for b = 0 to num_results, of n bins in
/// ascending order.
template <class Build>
__global__ void __launch_bounds__(index_nt)
    offsets_kernel(const std::uint32_t* bins, std::int64_t n, std::int64_t num_results,
                   std::int64_t* offsets) {
  cuda::wait_for_previous_launch();
  const std::int64_t step = std::int64_t{gridDim.x} * index_nt;
  for (std::int64_t b = std::int64_t{blockIdx.x} * index_nt + threadIdx.x; b <= num_results;
       b += step) {
    std::int64_t first = 0;
    std::int64_t count = n;
    while (count > 0) {
      const std::int64_t half = count / 2;
      const bool below = bins[first + half] < b;
      first = below ? first + half + 1 : first;
      count = below ? count - half - 1 : half;
    }
    offsets[b] = first;
  }
}

}  // namespace tilefold::detail::cuda
