// SPDX-License-Identifier: Apache-2.0
//
// A program's operator new, which can be told to fail: once, at an allocation by its number.
// Included by one source of a program that has no other.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tilefold::test {

/// How many allocations succeed before one fails; below 0: all do.
inline std::atomic<std::int64_t> allocations_left{-1};

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  const std::size_t whole = (bytes + alignment) / alignment * alignment;
  if (void* const memory = std::aligned_alloc(alignment, whole)) return memory;
  throw std::bad_alloc();
}

/// Calls call() with each of its allocations failing in turn, until none does. call() says whether
/// it has succeeded; after each failure look() sees what it has left. Returns how many failed.
template <class Call, class Look>
int fail_each_allocation(const Call& call, const Look& look) {
  for (int failed = 0; failed < 10000; ++failed) {
    allocations_left = failed;
    const bool done = call();
    const bool one_failed = allocations_left < 0;
    allocations_left = -1;
    EXPECT_TRUE(done || one_failed) << "failed with all of its memory";
    if (done) return failed;
    look();
    if (testing::Test::HasFailure()) return failed;
  }
  ADD_FAILURE() << "does not end";
  return 0;
}

}  // namespace tilefold::test

#if defined(__CUDACC__)
#pragma nv_diag_suppress 20011, 20014  // nvcc takes operator new for a function of the device, too
#endif

// Not inlined, or compilers take new and free() for a pair that does not match.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return tilefold::test::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tilefold::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

// Those of arrays call these above in the C++ library, but not under a sanitizer.
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return tilefold::test::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return tilefold::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
