// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU by key, fused with each other and with others.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>

#include "../support/device.cuh"
#include "cuda_fused.cuh"

namespace tilefold {
namespace {

TEST(CudaExactFused, OfRuns) {
  const fused_segments segments;
  cuda_executor gpu;
  std::vector<int> keys(segments.items.size());
  const std::vector<int>& bounds = segments.bounds;
  for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
    std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
  }
  const gpu_array<float> on_gpu(segments.items);
  const gpu_array<int> k(keys), keys_out(segments.size());
  const gpu_array<fused_result> out(segments.size());
  ASSERT_EQ(
      reduce_by_key(gpu, k.begin(), k.end(), on_gpu.data(), keys_out.data(), out.data(), fused),
      segments.size());
  segments.expect(out.to_host());
}

}  // namespace
}  // namespace tilefold
