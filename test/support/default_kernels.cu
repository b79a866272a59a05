// SPDX-License-Identifier: Apache-2.0
//
// The reductions whose machine code test/default_kernels_test.py reads: a sum of each basic type
// from a raw pointer, with the default policy. Compiled, never run.
#include <cuda_fp16.h>

#include <cstdint>

#include <tilefold/tilefold.cuh>

template <class T>
auto default_sum(tilefold::cuda_executor& executor, const T* first, const T* last) {
  return tilefold::reduce(executor, first, last);
}

template auto default_sum(tilefold::cuda_executor&, const float*, const float*);
template auto default_sum(tilefold::cuda_executor&, const double*, const double*);
template auto default_sum(tilefold::cuda_executor&, const std::int8_t*, const std::int8_t*);
template auto default_sum(tilefold::cuda_executor&, const std::int32_t*, const std::int32_t*);
template auto default_sum(tilefold::cuda_executor&, const std::int64_t*, const std::int64_t*);
template auto default_sum(tilefold::cuda_executor&, const __half*, const __half*);
