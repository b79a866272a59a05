// SPDX-License-Identifier: Apache-2.0
//
// Types that look like those of other libraries, which the tests do without: RMM's wrapper of a
// stream, and memory resources as cuda::mr and RMM have had them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <new>

namespace tilefold::test {

/// rmm::cuda_stream_view.
class rmm_stream_view {
 public:
  constexpr rmm_stream_view(cudaStream_t stream) noexcept : stream_(stream) {}
  constexpr rmm_stream_view(int) = delete;
  constexpr cudaStream_t value() const noexcept { return stream_; }
  constexpr operator cudaStream_t() const noexcept { return stream_; }

 private:
  cudaStream_t stream_;
};

/// What has only the conversion.
struct converting_stream {
  cudaStream_t stream;
  operator cudaStream_t() const { return stream; }
};

/// Converts to whatever it is asked for, and is no stream.
struct converts_to_all {
  template <class T>
  operator T*() const {
    return nullptr;
  }
};

/// What a resource has been asked for. Memory comes from Memory::allocate(bytes), and goes back to
/// Memory::release(p).
struct resource_calls {
  int allocated = 0;
  int freed = 0;
  std::size_t bytes = 0;
  std::size_t alignment = 0;
  cudaStream_t stream = nullptr;
  bool fails = false;

  template <class Memory>
  void* give(std::size_t n, std::size_t align, cudaStream_t in) {
    if (fails) throw std::bad_alloc();
    ++allocated;
    bytes = n;
    alignment = align;
    stream = in;
    return Memory::allocate(n);
  }
  template <class Memory>
  void take(void* p, std::size_t n) {
    if (n == bytes) ++freed;
    Memory::release(p);
  }
};

/// cuda::mr since CCCL 3.1.
template <class Memory>
struct resource_in_stream {
  resource_calls* calls;
  void* allocate(rmm_stream_view stream, std::size_t n, std::size_t alignment) {
    return calls->give<Memory>(n, alignment, stream);
  }
  void deallocate(rmm_stream_view, void* p, std::size_t n, std::size_t) noexcept {
    calls->take<Memory>(p, n);
  }
  void* allocate_sync(std::size_t n, std::size_t alignment) {
    return calls->give<Memory>(n, alignment, nullptr);
  }
  void deallocate_sync(void* p, std::size_t n, std::size_t) noexcept { calls->take<Memory>(p, n); }
};

/// cuda::mr before.
template <class Memory>
struct resource_async {
  resource_calls* calls;
  void* allocate_async(std::size_t n, std::size_t alignment, rmm_stream_view stream) {
    return calls->give<Memory>(n, alignment, stream);
  }
  void deallocate_async(void* p, std::size_t n, std::size_t, rmm_stream_view) {
    calls->take<Memory>(p, n);
  }
  void* allocate(std::size_t n, std::size_t alignment) {
    return calls->give<Memory>(n, alignment, nullptr);
  }
  void deallocate(void* p, std::size_t n, std::size_t) { calls->take<Memory>(p, n); }
};

/// rmm::mr::device_memory_resource.
template <class Memory>
struct resource_of_rmm {
  virtual ~resource_of_rmm() = default;
  resource_of_rmm(resource_calls* c) : calls(c) {}
  resource_of_rmm(resource_of_rmm&&) = delete;

  resource_calls* calls;
  void* allocate(std::size_t n, rmm_stream_view stream) {
    return calls->give<Memory>(n, 256, stream);
  }
  void deallocate(void* p, std::size_t n, rmm_stream_view) { calls->take<Memory>(p, n); }
};

/// A resource that knows no stream, with the names of today and with older ones.
template <class Memory>
struct resource_sync {
  resource_calls* calls;
  void* allocate_sync(std::size_t n, std::size_t alignment) {
    return calls->give<Memory>(n, alignment, nullptr);
  }
  void deallocate_sync(void* p, std::size_t n, std::size_t) noexcept { calls->take<Memory>(p, n); }
};
template <class Memory>
struct resource_plain {
  resource_calls* calls;
  void* allocate(std::size_t n, std::size_t alignment) {
    return calls->give<Memory>(n, alignment, nullptr);
  }
  void deallocate(void* p, std::size_t n, std::size_t) { calls->take<Memory>(p, n); }
};

/// A reference to one, which may end before the executor does.
template <class Memory>
struct some_resource_ref : resource_async<Memory> {};

}  // namespace tilefold::test
