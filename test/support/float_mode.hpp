// SPDX-License-Identifier: Apache-2.0
//
// The processor's floating-point control register, for the tests that change it: how results are
// rounded and what becomes of subnormal numbers. x86 (SSE) and 64-bit Arm; elsewhere
// TILEFOLD_TEST_FLOAT_MODES is not defined.
#pragma once

#include <cstdint>

#if defined(__SSE__) || defined(__aarch64__)
#define TILEFOLD_TEST_FLOAT_MODES

namespace tilefold::test {

#if defined(__SSE__)
using control_bits = std::uint32_t;

inline constexpr control_bits as_started = 0x1f80;
inline constexpr control_bits flush_to_zero = 1u << 15;
inline constexpr control_bits denormals_are_zero = 1u << 6;
inline constexpr control_bits round_downward = 1u << 13;
inline constexpr control_bits round_upward = 2u << 13;
inline constexpr control_bits round_toward_zero = 3u << 13;
inline constexpr control_bits exception_flags = 0x3f;

inline void set_control_bits(control_bits value) { asm volatile("ldmxcsr %0" : : "m"(value)); }

/// Without the flags of what has happened so far.
inline control_bits control_bits_now() {
  control_bits value;
  asm volatile("stmxcsr %0" : "=m"(value));
  return value & ~exception_flags;
}
#else
using control_bits = std::uint64_t;

inline constexpr control_bits as_started = 0;
inline constexpr control_bits flush_to_zero = 1u << 24;
inline constexpr control_bits denormals_are_zero = 1u << 24;  // one bit does both
inline constexpr control_bits round_downward = 2u << 22;
inline constexpr control_bits round_upward = 1u << 22;
inline constexpr control_bits round_toward_zero = 3u << 22;

inline void set_control_bits(control_bits value) { asm volatile("msr fpcr, %0" : : "r"(value)); }

inline control_bits control_bits_now() {
  control_bits value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
#endif

/// The register of this thread, put back at the end.
class float_mode {
 public:
  explicit float_mode(control_bits value) : before_(control_bits_now()) { set_control_bits(value); }
  ~float_mode() { set_control_bits(before_); }
  float_mode(const float_mode&) = delete;
  float_mode& operator=(const float_mode&) = delete;

 private:
  control_bits before_;
};

}  // namespace tilefold::test

#endif
