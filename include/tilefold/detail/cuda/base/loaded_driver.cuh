// SPDX-License-Identifier: Apache-2.0
//
// Whether this process has loaded CUDA's driver. The runtime loads it with the first call that
// needs it, which takes some tenths of a second; without it no pointer leads to a GPU's memory. So
// a host that folds in a program with CUDA need not start CUDA to know its own memory. Host code.
#pragma once

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace tilefold::detail::cuda {

// A count of all objects that were loaded so far.
inline unsigned long long num_loads() {
  unsigned long long count = 0;
  (void)dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = object->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

inline bool is_driver(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return std::strncmp(slash == nullptr ? path : slash + 1, "libcuda.so", 10) == 0;
}

inline bool find_driver() {
  return dl_iterate_phdr(
             [](dl_phdr_info* object, std::size_t, void*) {
               return object->dlpi_name != nullptr && is_driver(object->dlpi_name) ? 1 : 0;
             },
             nullptr) != 0;
}

// Whether it has been seen. It stays, once it is there.
inline std::atomic<bool> driver_was_seen{false};

/// Looks through the loaded objects only where there are more of them than the last time.
inline bool is_driver_loaded() {
  static std::atomic<unsigned long long> looked_at{0};
  if (driver_was_seen.load(std::memory_order_acquire)) return true;
  const unsigned long long loads = num_loads();
  if (loads == looked_at.load(std::memory_order_acquire)) return false;
  if (find_driver()) {
    driver_was_seen.store(true, std::memory_order_release);
    return true;
  }
  looked_at.store(loads, std::memory_order_release);
  return false;
}

}  // namespace tilefold::detail::cuda
