// SPDX-License-Identifier: Apache-2.0
//
// Device memory with an owner.
#pragma once

#include <cstddef>
#include <vector>

#include "contestant.hpp"

namespace bench {

template <class T>
class device_array {
 public:
  explicit device_array(index n) : size_(n) {
    check(cudaMalloc(&data_, static_cast<std::size_t>(n) * sizeof(T)), "cudaMalloc");
  }
  explicit device_array(const std::vector<T>& items)
      : device_array(static_cast<index>(items.size())) {
    check(cudaMemcpy(data_, items.data(), items.size() * sizeof(T), cudaMemcpyDefault), "copy");
  }
  ~device_array() { (void)cudaFree(data_); }
  device_array(const device_array&) = delete;  // one owner
  device_array& operator=(const device_array&) = delete;
  T* data() const { return static_cast<T*>(data_); }
  index size() const { return size_; }

 private:
  void* data_ = nullptr;
  index size_;
};

}  // namespace bench
