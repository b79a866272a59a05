// SPDX-License-Identifier: Apache-2.0
//
// Items that end where memory does, so that reading on is an error.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace tilefold::test {

/// Memory behind whose last byte nothing may be read.
class guarded_memory {
 public:
  explicit guarded_memory(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        size_((bytes + page_ - 1) / page_ * page_),
        first_(static_cast<std::byte*>(mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(first_ + size_, page_, PROT_NONE);
  }
  ~guarded_memory() { munmap(first_, size_ + page_); }
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  /// A copy of the items that ends where the memory does.
  template <class T>
  T* at_the_end(const std::vector<T>& items) {
    const std::size_t bytes = items.size() * sizeof(T);
    std::byte* const first = first_ + size_ - bytes;
    std::memcpy(first, items.data(), bytes);
    return reinterpret_cast<T*>(first);
  }

 private:
  std::size_t page_, size_;
  std::byte* first_;
};

}  // namespace tilefold::test
