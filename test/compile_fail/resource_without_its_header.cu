// SPDX-License-Identifier: Apache-2.0
//
// cuda.cuh leaves memory resources of cuda::mr and RMM to memory_resource.cuh.
// expect: tilefold: a memory resource of cuda::mr or RMM needs #include <tilefold/memory_resource.cuh>
// errors: 1
#include <tilefold/cuda.cuh>

#if !defined(TILEFOLD_MUST_FAIL)
#include <tilefold/memory_resource.cuh>
#endif

#include <cstddef>

struct pool {
  void* allocate(std::size_t bytes, cudaStream_t stream);
  void deallocate(void* memory, std::size_t bytes, cudaStream_t stream);
};

void sum(cudaStream_t stream, pool& memory) { tilefold::cuda_executor exec(stream, memory); }
