// SPDX-License-Identifier: Apache-2.0
//
// Before and after the sort of items by their index:
//
//     indices     2 0 3 9 0 2            4 results
//     bins        2 0 3 4 0 2            read_bins; 4 stands for an index without a result
//     words       0 1 2 3 4 5            positions, or items of 4 bytes
//
//     bins        0 0 2 2 3 4            the sort, which is stable
//     words       1 4 0 5 2 3
//     offsets     0 2 2 4 5              find_offsets: where each result's items begin
//
// index_kernel calls either of them for every position, or every result. Device code.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>

#include <tilefold/config.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>

namespace tilefold::detail::cuda {

inline constexpr int index_nt = 256;

/// The position of item j.
struct position_word {
  __device__ std::uint32_t operator()(std::int64_t j) const {
    return static_cast<std::uint32_t>(j);
  }
};

/// The bits of item j, which has 4 bytes.
template <class Values>
struct item_word {
  Values values;

  __device__ std::uint32_t operator()(std::int64_t j) const {
    const std::iter_value_t<Values> item = detail::element(values, j);
    std::uint32_t bits;
    static_assert(sizeof item == sizeof bits);
    std::memcpy(&bits, &item, sizeof bits);
    return bits;
  }
};

template <class Values>
item_word(Values) -> item_word<Values>;

/// Writes the bin of item j, which index_of(j) tells, and the word that is sorted with it.
template <class IndexOf, class WordOf>
struct read_bins {
  IndexOf index_of;
  WordOf word_of;
  std::uint32_t* bins;
  std::uint32_t* words;

  __device__ __forceinline__ void operator()(std::int64_t j) const {
    bins[j] = static_cast<std::uint32_t>(index_of(j));
    words[j] = word_of(j);
  }
};

/// Writes the number of items in bins below b as offsets[b], of n bins in ascending order.
struct find_offsets {
  const std::uint32_t* bins;
  std::int64_t n;
  std::int64_t* offsets;

  __device__ __forceinline__ void operator()(std::int64_t b) const {
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
};

/// Calls step(j) for j = 0 to n - 1.
template <class Build, class Step>
__global__ void __launch_bounds__(index_nt) index_kernel(Step step, std::int64_t n) {
  cuda::wait_for_previous_launch();
  const std::int64_t threads = std::int64_t{gridDim.x} * index_nt;
  for (std::int64_t j = std::int64_t{blockIdx.x} * index_nt + threadIdx.x; j < n; j += threads) {
    step(j);
  }
}

}  // namespace tilefold::detail::cuda
