// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU by segment, fused with each other and with others.
#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "cuda_fused.cuh"

namespace tilefold {
namespace {

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
