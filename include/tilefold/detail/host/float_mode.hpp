// SPDX-License-Identifier: Apache-2.0
//
// Whether the calling thread computes as IEEE 754 has it by default: subnormal numbers count, and
// results are rounded to nearest even. A library built with -ffast-math sets the processor to treat
// subnormals as zero when it is loaded, and fesetround() sets another rounding; results would then
// depend on it. Builds without NDEBUG look before each fold. x86 and 64-bit Arm only.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <utility>

#include <tilefold/detail/float_control.hpp>
#include <tilefold/error.hpp>
#include <tilefold/reducer.hpp>

#if !defined(NDEBUG) && defined(TILEFOLD_KNOWS_FLOAT_CONTROL)
#define TILEFOLD_LOOKS_AT_FLOAT_MODE
#include <cstdint>
#include <cstdio>
#include <string>
#endif

namespace tilefold::detail::host {

#if defined(TILEFOLD_LOOKS_AT_FLOAT_MODE)

[[noreturn]] inline void throw_float_mode(std::uint32_t value, const std::string& trouble) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "0x%04x", value);
  throw float_mode_error("tilefold: " + std::string(control_register::name) +
                         " of this thread is " + digits + ": " + trouble);
}

/// Throws if the calling thread flushes subnormals to zero, in results or as operands, or does not
/// round to nearest even.
inline void require_default_float_mode() {
  using reg = control_register;
  const std::uint32_t value = reg::read();
  if (reg::is_default(value)) return;
  if ((value & reg::no_subnormals) != 0) {
    host::throw_float_mode(value, std::string(reg::no_subnormals_text) +
                                      " is set, by a library built with -ffast-math, say, so that "
                                      "subnormal numbers would count as zero");
  }
  host::throw_float_mode(value, "another rounding than to nearest even is set (" +
                                    std::string(reg::rounding_text) +
                                    "), by fesetround(), say, so that results would differ from "
                                    "those of a GPU");
}

#else

inline void require_default_float_mode() {}

#endif
#undef TILEFOLD_LOOKS_AT_FLOAT_MODE

template <class T>
inline constexpr bool only_integers = std::integral<T>;
template <std::size_t... Index, class... Its>
inline constexpr bool only_integers<source_of<std::index_sequence<Index...>, Its...>> =
    (std::integral<std::iter_value_t<Its>> && ...);

/// The same before a fold that reads and makes values of these types (or a source's); nothing where
/// all are known to be integers. What is read counts, too: where subnormals are taken as zero, more
/// items equal zero.
template <class... Types>
void require_float_mode() {
  if constexpr (!(only_integers<Types> && ...)) host::require_default_float_mode();
}

}  // namespace tilefold::detail::host
