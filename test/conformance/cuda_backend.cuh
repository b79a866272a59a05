// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor as a backend of the conformance tests: with the tile shapes that it chooses,
// and with large tiles, which it would choose only for more items than an oracle cares to fold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <tilefold/tilefold.cuh>

#include "../support/device.cuh"
#include "conformance.hpp"
#include "host_backend.hpp"

namespace tilefold::test {

class cuda_backend {
 public:
  explicit cuda_backend(bool large_tiles) : large_tiles_(large_tiles) {}

  template <class Named, class T, class Op>
  auto fold(const T* items, std::int64_t n, int shift, Op op) {
    const T* first = copied(items, n, shift);
    constexpr tile_policy large{256, large_vt(static_cast<int>(sizeof(T)))};
    if (large_tiles_) return reduce<Named>(with_policy<large>(executor_), first, first + n, op);
    return reduce<Named>(executor_, first, first + n, op);
  }

 private:
  // Values per thread that are 128 bytes, or nearly.
  static constexpr int large_vt(int item_bytes) {
    int vt = 1;
    while (vt * 2 * item_bytes <= 128) vt *= 2;
    return vt;
  }

  template <class T>
  const T* copied(const T* items, std::int64_t n, int shift) {
    const std::int64_t bytes = static_cast<std::int64_t>(sizeof(T)) * (n + shift);
    if (!storage_ || storage_->size() < bytes) {
      storage_.reset();
      storage_ = std::make_unique<gpu_array<char>>(2 * bytes);
    }
    char* first = storage_->data() + static_cast<std::ptrdiff_t>(sizeof(T)) * shift;
    must(cudaMemcpy(first, items, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDefault));
    return reinterpret_cast<const T*>(first);
  }

  bool large_tiles_;
  cuda_executor executor_;
  std::unique_ptr<gpu_array<char>> storage_;
};

/// The body on the GPU, and on the host executor as nvcc compiles it.
template <class Case>
class CudaConformance : public ::testing::Test {
 protected:
  void run() {
    for (const bool large_tiles : {false, true}) {
      SCOPED_TRACE(large_tiles ? "large tiles" : "default tiles");
      cuda_backend gpu(large_tiles);
      conforms<Case>(gpu);
    }
    host_backend host;
    conforms<Case>(host);
  }
};

}  // namespace tilefold::test
