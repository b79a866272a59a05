// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a reducer's result, without the padding between its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/pack.hpp>
#include <tilefold/half.hpp>

namespace tilefold::test {

/// Appends the values of a number, of several reducers' results, of a list,
/// or of a pair of any of these.
template <class T>
void append_bytes(std::string& bytes, const T& value);

template <std::size_t... I, class... T>
void append_bytes(std::string& bytes, const detail::pack_of<std::index_sequence<I...>, T...>& x) {
  (append_bytes(bytes, x.template get<I>()), ...);
}
template <class T>
void append_bytes(std::string& bytes, const T& value) {
  if constexpr (std::is_arithmetic_v<T> || is_narrow_float<T>) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
  } else if constexpr (requires { value.size(); }) {
    append_bytes(bytes, value.size());
    for (std::int64_t i = 0; i < value.size(); ++i) append_bytes(bytes, value[i]);
  } else {
    const auto& [first, second] = value;
    append_bytes(bytes, first);
    append_bytes(bytes, second);
  }
}

/// The same as hexadecimal digits.
template <class T>
std::string bits_of(const T& result) {
  std::string bytes;
  append_bytes(bytes, result);
  std::string digits;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

}  // namespace tilefold::test
