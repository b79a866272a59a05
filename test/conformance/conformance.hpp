// SPDX-License-Identifier: Apache-2.0
//
// One test body for every backend: the backend's result must have the bits of the oracle's, for
// every case, kind of data, length and misalignment. So any two backends that pass have equal bits.
//
// A backend offers fold<Named>(items, n, shift, op): reduce<Named> over n items copied to where
// they start `shift` items past an address aligned to 256 bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases.hpp"

namespace tilefold::test {

// One function for all types: each would be compiled a hundred times.
inline std::string hex_of_bytes(const void* value, std::size_t size) {
  const auto* const bytes = static_cast<const unsigned char*>(value);
  std::ostringstream out;
  for (std::size_t i = size; i-- > 0;) {
    out << std::hex << std::setw(2) << std::setfill('0') << static_cast<int>(bytes[i]);
  }
  return out.str();
}
inline ::testing::AssertionResult same_bytes(const void* got, const void* expected,
                                             std::size_t size) {
  if (std::memcmp(got, expected, size) == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "bits 0x" << hex_of_bytes(got, size) << ", expected 0x" << hex_of_bytes(expected, size);
}

template <class T>
std::string hex_of(const T& value) {
  return hex_of_bytes(&value, sizeof(T));
}
template <class T>
::testing::AssertionResult same_bits(const T& got, const T& expected) {
  return same_bytes(&got, &expected, sizeof(T));
}

/// Lengths at which something changes: odd ends on each level, around a warp's, a tile's and a
/// vector's worth of items.
inline std::vector<std::int64_t> conformance_sizes(pattern p) {
  std::vector<std::int64_t> sizes{1,   2,   3,    4,    5,    7,    8,    15,   16,   17,  31,
                                  32,  33,  63,   65,   100,  127,  128,  129,  255,  257, 511,
                                  513, 777, 1000, 1023, 1024, 1025, 2049, 4095, 4097, 5000};
  if (p == pattern::mixed) {
    for (const std::int64_t n : {8191, 10007, 16385, 32768, 65535, 100003, 262145}) {
      sizes.push_back(n);
    }
  }
  return sizes;
}

// vector<bool> has no pointer to its items.
template <class T>
std::unique_ptr<T[]> contiguous(const std::vector<T>& items) {
  std::unique_ptr<T[]> copy(new T[items.size()]);
  for (std::size_t i = 0; i < items.size(); ++i) copy[i] = items[i];
  return copy;
}

template <class Case, class Backend>
void conforms_at(Backend& backend, pattern p, std::int64_t n) {
  using accumulator = typename Case::accumulator;
  const auto items = make_items<typename Case::value>(p, n);
  const auto copy = contiguous(items);
  const auto expected = reference::fold<accumulator>(typename Case::reference_op{}, items);
  for (const int shift : {0, 1, 2, 3, 7}) {
    if (shift != 0 && n % 2 == 0 && n < 1000) continue;
    const auto got = backend.template fold<typename Case::named_accumulator>(copy.get(), n, shift,
                                                                             typename Case::op{});
    static_assert(std::is_same_v<std::remove_const_t<decltype(got)>, accumulator>);
    ASSERT_TRUE(same_bits<accumulator>(got, expected))
        << name_of(p) << ", n = " << n << ", shift = " << shift;
  }
}

template <class Case, class Backend>
void conforms(Backend& backend) {
  for (const pattern p : patterns_of<typename Case::value>()) {
    for (const std::int64_t n : conformance_sizes(p)) {
      conforms_at<Case>(backend, p, n);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace tilefold::test
