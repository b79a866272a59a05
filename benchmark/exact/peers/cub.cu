// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceReduce with determinism::gpu_to_gpu, where this CUB has it (CUDA 13.0's has not): a
// sum of floats or doubles that has the same bits on every GPU.
#include <stdexcept>

#include "../../support/cccl.hpp"

#if CCCL_MAJOR_VERSION > 3 || CCCL_MAJOR_VERSION == 3 && CCCL_MINOR_VERSION >= 6

#include <cub/device/device_reduce.cuh>
#include <cuda/execution>
#include <cuda/memory_resource>
#include <cuda/std/functional>
#include <cuda/stream>

namespace {

/// Gives cub the memory that is there: nothing is allocated while something is timed. (A template,
/// because cub asks for functions that it does not call, and compilers warn of those.)
template <class = void>
struct scratch_memory {
  void* first;
  std::size_t bytes;

  void* allocate_sync(std::size_t wanted, std::size_t) {
    if (wanted > bytes) throw std::runtime_error("cub needs more scratch");
    return first;
  }
  void deallocate_sync(void*, std::size_t, std::size_t) noexcept {}
  void* allocate(cuda::stream_ref, std::size_t wanted, std::size_t alignment) {
    return allocate_sync(wanted, alignment);
  }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t) noexcept {}
  bool operator==(const scratch_memory& other) const { return first == other.first; }
  bool operator!=(const scratch_memory& other) const { return first != other.first; }
};

template <class T>
bench::contestant sum() {
  bench::contestant result;
  result.name = with_version("cub-gpu-to-gpu");
  result.enqueue = [](const bench::fold_call& c) {
    const auto how = cuda::std::execution::env{
        cuda::stream_ref{c.stream},
        cuda::std::execution::prop{cuda::mr::get_memory_resource,
                                   scratch_memory<>{c.scratch, c.scratch_bytes}},
        cuda::execution::require(cuda::execution::determinism::gpu_to_gpu)};
    bench::check(cub::DeviceReduce::Reduce(c.items<T>(), c.result<T>(), count(c),
                                           cuda::std::plus<T>{}, T{}, how),
                 "cub::DeviceReduce, gpu_to_gpu");
  };
  return result;
}

const bench::peer_entry entries[] = {
    {"exact_sum_float", sum<float>()},
    {"exact_sum_double", sum<double>()},
};

}  // namespace

#endif
