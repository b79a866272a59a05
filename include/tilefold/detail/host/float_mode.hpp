// SPDX-License-Identifier: Apache-2.0
//
// Whether the processor is told to treat subnormal numbers as zero. A library built with
// -ffast-math does so for the whole thread when it is loaded, and results would then depend on it;
// builds without NDEBUG look before each fold of floating values. x86 only.
#pragma once

#include <tilefold/error.hpp>
#include <tilefold/op.hpp>

#if !defined(NDEBUG)
#include <cstdio>
#include <string>
#endif

namespace tilefold::detail::host {

#if !defined(NDEBUG) && defined(__SSE__)

inline unsigned control_register() {
  unsigned mxcsr;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  return mxcsr;
}

/// Throws if the calling thread flushes subnormals to zero, in results or as operands.
inline void require_subnormals() {
  constexpr unsigned flush_to_zero = 1u << 15;
  constexpr unsigned denormals_are_zero = 1u << 6;
  const unsigned mxcsr = host::control_register();
  if ((mxcsr & (flush_to_zero | denormals_are_zero)) == 0) return;
  char value[16];
  std::snprintf(value, sizeof value, "0x%04x", mxcsr);
  throw float_mode_error("tilefold: MXCSR of this thread is " + std::string(value) +
                         ": flush-to-zero (bit 15) or denormals-are-zero (bit 6) is set, by a "
                         "library built with -ffast-math, say, so that subnormal numbers would "
                         "count as zero");
}

#else

inline void require_subnormals() {}

#endif

/// The same before a fold in accumulators of type Acc; nothing unless they are floating.
template <class Acc>
void require_float_mode() {
  if constexpr (floating<Acc> || complex_like<Acc>) host::require_subnormals();
}

}  // namespace tilefold::detail::host
