// SPDX-License-Identifier: Apache-2.0
//
// The processor's registers that say how it computes with floating numbers: whether subnormal ones
// count, how results are rounded, and whether an overflow is a trap. A library built with
// -ffast-math sets the processor to take subnormals as zero when it is loaded, and fesetround()
// sets another rounding. A fold sets IEEE 754's defaults and gives the caller's back, so that its
// bits are the same in every mode. x86 and 64-bit Arm; nothing is done elsewhere. Host only.
#pragma once

#include <cstdint>

#include <tilefold/config.hpp>

namespace tilefold::detail::host {

#if defined(__SSE__)
#define TILEFOLD_KNOWS_FLOAT_CONTROL
struct float_control {
  static constexpr std::uint32_t flags = 0x3f;  // what has happened so far
  // Flush-to-zero, denormals-are-zero, rounding.
  static constexpr std::uint32_t mode = 1u << 15 | 1u << 6 | 3u << 13;
  static constexpr std::uint32_t no_traps = 0x3fu << 7;
  static constexpr std::uint16_t x87_mode = 0xf00;          // precision, rounding
  static constexpr std::uint16_t x87_whole_digits = 0x300;  // of a long double, to nearest

  std::uint32_t mxcsr;
  std::uint16_t x87;

  static float_control read() {
    float_control now;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(now.mxcsr), "=m"(now.x87) : : "memory");
    return now;
  }
  bool is_default() const {
    return (mxcsr & (mode | no_traps)) == no_traps && (x87 & x87_mode) == x87_whole_digits;
  }
  float_control made_default() const {
    return {(mxcsr & ~mode) | no_traps,
            static_cast<std::uint16_t>((x87 & ~x87_mode) | x87_whole_digits)};
  }
  /// All but the flags, which stay.
  void set() const {
    const std::uint32_t word = (read().mxcsr & flags) | (mxcsr & ~flags);
    asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(word), "m"(x87) : "memory");
  }
};
#elif defined(__aarch64__)
#define TILEFOLD_KNOWS_FLOAT_CONTROL
struct float_control {
  // Flush-to-zero, flush-inputs-to-zero, rounding, traps.
  static constexpr std::uint64_t mode = 1u << 24 | 1u | 3u << 22 | 0x9f00u;

  std::uint64_t fpcr;

  static float_control read() {
    float_control now;
    asm volatile("mrs %0, fpcr" : "=r"(now.fpcr) : : "memory");
    return now;
  }
  bool is_default() const { return (fpcr & mode) == 0; }
  float_control made_default() const { return {fpcr & ~mode}; }
  void set() const { asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory"); }
};
#endif

// Not inlined: a compiler knows nothing of modes, and could move operations across their change.
template <class Work>
[[gnu::noinline]] auto run(const Work& work) {
  return work();
}

/// What `work` returns when it is done in the default mode, whatever the calling thread's mode is,
/// which it has again afterwards. Within an arena of threads the tasks of a fold take over the mode
/// of the thread that starts them.
template <class Work>
auto in_default_float_mode(const Work& work) {
#if defined(TILEFOLD_KNOWS_FLOAT_CONTROL)
  const float_control callers = float_control::read();
  if (!callers.is_default()) {
    struct scope {
      const float_control& before;
      explicit scope(const float_control& callers) : before(callers) {
        callers.made_default().set();
      }
      ~scope() { before.set(); }
    };
    // Through a pointer that could lead anywhere, so that nothing is known of the work.
    auto* whatever = &host::run<Work>;
    asm volatile("" : "+r"(whatever));
    const scope in_mode(callers);
    return whatever(work);
  }
#endif
  return host::run(work);
}

}  // namespace tilefold::detail::host
