// SPDX-License-Identifier: Apache-2.0
//
// The host executor as a backend of the conformance tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>

namespace tilefold::test {

class host_backend {
 public:
  explicit host_backend(host_executor executor = host_executor()) : executor_(executor) {}

  template <class Named, class T, class Op>
  auto fold(const T* items, std::int64_t n, int shift, Op op) {
    const auto count = static_cast<std::size_t>(n);
    std::size_t space = (count + static_cast<std::size_t>(shift)) * sizeof(T);
    // Exactly as long as needed, so that an address sanitizer sees a read past the end.
    const std::unique_ptr<void, void (*)(void*)> storage(
        ::operator new(space, std::align_val_t{256}),
        [](void* p) { ::operator delete(p, std::align_val_t{256}); });
    T* first = static_cast<T*>(storage.get()) + shift;
    std::uninitialized_copy(items, items + n, first);
    return reduce<Named>(executor_, first, first + n, op);
  }

 private:
  host_executor executor_;
};

}  // namespace tilefold::test
