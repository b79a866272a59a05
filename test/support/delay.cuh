// SPDX-License-Identifier: Apache-2.0
//
// Kernels that keep a stream busy: what follows in it cannot have run while they do. The time is
// that of the GPU as a whole.
#pragma once

#include <cstdint>

namespace tilefold::test {

inline constexpr std::int64_t a_millisecond = 1'000'000;  // in ns
inline constexpr std::int64_t a_second = 1000 * a_millisecond;

__device__ inline std::int64_t nanoseconds() {
  std::int64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Until so many nanoseconds have passed.
[[maybe_unused]] static __global__ void delay(std::int64_t ns) {
  const std::int64_t start = nanoseconds();
  while (nanoseconds() - start < ns) {
  }
}

/// Until the host says go, but no longer than so many nanoseconds.
[[maybe_unused]] static __global__ void wait_for(const volatile int* go, std::int64_t ns) {
  const std::int64_t start = nanoseconds();
  while (*go == 0 && nanoseconds() - start < ns) {
  }
}

}  // namespace tilefold::test
