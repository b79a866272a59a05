// SPDX-License-Identifier: Apache-2.0
//
// Formats values, times and rates. Independent of the locale.
#include "format.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>

namespace tilefold::tool {

namespace {

template <class T>
concept any_floating = std::floating_point<T> || is_narrow_float<T>;

template <class T>
concept complex_value = requires(T z) { z.imag(); };

template <class T>
std::string decimal(T value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

template <any_floating T>
std::string hexadecimal(T value) {
  char text[64];
  // As double: exact, and what Python's float.hex() prints for it.
  std::snprintf(text, sizeof text, "%a", static_cast<double>(static_cast<float>(value)));
  return text;
}
template <>
std::string hexadecimal(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

template <class T>
std::string bit_pattern(T value) {
  constexpr std::size_t size = sizeof value;
  using word = std::conditional_t<
      size == 1, std::uint8_t,
      std::conditional_t<size == 2, std::uint16_t,
                         std::conditional_t<size == 4, std::uint32_t, std::uint64_t>>>;
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", 2 * static_cast<int>(size),
                static_cast<unsigned long long>(std::bit_cast<word>(value)));
  return text;
}

template <class T>
std::string value_of(T value) {
  if constexpr (complex_value<T>) {
    return "(" + decimal(value.real()) + "," + decimal(value.imag()) + ")";
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (is_narrow_float<T>) {
    return decimal(static_cast<float>(value));
  } else {
    return decimal(value);
  }
}

template <class T>
std::string hex_of(T value) {
  if constexpr (complex_value<T>) {
    return "(" + hexadecimal(value.real()) + "," + hexadecimal(value.imag()) + ")";
  } else if constexpr (any_floating<T>) {
    return hexadecimal(value);
  } else {
    return "";
  }
}

template <class T>
std::string bits_of(T value) {
  if constexpr (complex_value<T>) {
    return bit_pattern(value.real()) + " " + bit_pattern(value.imag());
  } else {
    return bit_pattern(value);
  }
}

struct unit {
  double size;
  const char* name;
};

// About three significant digits; whole numbers stay whole, large ones are never in scientific
// form.
std::string three_digits(double x) {
  const int decimals = x >= 100 ? 0 : x >= 10 ? 1 : 2;
  char text[400];
  if (x < 1) {
    std::snprintf(text, sizeof text, "%.3g", x);
  } else {
    std::snprintf(text, sizeof text, "%.*f", x == std::floor(x) ? 0 : decimals, x);
  }
  return text;
}

template <std::size_t N>
std::string in_units(double x, const unit (&units)[N]) {
  for (const unit& u : units) {
    if (x >= u.size) return three_digits(x / u.size) + " " + u.name;
  }
  const unit& smallest = units[N - 1];
  return three_digits(x / smallest.size) + " " + smallest.name;
}

}  // namespace

std::string format_value(const scalar& value) {
  return visit(value.type(),
               [&]<class T>(std::type_identity<T>) { return value_of(value.as<T>()); });
}

std::string format_hex(const scalar& value) {
  return visit(value.type(), [&]<class T>(std::type_identity<T>) { return hex_of(value.as<T>()); });
}

std::string format_bits(const scalar& value) {
  return visit(value.type(),
               [&]<class T>(std::type_identity<T>) { return bits_of(value.as<T>()); });
}

std::string format_seconds(double seconds) {
  return in_units(seconds, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}});
}

std::string format_rate(double bytes_per_second) {
  return three_digits(bytes_per_second / 1e9) + " GB/s";
}

std::string format_bytes(std::int64_t bytes) {
  return in_units(static_cast<double>(bytes),
                  {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "bytes"}});
}

std::string format_significant(long double x, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*Lg", digits, x);
  return text;
}

}  // namespace tilefold::tool
