// SPDX-License-Identifier: Apache-2.0
//
// The place of the suite's GPU tests.
#pragma once

#include <tilefold/cuda.cuh>

#include "../support/device.cuh"

namespace tilefold::test {

struct on_gpu : in_gpu_memory {
  using executor = cuda_executor;
  static constexpr bool is_gpu = true;
};

}  // namespace tilefold::test
