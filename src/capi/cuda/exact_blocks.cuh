// SPDX-License-Identifier: Apache-2.0
//
// Exact accumulators of items on a GPU, for pieces and accumulators of the host.
#pragma once

#include <cstdint>
#include <functional>

#include <tilefold/cuda.cuh>

#include "../types.hpp"

namespace tilefold::capi {

constexpr bool has_exact_blocks(dtype type) {
  return type == dtype::float16 || type == dtype::bfloat16 || type == dtype::float32 ||
         type == dtype::float64;
}

/// Calls use(address of the exact_accumulator of n >= 1 items) once, when it is there.
void exact_block(cuda_executor& exec, const void* items, dtype type, std::int64_t n,
                 const std::function<void(const void*)>& use);

}  // namespace tilefold::capi
