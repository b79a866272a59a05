// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor as a backend of the conformance tests: with the tile shapes that it chooses,
// or with large tiles, which it would choose only for more items than an oracle cares to fold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "../support/device.cuh"
#include "conformance.hpp"
#include "host_backend.hpp"

namespace tilefold::test {

template <bool LargeTiles>
class cuda_backend {
 public:
  template <class Named, class T, class Op>
  auto fold(const T* items, std::int64_t n, int shift, Op op) {
    const T* first = copied(items, n, shift);
    if constexpr (LargeTiles) {
      constexpr tile_policy large{256, large_vt(static_cast<int>(sizeof(T)))};
      return reduce<Named>(with_policy<large>(executor_), first, first + n, op);
    } else {
      return reduce<Named>(executor_, first, first + n, op);
    }
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

  cuda_executor executor_;
  std::unique_ptr<gpu_array<char>> storage_;
};

/// Every `Parts`-th case from number `Part` on, for a program of its own.
template <std::size_t Part, std::size_t Parts, class Cases>
struct part_of;
template <std::size_t Part, std::size_t Parts, class... Case>
struct part_of<Part, Parts, ::testing::Types<Case...>> {
  template <std::size_t... I>
  static ::testing::Types<std::tuple_element_t<Parts * I + Part, std::tuple<Case...>>...> pick(
      std::index_sequence<I...>);
  static constexpr std::size_t size = (sizeof...(Case) - Part + Parts - 1) / Parts;
  using cases = decltype(pick(std::make_index_sequence<size>()));
};

/// The body on the GPU, and on the host executor as nvcc compiles it. With large tiles users'
/// operators and sums: the library's other operators differ from sums in the operator alone.
template <class Case,
          bool LargeTiles = std::is_same_v<typename Case::op, typename Case::reference_op> ||
                            std::is_same_v<typename Case::reference_op, reference::plus>>
class CudaConformance : public ::testing::Test {
 protected:
  void run() {
    cuda_backend<false> gpu;
    conforms<Case>(gpu);
    if constexpr (LargeTiles) {
      SCOPED_TRACE("large tiles");
      cuda_backend<true> large_tiles;
      conforms<Case>(large_tiles);
    }
    host_backend host;
    conforms<Case>(host);
  }
};

}  // namespace tilefold::test
