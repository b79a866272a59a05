// SPDX-License-Identifier: Apache-2.0
//
// Committed bits that folds must have on every backend, written by make_golden.py without the
// library, and the items they were folded from, spelled here a second time.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/half.hpp>
#include <tilefold/op.hpp>

#include "../conformance/cases.hpp"
#include "../conformance/conformance.hpp"
#include "../support/order.hpp"

namespace tilefold::test::golden {

struct row {
  const char* name;
  std::int64_t n;
  const char* bytes;
};

inline constexpr row rows[] = {
#include "golden.inc"
};

/// The script's generator of the same name.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

 private:
  std::uint64_t state_;
};

inline float float_item(numbers& r, std::uint32_t spread) {
  const std::uint32_t sign = r.next() & 1;
  const std::uint32_t significand = r.next() & 0x7fffff;
  const std::uint32_t exponent = 127 + r.next() % (2 * spread + 1) - spread;
  return std::bit_cast<float>(sign << 31 | exponent << 23 | significand);
}

inline float near_one_item(numbers& r, int binade) {
  const std::uint32_t sign = r.next() & 1;
  const std::uint32_t above = r.next() & 1;
  const std::uint32_t distance = r.next() & 0x1ffff;
  const std::uint32_t significand = above != 0 ? distance : 0x7fffff - 2 * distance;
  const std::uint32_t exponent = 126 + above + static_cast<std::uint32_t>(binade);
  return std::bit_cast<float>(sign << 31 | exponent << 23 | significand);
}

inline double double_item(numbers& r, std::uint64_t spread) {
  const std::uint64_t sign = r.next() & 1;
  const std::uint64_t high = r.next() & 0xfffff;
  const std::uint64_t low = r.next() & 0x7fffffff;
  const std::uint64_t exponent = 1023 + r.next() % (2 * spread + 1) - spread;
  return std::bit_cast<double>(sign << 63 | exponent << 52 | high << 32 | low);
}

inline half half_item(numbers& r) {
  const std::uint32_t sign = r.next() & 1;
  const std::uint32_t significand = r.next() & 0x3ff;
  const std::uint32_t exponent = r.next() % 24;
  return std::bit_cast<half>(static_cast<std::uint16_t>(sign << 15 | exponent << 10 | significand));
}

inline bfloat16 bfloat16_item(numbers& r) {
  const std::uint32_t sign = r.next() & 1;
  const std::uint32_t significand = r.next() & 0x7f;
  const std::uint32_t exponent = 120 + r.next() % 15;
  return std::bit_cast<bfloat16>(
      static_cast<std::uint16_t>(sign << 15 | exponent << 7 | significand));
}

/// Holds every row of case `name` against fold(items, n, op); `item` makes one item.
template <class Item, class Op, class Fold>
void expect_case(const char* name, std::uint64_t seed, Item item, Op op, Fold& fold) {
  numbers r(seed);
  std::vector<decltype(item(r))> items;
  int checked = 0;
  for (const row& wanted : rows) {
    if (std::string(wanted.name) != name) continue;
    while (static_cast<std::int64_t>(items.size()) < wanted.n) items.push_back(item(r));
    EXPECT_EQ(hex_of(fold(items, wanted.n, op)), wanted.bytes) << name << ", n = " << wanted.n;
    ++checked;
  }
  EXPECT_GT(checked, 20) << name;
}

/// Every case, folded by fold(items, n, op).
template <class Fold>
void expect_all(Fold fold) {
  expect_case("float_sum", 1, [](numbers& r) { return float_item(r, 12); }, plus{}, fold);
  expect_case(
      "float_product", 2, [](numbers& r) { return near_one_item(r, 0); }, multiplies{}, fold);
  expect_case("float_minimum", 3, [](numbers& r) { return float_item(r, 12); }, minimum{}, fold);
  expect_case("double_sum", 4, [](numbers& r) { return double_item(r, 30); }, plus{}, fold);
  expect_case("double_maximum", 5, [](numbers& r) { return double_item(r, 30); }, maximum{}, fold);
  expect_case("half_sum", 6, half_item, plus{}, fold);
  expect_case("bfloat16_sum", 7, bfloat16_item, plus{}, fold);
  expect_case(
      "int32_sum", 8, [](numbers& r) { return static_cast<std::int32_t>(2 * r.next()); }, plus{},
      fold);
  expect_case(
      "uint8_sum", 9, [](numbers& r) { return static_cast<std::uint8_t>(r.next()); }, plus{}, fold);
  expect_case(
      "int64_product", 10,
      [](numbers& r) {
        const std::uint64_t high = r.next();
        return static_cast<std::int64_t>((high << 31 | r.next()) | 1);
      },
      multiplies{}, fold);
  expect_case(
      "complex_product", 11,
      [](numbers& r) {
        const float re = near_one_item(r, 0);
        return std::complex<float>(re, near_one_item(r, -6));
      },
      multiplies{}, fold);
  expect_case(
      "matrix_product", 12,
      [](numbers& r) {
        matrix_product::matrix m;
        for (std::uint32_t& entry : m.word) entry = r.next() % prime;
        return m;
      },
      matrix_product{}, fold);
  expect_case("order_hash", 13, [](numbers& r) { return leaf_hash(r.next()); }, node_hash{}, fold);
}

}  // namespace tilefold::test::golden
