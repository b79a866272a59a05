// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU of CUDA's types of 8 bits, and arrays of them.
#pragma once

#include <thrust/device_vector.h>

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "fp8_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bits_of;

template <class T>
class CudaExactFp8 : public testing::Test {};
using types_of_8_bits = testing::Types<__nv_fp8_e4m3, __nv_fp8_e5m2>;

// A vector on a GPU would fill items of this type by a kernel: bytes are simpler.
template <class T>
class on_gpu {
 public:
  explicit on_gpu(const std::vector<T>& items)
      : bytes_(reinterpret_cast<const unsigned char*>(items.data()),
               reinterpret_cast<const unsigned char*>(items.data() + items.size())) {}
  explicit on_gpu(std::size_t n) : bytes_(n) {}

  T* data() { return reinterpret_cast<T*>(bytes_.data().get()); }
  std::vector<T> to_host() const {
    std::vector<T> items(bytes_.size());
    thrust::copy(bytes_.begin(), bytes_.end(), reinterpret_cast<unsigned char*>(items.data()));
    return items;
  }

 private:
  thrust::device_vector<unsigned char> bytes_;
};

}  // namespace
}  // namespace tilefold
