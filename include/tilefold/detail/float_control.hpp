// SPDX-License-Identifier: Apache-2.0
//
// The processor's register that says how it computes with floating numbers: whether subnormal ones
// count, and how results are rounded. x86 and 64-bit Arm; elsewhere TILEFOLD_KNOWS_FLOAT_CONTROL is
// not defined. Host only.
#pragma once

#include <cstdint>

#include <tilefold/config.hpp>

namespace tilefold::detail::host {

#if defined(__SSE__) || defined(__aarch64__)
#define TILEFOLD_KNOWS_FLOAT_CONTROL
struct control_register {
#if defined(__SSE__)
  static constexpr const char* name = "MXCSR";
  static constexpr std::uint32_t no_subnormals = 1u << 15 | 1u << 6;
  static constexpr const char* no_subnormals_text =
      "flush-to-zero (bit 15) or denormals-are-zero (bit 6)";
  static constexpr std::uint32_t rounding = 3u << 13;
  static constexpr const char* rounding_text = "bits 13 and 14";

  static std::uint32_t read() {
    std::uint32_t value;
    asm volatile("stmxcsr %0" : "=m"(value));
    return value;
  }
#else
  static constexpr const char* name = "FPCR";
  static constexpr std::uint32_t no_subnormals = 1u << 24 | 1u;
  static constexpr const char* no_subnormals_text =
      "flush-to-zero (bit 24) or flush-inputs-to-zero (bit 0)";
  static constexpr std::uint32_t rounding = 3u << 22;
  static constexpr const char* rounding_text = "bits 22 and 23";

  static std::uint32_t read() {
    std::uint64_t value;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return static_cast<std::uint32_t>(value);
  }
#endif
  static bool is_default(std::uint32_t value) { return (value & (no_subnormals | rounding)) == 0; }
};
#endif

/// Whether the calling thread computes as IEEE 754 has it by default, as far as one can know.
inline bool has_default_float_mode() {
#if defined(TILEFOLD_KNOWS_FLOAT_CONTROL)
  return control_register::is_default(control_register::read());
#else
  return true;
#endif
}

}  // namespace tilefold::detail::host
