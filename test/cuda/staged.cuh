// SPDX-License-Identifier: Apache-2.0
//
// Lengths of ranges that are folded in staged tiles, and the host's bits at each, for reducers
// whose accumulators are large for their items.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>

#include "../reducers/cases.hpp"
#include "../support/device.cuh"

namespace tilefold::test {

// Tiles of 16384 floats, one for each SM at least; stripes of 1024, cells of 32.
inline constexpr std::int64_t staged_tile_items = 16384;

inline std::vector<std::int64_t> long_sizes() {
  int sms = 0;
  must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const std::int64_t least = sms * staged_tile_items;
  return {least - 1,         least,
          least + 1,         least + 31,
          least + 33,        least + 1023,
          least + 1025,      least + 4095,
          least + 3 * 4096,  least + staged_tile_items - 1,
          2 * least + 12345, 7 * least + 5};
}

// Around the longest short range of items of so many bytes, behind which accumulators of up to 32
// bytes are staged: of reducers that take long to combine, and of others. On a GPU of 132 SMs there
// are fewer staged tiles than SMs up to long_sizes().
inline std::vector<std::int64_t> seam_sizes(int item_bytes) {
  namespace gpu = detail::cuda;
  const int staged_tile = gpu::staged_reducer_shape(item_bytes).policy().tile();
  std::vector<std::int64_t> sizes;
  for (const tile_policy short_tile :
       {gpu::short_policy_for(item_bytes), gpu::short_policy_for(item_bytes, 32, false)}) {
    const std::int64_t seam = gpu::most_short_range_items(short_tile, 32);
    for (const int more : {-1, 0, 1, 31, staged_tile - 1, staged_tile, staged_tile + 1}) {
      sizes.push_back(seam + more);
    }
  }
  return sizes;
}

template <class T, class R>
void expect_host_bits(const char* name, const R& reducer,
                      const std::vector<std::int64_t>& sizes = long_sizes()) {
  cuda_executor exec;
  for (const std::int64_t n : sizes) {
    const auto x = make_items<T>(pattern::near_one, n, 3);
    const auto expected = bits_of(tilefold::reduce(x, reducer));
    gpu_array<T> device(n + 3);
    for (const std::int64_t shift : {0, 1, 3}) {
      device.assign(x.data(), n, shift);
      const T* first = device.data() + shift;
      ASSERT_EQ(bits_of(tilefold::reduce(exec, first, first + n, reducer)), expected)
          << name << ", n = " << n << ", shift = " << shift;
    }
  }
}

}  // namespace tilefold::test
