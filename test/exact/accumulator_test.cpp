// SPDX-License-Identifier: Apache-2.0
//
// Exact accumulators against MPFR, on data on which sums go wrong; shuffled, split and merged; what
// is not finite; bytes.
#include <tilefold/exact_accumulator.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <list>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "../support/seed.hpp"
#include "mpfr.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

template <class T>
class ExactAccumulator : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(ExactAccumulator, floats);

/// `zero` is what an exact zero has to be.
template <class Result>
void expect_rounded(const test::real& expected, Result got, double zero) {
  const double value = test::as_double(got);
  double want = test::as_double(expected.rounded<Result>());
  // Results that round to zero keep their sign, which not every oracle tells.
  if (want == 0.0) want = expected.is_zero() ? zero : expected.is_negative() ? -0.0 : 0.0;
  EXPECT_EQ(bytes_of(value), bytes_of(want)) << value << " " << want;
}

template <class T>
std::vector<T> multiset_of(int number, std::mt19937_64& random, double& zero) {
  const auto kind = static_cast<test::exact_kind>(number % test::num_exact_kinds);
  const auto items = test::random_multiset<T>(kind, 1 + static_cast<int>(random() % 40), random);
  zero = test::as_double(test::zero_of(items));
  return items;
}

constexpr int num_multisets = 14000;

TYPED_TEST(ExactAccumulator, IsTheRealSumRoundedOnce) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int m = 0; m < num_multisets && !testing::Test::HasFailure(); ++m) {
    SCOPED_TRACE(m);
    double zero;
    const auto items = multiset_of<T>(m, random, zero);
    exact_accumulator<T> sum;
    test::real expected;
    for (const T x : items) {
      sum.add(x);
      expected.add(test::as_double(x));
    }
    expect_rounded(expected, sum.value(), zero);
    expect_rounded(expected, sum.template value<float>(), zero);
    expect_rounded(expected, sum.template value<double>(), zero);
    const auto count = static_cast<std::int64_t>(1 + random() % 1000);
    expected.divide(static_cast<std::uint64_t>(count));
    expect_rounded(expected, sum.mean(count), zero);
    expect_rounded(expected, sum.template mean<double>(count), zero);
  }
}

TYPED_TEST(ExactAccumulator, KnowsNoOrderAndNoPieces) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int m = 0; m < 2000; ++m) {
    double zero;
    auto items = multiset_of<T>(m, random, zero);
    exact_accumulator<T> whole;
    whole.add(items.begin(), items.end());
    std::shuffle(items.begin(), items.end(), random);
    exact_accumulator<T> merged;
    for (std::size_t i = 0; i < items.size();) {
      const std::size_t next = std::min(items.size(), i + random() % 7);
      exact_accumulator<T> piece;
      while (i < next) piece.add(items[i++]);
      merged.merge(exact_accumulator<T>::from_bytes(piece.to_bytes()));
    }
    ASSERT_EQ(merged, whole) << m;
    ASSERT_EQ(merged.to_bytes(), whole.to_bytes()) << m;
  }
}

TYPED_TEST(ExactAccumulator, OfWhatIsNotFinite) {
  using T = TypeParam;
  const auto of = [](std::initializer_list<float> items) {
    exact_accumulator<T> sum;
    for (const float x : items) sum.add(static_cast<T>(x));
    return test::as_double(sum.value());
  };
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto of_these = [](std::initializer_list<T> items) {
    exact_accumulator<T> sum;
    for (const T x : items) sum.add(x);
    return test::as_double(sum.value());
  };
  const T largest =
      test::float_of<T>(false, test::float_layout<T>::exponents - 1, ~std::uint64_t{0});
  const T least = test::negated(largest);
  const T minus_infinity = static_cast<T>(-infinity);
  EXPECT_EQ(of({infinity, 1.0f}), infinity);
  EXPECT_EQ(of({1.0f, -infinity, -infinity}), -infinity);
  EXPECT_NE(of({infinity, -infinity}), of({infinity, -infinity}));
  EXPECT_NE(of({nan, infinity}), of({nan, infinity}));
  EXPECT_EQ(bytes_of(of({-nan})), bytes_of(of({nan, 1.0f})));  // one pattern for all of them
  // Overflow on the way is none, and an infinity wins over it.
  EXPECT_EQ(of_these({largest, largest, least}), test::as_double(largest));
  EXPECT_EQ(of_these({largest, largest}), infinity);
  EXPECT_EQ(of_these({least, least}), -infinity);
  EXPECT_EQ(of_these({largest, largest, minus_infinity}), -infinity);
  EXPECT_EQ(of_these({minus_infinity, largest, largest}), -infinity);
  EXPECT_EQ(bytes_of(of({})), bytes_of(0.0));
  EXPECT_EQ(bytes_of(of({-0.0f, -0.0f})), bytes_of(-0.0));
  EXPECT_EQ(bytes_of(of({-0.0f, 0.0f})), bytes_of(0.0));
  EXPECT_EQ(bytes_of(of({1.0f, -1.0f})), bytes_of(0.0));
}

TYPED_TEST(ExactAccumulator, TakesRanges) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  double zero;
  const auto items = multiset_of<T>(1, random, zero);
  exact_accumulator<T> expected;
  for (const T x : items) expected.add(x);
  const auto sum_of = [](const auto& range) {
    exact_accumulator<T> sum;
    sum.add(range);
    return sum;
  };
  EXPECT_EQ(sum_of(items), expected);
  EXPECT_EQ(sum_of(std::span<const T>(items)), expected);
  EXPECT_EQ(sum_of(std::list<T>(items.begin(), items.end())), expected);
  EXPECT_EQ(sum_of(std::vector<T>()), exact_accumulator<T>());
  const T pair[] = {items[0], items[0]};
  exact_accumulator<T> twice(items[0]);
  twice.merge(twice);
  EXPECT_EQ(sum_of(pair), twice);
  exact_accumulator<T> of_a_temporary;
  of_a_temporary.add(std::vector<T>(items));
  EXPECT_EQ(of_a_temporary, expected);
}

template <class Sum, class Range>
concept takes_range = requires(Sum sum, Range range) { sum.add(range); };

TEST(ExactAccumulatorOfRanges, TakesOnlyWhatIsExact) {
  static_assert(takes_range<exact_accumulator<double>, std::vector<float>>);
  static_assert(!takes_range<exact_accumulator<float>, std::vector<double>>);
  static_assert(!takes_range<exact_accumulator<float>, std::vector<int>>);
  static_assert(takes_range<exact_accumulator<std::int64_t>, std::vector<bool>>);
  exact_accumulator<double> sum;
  sum.add(std::vector<float>{1.5f, 0x1p-149f});
  EXPECT_EQ(sum.value(), 1.5 + 0.0);
  sum.add(-1.5);
  EXPECT_EQ(sum.value(), 0x1p-149);
  exact_accumulator<std::int64_t> count;
  count.add(std::vector<bool>{true, false, true});
  EXPECT_EQ(count.value(), 2);
}

TEST(ExactAccumulatorOfDoubles, IsRightWhereOthersAreNot) {
  const auto of = [](std::vector<double> items) {
    exact_accumulator<double> sum;
    sum.add(items.begin(), items.end());
    return sum.value();
  };
  EXPECT_EQ(of({1e300, 1e300}), 2e300);
  EXPECT_EQ(of({1e16, 1.0, 1e-16}), 10000000000000002.0);
  EXPECT_EQ(of({1e100, 1.0, -1e100}), 1.0);
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(of({most, most, -most, -5e-324}), std::nextafter(most, most));
  EXPECT_EQ(of({most, most}), std::numeric_limits<double>::infinity());
  // Half of the last unit of the largest number rounds to infinity, a little less does not.
  EXPECT_EQ(of({most, 0x1p969}), most);
  EXPECT_EQ(of({most, 0x1p970}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(of({most, 0x1p970, -5e-324}), most);
}

TEST(ExactAccumulatorOfIntegers, HoldsWhatTheTypeDoesNot) {
  exact_accumulator<std::int64_t> sum;
  const auto most = std::numeric_limits<std::int64_t>::max();
  const auto least = std::numeric_limits<std::int64_t>::min();
  for (int i = 0; i < 3; ++i) sum.add(most);
  EXPECT_EQ(sum.value<double>(), 0x3p63);
  EXPECT_EQ(sum.value(), static_cast<std::int64_t>(3 * static_cast<std::uint64_t>(most)));
  for (int i = 0; i < 4; ++i) sum.add(least);
  EXPECT_EQ(sum.value(), static_cast<std::int64_t>(3 * static_cast<std::uint64_t>(most) +
                                                   4 * static_cast<std::uint64_t>(least)));
  EXPECT_EQ(sum.value<double>(), -0x1p63);  // -2^63 - 3 is nearest to it
  exact_accumulator<std::uint64_t> big;
  big.add(~std::uint64_t{0});
  big.add(2);
  EXPECT_EQ(big.value(), 1u);
  EXPECT_EQ(big.value<double>(), 0x1p64);
  EXPECT_EQ(big.mean(2), 0x1p63);
}

// What is not exact in T would be rounded, or cut off, before it is added.
template <class Sum, class Item>
concept takes = std::constructible_from<Sum, Item> && requires(Sum& sum, Item x) { sum.add(x); };
static_assert(takes<exact_accumulator<double>, float> && takes<exact_accumulator<double>, int>);
static_assert(!takes<exact_accumulator<float>, double> && !takes<exact_accumulator<float>, int>);
static_assert(!takes<exact_accumulator<int>, double> && takes<exact_accumulator<int>, long>);

TEST(ExactAccumulatorOfIntegers, TakesOthersAsTheyAre) {
  exact_accumulator<std::int8_t> sum(300);
  sum.add(std::int64_t{1} << 40);
  EXPECT_EQ(sum.value(), (std::int64_t{1} << 40) + 300);
  exact_accumulator<std::uint32_t> below_zero(-5);
  below_zero.add(std::uint32_t{1});
  EXPECT_EQ(below_zero.value<double>(), -4.0);
}

TEST(ExactAccumulatorBytes, AreRefusedIfTheyAreAnother) {
  const exact_accumulator<float> one(1.0f);
  const auto bytes = one.to_bytes();
  const std::span<const std::byte> all(bytes);
  EXPECT_THROW(exact_accumulator<float>::from_bytes(all.first(all.size() - 1)), format_error);
  EXPECT_THROW(exact_accumulator<double>::from_bytes(all), format_error);
  EXPECT_THROW(exact_accumulator<float>::from_bytes({}), format_error);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto altered = bytes;
    altered[i] ^= std::byte{1};
    EXPECT_THROW(exact_accumulator<float>::from_bytes(altered), format_error) << i;
  }
  const exact_accumulator<std::int32_t> integer(1);
  EXPECT_THROW(exact_accumulator<half>::from_bytes(integer.to_bytes()), format_error);
  EXPECT_EQ(exact_accumulator<float>::from_bytes(bytes), one);
}

// Of bytes that are altered at random, with a checksum that fits or not, all are refused that no
// accumulator gives.
TEST(ExactAccumulatorBytes, AreNeverTakenForAnother) {
  std::mt19937_64 random(test::seed());
  int taken = 0;
  for (int m = 0; m < 20000; ++m) {
    exact_accumulator<float> sum;
    for (const float x : test::random_multiset<float>(
             static_cast<test::exact_kind>(m % test::num_exact_kinds), 3, random)) {
      sum.add(x);
    }
    if (m % 5 == 0) sum.add(std::numeric_limits<float>::infinity());
    const auto original = sum.to_bytes();
    std::vector<std::byte> bytes(original.begin(), original.end());
    if (m % 7 == 0) {
      bytes.resize(random() % (2 * bytes.size()));
    } else {
      for (auto flips = random() % 3; flips < 3; ++flips) {
        bytes[random() % bytes.size()] ^= static_cast<std::byte>(random() % 256);
      }
    }
    if (m % 2 != 0 && bytes.size() == original.size()) {
      std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
      for (std::size_t i = 0; i + 8 < bytes.size(); ++i) {
        hash = (hash ^ std::to_integer<std::uint64_t>(bytes[i])) * 0x100000001b3u;
      }
      for (std::size_t i = 0; i < 8; ++i) {
        bytes[bytes.size() - 8 + i] = static_cast<std::byte>(hash >> (8 * i) & 0xff);
      }
    }
    try {
      const auto read = exact_accumulator<float>::from_bytes(bytes);
      const auto again = read.to_bytes();
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), again.begin(), again.end())) << m;
      ASSERT_EQ(exact_accumulator<float>::from_bytes(again), read) << m;
      ++taken;
    } catch (const format_error&) {
    }
  }
  EXPECT_GT(taken, 100);
}

TEST(ExactAccumulatorBytes, OfMinusZeroBesideOthersAreThoseOfTheOthers) {
  exact_accumulator<float> sum(-0.0f);
  EXPECT_NE(sum, exact_accumulator<float>());
  EXPECT_NE(sum.to_bytes(), exact_accumulator<float>().to_bytes());
  sum.add(1.0f);
  EXPECT_EQ(sum, exact_accumulator<float>(1.0f));
  EXPECT_EQ(sum.to_bytes(), exact_accumulator<float>(1.0f).to_bytes());
  EXPECT_EQ(exact_accumulator<float>::from_bytes(sum.to_bytes()), sum);
}

TEST(ExactAccumulatorBytes, OfWhatIsNotFiniteSayNothingElse) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto of = [](const std::vector<float>& items) {
    exact_accumulator<float> sum;
    for (const float x : items) sum.add(x);
    return sum;
  };
  const auto expect_equal = [&](const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(of(a), of(b));
    EXPECT_EQ(of(a).to_bytes(), of(b).to_bytes());
    EXPECT_EQ(exact_accumulator<float>::from_bytes(of(a).to_bytes()), of(b));
  };
  expect_equal({infinity}, {1.0f, infinity, -0.0f});
  expect_equal({-infinity, 2.0f}, {-infinity, -infinity});
  expect_equal({nan}, {-nan, infinity, 3.0f});
  expect_equal({nan, 1.0f}, {infinity, -infinity});
  EXPECT_NE(of({infinity}), of({-infinity}));
  EXPECT_NE(of({infinity}), of({nan}));
  EXPECT_NE(of({infinity}), of({1.0f}));
  EXPECT_NE(of({infinity}).to_bytes(), of({-infinity}).to_bytes());
  // And what comes later still counts.
  auto sum = exact_accumulator<float>::from_bytes(of({infinity, 1.0f}).to_bytes());
  EXPECT_EQ(sum.value(), infinity);
  sum.add(-infinity);
  EXPECT_TRUE(std::isnan(sum.value()));
  EXPECT_EQ(sum, of({nan}));
}

TEST(ExactAccumulatorBytes, AreTheSameOnEveryMachine) {
  exact_accumulator<half> sum;
  sum.add(half(1.5f));
  sum.add(half(-3.0f));
  std::string digits;
  for (const std::byte b : sum.to_bytes()) {
    digits += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    digits += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  // "TFXA", version 2, kind 3, two words; other; -1.5 2^24 in words with signs; and FNV-1a of
  // these.
  EXPECT_EQ(digits.substr(0, 64),
            "5446584102030200"
            "1000000000000000"
            "000080feffffffff"
            "0000000000000000");
}

}  // namespace
}  // namespace tilefold
