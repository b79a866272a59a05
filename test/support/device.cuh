// SPDX-License-Identifier: Apache-2.0
//
// What the GPU tests need around the library: CUDA calls that must succeed, and device, managed and
// pinned memory that frees itself. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilefold::test {

/// Throws, and so fails the test, if `code` is a failure.
inline void must(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

enum class memory { device, managed, pinned };

/// n items of memory that the GPU reaches.
template <class T, memory Kind = memory::device>
class gpu_array {
 public:
  gpu_array() = default;
  explicit gpu_array(std::integral auto n) : size_(static_cast<std::int64_t>(n)) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    if constexpr (Kind == memory::device) {
      must(cudaMalloc(reinterpret_cast<void**>(&data_), bytes));
    } else if constexpr (Kind == memory::managed) {
      must(cudaMallocManaged(reinterpret_cast<void**>(&data_), bytes));
    } else {
      must(cudaMallocHost(reinterpret_cast<void**>(&data_), bytes));
    }
  }
  explicit gpu_array(const std::vector<T>& items) : gpu_array(items.size()) {
    assign(items.data(), size_);
  }
  gpu_array(std::int64_t n, const T& value)
      : gpu_array(std::vector<T>(static_cast<std::size_t>(n), value)) {}
  gpu_array(gpu_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  gpu_array& operator=(gpu_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~gpu_array() {
    if constexpr (Kind == memory::pinned) {
      (void)cudaFreeHost(data_);
    } else {
      (void)cudaFree(data_);
    }
  }

  T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

  /// Copies n host items to items `at`, `at` + 1...
  void assign(const T* items, std::int64_t n, std::int64_t at = 0) {
    must(cudaMemcpy(data_ + at, items, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDefault));
  }
  std::vector<T> to_host() const { return to_host(size_); }
  /// The first n.
  std::vector<T> to_host(std::integral auto n) const {
    std::vector<T> items(static_cast<std::size_t>(n));
    must(cudaMemcpy(items.data(), data_, items.size() * sizeof(T), cudaMemcpyDefault));
    return items;
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// For tests that do not know where they run (host_memory.hpp).
struct in_gpu_memory {
  template <class T>
  using array = gpu_array<T>;
};

/// A stream of the test's own.
class scoped_stream {
 public:
  explicit scoped_stream(unsigned flags = cudaStreamDefault) {
    must(cudaStreamCreateWithFlags(&stream_, flags));
  }
  scoped_stream(scoped_stream&&) = delete;
  ~scoped_stream() { (void)cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace tilefold::test
