// SPDX-License-Identifier: Apache-2.0
//
// The bits of results as text, and a number for many of them; for programs that are built by
// several compilers and must print the same (host_bits.cpp, ../compilers/bits.cu).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace tilefold::test::closed_reducer {

/// 31 bits at a time of a linear congruential sequence, as golden/make_golden.py has it.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

 private:
  std::uint64_t state_;
};

template <class T>
std::string hex(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  std::string text;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(bytes[i]));
    text += two;
  }
  return text;
}

/// Of every number that a result has.
template <class T>
std::string bits(const T& x) {
  if constexpr (requires { x.template get<0>(); }) {
    return bits(x.template get<0>()) + "," + bits(x.template get<1>());
  } else if constexpr (requires { x.value, x.index; }) {
    return bits(x.value) + "@" + bits(x.index);
  } else if constexpr (requires { x.min, x.max; }) {
    return bits(x.min) + "," + bits(x.max);
  } else if constexpr (requires { x.max, x.sum; }) {
    return bits(x.max) + "," + bits(x.sum);
  } else if constexpr (requires { x.mean, x.variance; }) {
    return bits(x.mean) + "," + bits(x.variance);
  } else if constexpr (requires { x[0], x.size(); }) {
    std::string text;
    for (std::int64_t i = 0; i < x.size(); ++i) text += (i > 0 ? "," : "") + bits(x[i]);
    return text;
  } else {
    return hex(x);
  }
}

/// Results [0, n), folded into one number that knows their order.
template <class T>
std::uint64_t digest(const T* results, std::int64_t n) {
  std::uint64_t hash = 14695981039346656037u;
  for (std::int64_t i = 0; i < n; ++i) {
    for (const char c : bits(results[i])) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    }
  }
  return hash;
}

}  // namespace tilefold::test::closed_reducer
