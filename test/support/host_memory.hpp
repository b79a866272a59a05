// SPDX-License-Identifier: Apache-2.0
//
// Arrays in the host's memory, with the members of gpu_array (device.cuh), for tests that do not
// know where they run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilefold::test {

struct in_host_memory {
  template <class T>
  class array {
   public:
    explicit array(std::int64_t n) : items_(static_cast<std::size_t>(n)) {}
    explicit array(const std::vector<T>& items) : items_(items) {}
    T* data() { return items_.data(); }
    void assign(const T* items, std::int64_t n, std::int64_t at = 0) {
      std::copy(items, items + n, items_.data() + at);
    }
    std::vector<T> to_host() const { return items_; }

   private:
    std::vector<T> items_;
  };
};

}  // namespace tilefold::test
