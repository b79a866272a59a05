// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU over ranges and by segment, fused with each other and with others.
#include <cstddef>
#include <random>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_fused.cuh"
#include "many_items.hpp"

namespace tilefold {
namespace {

TEST(CudaExactFused, OfRanges) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {1u, 100u, 8193u, 100'003u, 1'000'003u}) {
    for (const int kind : {0, 2, test::num_exact_kinds}) {
      SCOPED_TRACE(testing::Message() << n << ", kind " << kind);
      const auto items = test::items_of<float>(kind, n, random);
      const gpu_array<float> on_gpu(items);
      expect_fused(reduce(gpu, on_gpu.begin(), on_gpu.end(), fused), items);
    }
  }
}

TEST(CudaExactFused, OfSegments) {
  const fused_segments segments;
  cuda_executor gpu;
  const gpu_array<float> on_gpu(segments.items);
  const gpu_array<int> offsets(segments.bounds);
  const gpu_array<fused_result> out(segments.size());
  segmented_reduce(gpu, on_gpu.data(), offsets.data(), segments.size(), out.data(),
                   if_empty(fused, fused_result{}));
  segments.expect(out.to_host());
}

}  // namespace
}  // namespace tilefold
