// SPDX-License-Identifier: Apache-2.0
//
// Whether the host can read what a call is given.
#pragma once

#include <atomic>
#include <string>

#include <tilefold/detail/core/root_pointer.hpp>
#include <tilefold/error.hpp>

namespace tilefold::detail {

// Set by the CUDA side of a program, if it has one: throws if a pointer is device memory. So a
// device pointer is refused with a message in a translation unit that knows no CUDA.
using pointer_guard = void (*)(const void*);
inline std::atomic<pointer_guard> host_pointer_guard{nullptr};

template <class It>
void require_host_access(const It& it, const char* what) {
  const pointer_guard guard = host_pointer_guard.load(std::memory_order_acquire);
  detail::visit_roots(it, [&](const volatile void* root) {
    if (wraps_any_pointer<It> && root == nullptr) {
      throw null_pointer_error(std::string("tilefold: ") + what +
                               " is a null pointer, but there is something to read or write");
    }
    if (guard != nullptr && root != nullptr) guard(const_cast<const void*>(root));
  });
}

}  // namespace tilefold::detail
