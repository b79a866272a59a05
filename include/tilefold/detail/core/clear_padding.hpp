// SPDX-License-Identifier: Apache-2.0
//
// Bytes between the members of a struct hold anything. Where its bytes are kept or sent they are
// set to zero, so that equal values have equal bytes and nothing else of memory goes out. Host
// only.
#pragma once

#include <tilefold/config.hpp>

// GCC has a builtin for it from 11 on. What nvcc passes on to clang may not know it.
#if defined(__has_builtin) && !(defined(__clang__) && defined(__CUDACC__))
#if __has_builtin(__builtin_clear_padding)
#define TILEFOLD_CLEARS_PADDING 1
#endif
#endif

namespace tilefold::detail {

/// Sets the padding of `value` to zero, if the compiler can.
template <class T>
void clear_padding([[maybe_unused]] T& value) {
#ifdef TILEFOLD_CLEARS_PADDING
  __builtin_clear_padding(__builtin_addressof(value));
#endif
}

}  // namespace tilefold::detail
