// SPDX-License-Identifier: Apache-2.0
//
// Memory resources of cuda::mr and RMM for the workspace of a cuda_executor. Include this to pass
// one to its constructor (docs/streams.md). A resource that derives from device_memory_resource
// does without.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/detail/cuda/base/runtime.cuh>
#include <tilefold/detail/cuda/base/workspace.cuh>
#include <tilefold/error.hpp>

namespace tilefold::detail::cuda {

/// A resource of others as one of ours. Held is R itself, or R* where the caller keeps it.
template <class Held>
class adapted_resource final : public device_memory_resource {
  using resource = std::remove_pointer_t<Held>;

 public:
  explicit adapted_resource(Held held) : held_(std::move(held)) {}

  void* allocate(std::int64_t bytes, cudaStream_t stream) override {
    void* memory = nullptr;
    try {
      memory = take(static_cast<std::size_t>(bytes), stream);
    } catch (const std::exception& e) {
      (void)cudaGetLastError();
      throw allocation_error("tilefold: the memory resource has no " + std::to_string(bytes) +
                                 " bytes of workspace: " + e.what(),
                             bytes);
    }
    try {
      require_gpu_memory(memory);
    } catch (...) {
      deallocate(memory, bytes, stream);
      throw;
    }
    return memory;
  }

  void deallocate(void* memory, std::int64_t bytes, cudaStream_t stream) noexcept override {
    const auto n = static_cast<std::size_t>(bytes);
    try {
      resource& r = it();
      if constexpr (allocates_in_stream<resource>) {
        r.deallocate(stream, memory, n, alignment);
      } else if constexpr (allocates_async<resource>) {
        r.deallocate_async(memory, n, alignment, stream);
      } else if constexpr (allocates_as_rmm<resource>) {
        r.deallocate(memory, n, stream);
      } else {
        // It may hand the memory to anybody at once.
        if (cudaStreamSynchronize(stream) != cudaSuccess) (void)cudaGetLastError();
        if constexpr (allocates_sync<resource>) {
          r.deallocate_sync(memory, n, alignment);
        } else {
          r.deallocate(memory, n, alignment);
        }
      }
    } catch (...) {
      (void)cudaGetLastError();  // the driver is gone, and the memory with it
    }
  }

 private:
  static constexpr std::size_t alignment = 256;

  resource& it() {
    if constexpr (std::is_pointer_v<Held>) {
      return *held_;
    } else {
      return held_;
    }
  }

  void* take(std::size_t n, [[maybe_unused]] cudaStream_t stream) {
    resource& r = it();
    if constexpr (allocates_in_stream<resource>) {
      return r.allocate(stream, n, alignment);
    } else if constexpr (allocates_async<resource>) {
      return r.allocate_async(n, alignment, stream);
    } else if constexpr (allocates_as_rmm<resource>) {
      return r.allocate(n, stream);
    } else if constexpr (allocates_sync<resource>) {
      return r.allocate_sync(n, alignment);
    } else {
      return r.allocate(n, alignment);
    }
  }

  // A resource of host memory has the same functions.
  static void require_gpu_memory(const void* memory) {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    require_device_access(memory, "the memory resource's workspace", device,
                          attribute_of(device, cudaDevAttrPageableMemoryAccess) != 0);
  }

  Held held_;
};

/// Whether copies of R lead to the same resource: cuda::mr::resource_ref and its kin.
template <class R>
constexpr bool is_resource_ref() {
  return std::is_copy_constructible_v<R> &&
         detail::type_name<R>().find("resource_ref") != std::string_view::npos;
}

template <class R>
struct resource_adapter {
  static std::unique_ptr<device_memory_resource> adapt(R&& resource) {
    using type = std::remove_cvref_t<R>;
    if constexpr (std::is_pointer_v<type>) {
      if (resource == nullptr) {
        throw null_pointer_error("tilefold: the pointer to a memory resource is null");
      }
      return std::make_unique<adapted_resource<type>>(resource);
    } else if constexpr (!std::is_lvalue_reference_v<R> || is_resource_ref<type>()) {
      return std::make_unique<adapted_resource<type>>(static_cast<R&&>(resource));
    } else {
      using pointer = std::remove_reference_t<R>*;
      return std::make_unique<adapted_resource<pointer>>(std::addressof(resource));
    }
  }
};

}  // namespace tilefold::detail::cuda
