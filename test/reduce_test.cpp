// SPDX-License-Identifier: Apache-2.0
//
// The call forms of reduce and reduce_into on the host: how arguments are read, every kind of
// range, empty ranges, initial values, and against the standard library. Calls are qualified as
// users' should be: with std iterators an unqualified reduce is also looked up in std.
#include <tilefold/reduce.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/conformance.hpp"
#include "conformance/reference.hpp"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold {
namespace {

using test::same_bits;

TEST(ReduceCalls, TakeOperatorOrInitialValueOrBoth) {
  const std::vector<int> x{3, 1, 2};
  const auto first = x.begin();
  const auto last = x.end();
  EXPECT_EQ(tilefold::reduce(first, last), 6);
  EXPECT_EQ(tilefold::reduce(first, last, maximum{}), 3);
  EXPECT_EQ(tilefold::reduce(first, last, 10), 16);
  EXPECT_EQ(tilefold::reduce(first, last, 10, maximum{}), 10);
  EXPECT_EQ(tilefold::reduce(first, last, [](int a, int b) { return 10 * a + b; }), 312);
}

TEST(ReduceCalls, TakeRanges) {
  const std::vector<int> x{3, 1, 2};
  EXPECT_EQ(tilefold::reduce(x), 6);
  EXPECT_EQ(tilefold::reduce(x, maximum{}), 3);
  EXPECT_EQ(tilefold::reduce(x, 10), 16);
  EXPECT_EQ(tilefold::reduce(x, 10, std::multiplies<>{}), 60);
  EXPECT_EQ(tilefold::reduce(std::array<int, 3>{3, 1, 2}), 6);
  EXPECT_EQ(tilefold::reduce(std::span<const int>(x)), 6);
  const int plain[] = {3, 1, 2};
  EXPECT_EQ(tilefold::reduce(plain), 6);
  EXPECT_EQ(tilefold::reduce(plain, plain + 3), 6);
}

TEST(ReduceCalls, TakeAnExecutorFirst) {
  const std::vector<int> x{3, 1, 2};
  host_executor exec;
  const host_executor constant;
  EXPECT_EQ(tilefold::reduce(exec, x.begin(), x.end()), 6);
  EXPECT_EQ(tilefold::reduce(exec, x.begin(), x.end(), minimum{}), 1);
  EXPECT_EQ(tilefold::reduce(exec, x.begin(), x.end(), 10), 16);
  EXPECT_EQ(tilefold::reduce(exec, x.begin(), x.end(), 10, plus{}), 16);
  EXPECT_EQ(tilefold::reduce(exec, x), 6);
  EXPECT_EQ(tilefold::reduce(exec, x, minimum{}), 1);
  EXPECT_EQ(tilefold::reduce(exec, x, 10), 16);
  EXPECT_EQ(tilefold::reduce(exec, x, 10, plus{}), 16);
  EXPECT_EQ(tilefold::reduce(constant, x), 6);
  EXPECT_EQ(tilefold::reduce(host_executor(), x), 6);
  EXPECT_EQ(tilefold::reduce(with_policy<tile_policy{128, 8}>(exec), x), 6);
  EXPECT_EQ(tilefold::reduce(with_policy<tile_policy{128, 8}>(constant), x, 10), 16);
}

TEST(ReduceCalls, TakeStandardFunctors) {
  const std::vector<unsigned> x{12, 10, 9};
  EXPECT_EQ(tilefold::reduce(x, std::plus<>{}), 31u);
  EXPECT_EQ(tilefold::reduce(x, std::plus<unsigned>{}), 31u);
  EXPECT_EQ(tilefold::reduce(x, std::multiplies<>{}), 1080u);
  EXPECT_EQ(tilefold::reduce(x, std::bit_and<>{}), 8u);
  EXPECT_EQ(tilefold::reduce(x, std::bit_or<>{}), 15u);
  EXPECT_EQ(tilefold::reduce(x, std::bit_xor<>{}), 15u);
  EXPECT_TRUE(tilefold::reduce(x, std::logical_and<>{}));
  EXPECT_TRUE(tilefold::reduce(x, std::logical_or<>{}));
}

unsigned digits(unsigned a, unsigned b) { return 10 * a + b; }

TEST(ReduceCalls, TakeFunctionPointersAndStatefulOperators) {
  const std::vector<unsigned> x{1, 2};
  EXPECT_EQ(tilefold::reduce(x, digits), 12u);
  EXPECT_EQ(tilefold::reduce(x, &digits), 12u);
  const unsigned base = 100;
  EXPECT_EQ(tilefold::reduce(x, [base](unsigned a, unsigned b) { return base * a + b; }), 102u);
  const std::function<unsigned(unsigned, unsigned)> stored = digits;
  EXPECT_EQ(tilefold::reduce(x, stored), 12u);
}

// An initial value that is callable with nothing is no operator.
struct odd_value {
  int value;
  friend odd_value operator+(odd_value a, odd_value b) { return {a.value + b.value}; }
};

TEST(ReduceCalls, TakeAnInitialValueOfAUsersType) {
  const std::vector<odd_value> x{{1}, {2}};
  EXPECT_EQ(tilefold::reduce(x).value, 3);
  EXPECT_EQ(tilefold::reduce(x, odd_value{10}).value, 13);
}

TEST(ReduceIterators, OfEveryKind) {
  std::vector<double> x(1000);
  std::iota(x.begin(), x.end(), 0.25);
  const double expected = tilefold::reduce(x.data(), x.data() + x.size());
  EXPECT_EQ(expected, test::reference::fold<double>(test::reference::plus{}, x));

  const std::deque<double> pieces(x.begin(), x.end());
  EXPECT_EQ(tilefold::reduce(pieces), expected);
  EXPECT_EQ(tilefold::reduce(x.cbegin(), x.cend()), expected);
  EXPECT_EQ(tilefold::reduce(std::span<double>(x)), expected);
  const auto quarters = std::views::iota(0, 1000) |
                        std::views::transform([](int i) { return static_cast<double>(i) + 0.25; });
  EXPECT_EQ(tilefold::reduce(quarters.begin(), quarters.end()), expected);
  EXPECT_EQ(tilefold::reduce(quarters), expected);

  std::vector<double> backwards(x.rbegin(), x.rend());
  EXPECT_EQ(tilefold::reduce(backwards.rbegin(), backwards.rend()), expected);
  EXPECT_EQ(tilefold::reduce(std::move_iterator(x.begin()), std::move_iterator(x.end())), expected);
}

TEST(ReduceIterators, WithProxies) {
  std::vector<bool> bits(777, true);
  bits[5] = false;
  EXPECT_EQ(tilefold::reduce(bits), 776);
  EXPECT_EQ(tilefold::reduce(bits.begin(), bits.end(), logical_and{}), false);
  EXPECT_EQ(tilefold::reduce(bits, bit_xor{}), false);
}

TEST(ReduceInput, IsNeverWritten) {
  std::vector<float> x = test::make_items<float>(test::pattern::any_bits, 10007);
  const std::vector<float> before = x;
  (void)tilefold::reduce(x);
  (void)tilefold::reduce(x, minimum{});
  (void)tilefold::reduce(x.data(), x.data() + x.size(), 1.0f, multiplies{});
  EXPECT_EQ(std::memcmp(x.data(), before.data(), x.size() * sizeof(float)), 0);
  // And may be const all the way down.
  const std::vector<float> constant = before;
  static_assert(std::is_same_v<decltype(tilefold::reduce(constant)), float>);
}

TEST(ReduceValues, NeedNoDefaultConstructor) {
  struct fixed {
    int value;
    explicit fixed(int v) : value(v) {}
  };
  std::vector<fixed> x;
  for (int i = 1; i <= 100; ++i) x.emplace_back(i);
  const fixed sum =
      tilefold::reduce(x, [](const fixed& a, const fixed& b) { return fixed(a.value + b.value); });
  EXPECT_EQ(sum.value, 5050);
}

TEST(ReduceValues, MayOwnMemory) {
  std::vector<std::string> words;
  std::string joined;
  for (int i = 0; i < 1000; ++i) {
    words.push_back(std::to_string(i) + " ");
    joined += words.back();
  }
  EXPECT_EQ(tilefold::reduce(words), joined);
  EXPECT_EQ(tilefold::reduce(words, std::plus<>{}), joined);
  EXPECT_EQ(tilefold::reduce(words, std::string("start ")), "start " + joined);
}

TEST(ReduceEmpty, GivesTheInitialValue) {
  const std::vector<float> none;
  EXPECT_EQ(tilefold::reduce(none, 2.5f), 2.5f);
  EXPECT_EQ(tilefold::reduce(none, 2.5f, multiplies{}), 2.5f);
  EXPECT_EQ(tilefold::reduce(none, 3, [](float a, float b) { return a - b; }), 3.0f);
  EXPECT_EQ(tilefold::reduce(static_cast<const float*>(nullptr), static_cast<const float*>(nullptr),
                             1.0f),
            1.0f);
}

TEST(ReduceEmpty, GivesTheIdentityIfThereIsOne) {
  const std::vector<float> none;
  EXPECT_TRUE(same_bits(tilefold::reduce(none), -0.0f));
  EXPECT_EQ(tilefold::reduce(none, multiplies{}), 1.0f);
  EXPECT_EQ(tilefold::reduce(none, minimum{}), INFINITY);
  EXPECT_EQ(tilefold::reduce(none, maximum{}), -INFINITY);
  EXPECT_TRUE(std::isnan(tilefold::reduce(none, minimum_number{})));
  EXPECT_EQ(tilefold::reduce(std::vector<int>{}), 0);
  EXPECT_EQ(tilefold::reduce(std::vector<int>{}, minimum{}), std::numeric_limits<int>::max());
  EXPECT_EQ(tilefold::reduce(std::vector<unsigned>{}, bit_and{}), ~0u);
  EXPECT_EQ(tilefold::reduce(std::vector<bool>{}, logical_and{}), true);
  EXPECT_TRUE(same_bits(tilefold::reduce(std::vector<std::complex<float>>{}),
                        std::complex<float>(-0.0f, -0.0f)));
}

struct subtract {
  int operator()(int a, int b) const { return a - b; }
};

TEST(ReduceEmpty, ThrowsAndNamesTheOperatorOtherwise) {
  try {
    (void)tilefold::reduce(std::vector<int>{}, subtract{});
    FAIL() << "nothing was thrown";
  } catch (const empty_range_error& e) {
    EXPECT_NE(std::string(e.what()).find("subtract"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("empty"), std::string::npos) << e.what();
  }
}

TEST(ReduceNaN, IsCanonicalWhateverWentIn) {
  const float odd = std::bit_cast<float>(0xffc12345u);
  const float canonical = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(same_bits(tilefold::reduce(std::vector<float>{odd}), canonical));
  EXPECT_TRUE(same_bits(tilefold::reduce(std::vector<float>{1, odd, 2}), canonical));
  EXPECT_TRUE(same_bits(tilefold::reduce(std::vector<float>{odd, 2}, minimum{}), canonical));
  EXPECT_TRUE(same_bits(tilefold::reduce(std::vector<float>{INFINITY, -INFINITY}), canonical));
  EXPECT_TRUE(same_bits(tilefold::reduce(std::vector<float>{}, odd), canonical));
  EXPECT_TRUE(
      same_bits(tilefold::reduce(std::vector<double>{std::bit_cast<double>(0xfff0000000000001ull)}),
                std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(
      tilefold::reduce(std::vector<half>{std::bit_cast<half>(std::uint16_t{0xfe01})}, maximum{})
          .bits,
      0x7e00);
  EXPECT_EQ(tilefold::reduce(std::vector<float>{odd, 3, 2}, minimum_number{}), 2.0f);
}

// What is written is converted first, and the NaN made canonical in the type it is written in.
TEST(ReduceNaN, IsCanonicalInTheTypeOfTheOutput) {
  const host_executor exec;
  const double odd = std::bit_cast<double>(0xfff8000012345678ull);
  for (const auto& x :
       {std::vector<double>{odd}, std::vector<double>{1.0, odd, 2.0},
        std::vector<double>{INFINITY, -INFINITY}, std::vector<double>{1e308, 1e308, -INFINITY}}) {
    double wide = 0;
    float narrow = 0;
    half narrower;
    bfloat16 brain;
    reduce_into(exec, x, &wide);
    reduce_into(exec, x, &narrow);
    reduce_into(exec, x, &narrower);
    reduce_into(exec, x, &brain);
    EXPECT_TRUE(same_bits(wide, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow), 0x7fc00000u);
    EXPECT_EQ(narrower.bits, 0x7e00);
    EXPECT_EQ(brain.bits, 0x7fc0);
  }
}

TEST(ReduceInto, OverflowsToInfinityInTheTypeOfTheOutput) {
  const host_executor exec;
  float narrow = 0;
  half narrower;
  for (const double sign : {1.0, -1.0}) {
    reduce_into(exec, std::vector<double>{sign * 1e300, sign * 1e300}, &narrow);
    EXPECT_TRUE(same_bits(narrow, static_cast<float>(sign) * INFINITY));
    reduce_into(exec, std::vector<double>{sign * 65504.0, sign * 16.0}, &narrower);
    EXPECT_EQ(narrower.bits, sign > 0 ? 0x7c00 : 0xfc00) << "halfway to 65536 rounds to even";
    reduce_into(exec, std::vector<double>{sign * 65504.0, sign * 15.5}, &narrower);
    EXPECT_EQ(narrower.bits, sign > 0 ? 0x7bff : 0xfbff);
  }
}

TEST(ReduceInitialValue, IsTheLeftOperandOfTheRoot) {
  const std::vector<float> x = test::make_items<float>(test::pattern::mixed, 1001);
  const float init = 1.0e6f;
  EXPECT_TRUE(same_bits(tilefold::reduce(x, init), init + tilefold::reduce(x)));
  const std::vector<int> y{1, 2, 3, 4};
  EXPECT_EQ(tilefold::reduce(y, 100, [](int a, int b) { return a - b; }),
            100 - ((1 - 2) - (3 - 4)));
}

TEST(ReduceInto, WritesThroughTheOutput) {
  const std::vector<int> x{3, 1, 2};
  host_executor exec;
  int out = -1;
  reduce_into(exec, x.begin(), x.end(), &out);
  EXPECT_EQ(out, 6);
  reduce_into(exec, x.begin(), x.end(), &out, minimum{});
  EXPECT_EQ(out, 1);
  reduce_into(exec, x.begin(), x.end(), &out, 10);
  EXPECT_EQ(out, 16);
  reduce_into(exec, x.begin(), x.end(), &out, 10, maximum{});
  EXPECT_EQ(out, 10);
  std::vector<double> outs(2, -1.0);
  reduce_into(exec, x.begin(), x.end(), outs.begin() + 1);
  EXPECT_EQ(outs, (std::vector<double>{-1.0, 6.0}));
  reduce_into(exec, x.begin(), x.begin(), &out);
  EXPECT_EQ(out, 0);
  reduce_into(exec, x.begin(), x.begin(), &out, 7);
  EXPECT_EQ(out, 7);
  reduce_into<double>(exec, x.begin(), x.end(), outs.begin(), 0.5);
  EXPECT_EQ(outs[0], 6.5);
}

TEST(ReduceInto, TakesRanges) {
  const std::vector<float> x = test::make_items<float>(test::pattern::mixed, 1001);
  host_executor exec;
  float out = 0;
  reduce_into(exec, x, &out);
  EXPECT_TRUE(same_bits(out, tilefold::reduce(x)));
  reduce_into(exec, x, &out, minimum{});
  EXPECT_TRUE(same_bits(out, tilefold::reduce(x, minimum{})));
  reduce_into(exec, x, &out, 2.5f);
  EXPECT_TRUE(same_bits(out, tilefold::reduce(x, 2.5f)));
  reduce_into(exec, std::span<const float>(x), &out, 2.5f, maximum{});
  EXPECT_TRUE(same_bits(out, tilefold::reduce(x, 2.5f, maximum{})));
  std::vector<double> wide(1);
  reduce_into<double>(with_policy<tile_policy{32, 1}>(exec), x, wide.begin());
  EXPECT_TRUE(same_bits(wide[0], tilefold::reduce<double>(x)));
  const std::vector<float> none;
  reduce_into(exec, none, &out, 7.5f);
  EXPECT_EQ(out, 7.5f);
  EXPECT_THROW(reduce_into(exec, none, &out, subtract{}), empty_range_error);
  EXPECT_EQ(out, 7.5f);
}

// An array is also a pointer to its first item, as `out` may be one to an item of that type.
TEST(ReduceInto, TellsArraysFromPointers) {
  const int x[] = {3, 1, 2};
  int y[] = {3, 1, 2};
  host_executor exec;
  int out = 0;
  reduce_into(exec, x, &out);
  EXPECT_EQ(out, 6);
  reduce_into(exec, y, &out);
  EXPECT_EQ(out, 6);
  reduce_into(exec, y, &out, 10);
  EXPECT_EQ(out, 16);
  reduce_into(exec, y, &out, maximum{});
  EXPECT_EQ(out, 3);
  reduce_into(exec, y, &out, [](int a, int b) { return 10 * a + b; });
  EXPECT_EQ(out, 312);
  reduce_into(exec, y, &out, 10, multiplies{});
  EXPECT_EQ(out, 60);
  reduce_into(exec, y, y + 2, &out);
  EXPECT_EQ(out, 4);
  reduce_into(exec, y, y + 2, &out, 10);
  EXPECT_EQ(out, 14);
  reduce_into(exec, y, y + 2, &out, 10, maximum{});
  EXPECT_EQ(out, 10);
}

TEST(ReduceInto, WritesNothingIfItThrows) {
  const std::vector<int> x{3, 1, 2};
  host_executor exec;
  int out = -1;
  EXPECT_THROW(reduce_into(exec, x.end(), x.begin(), &out), invalid_range_error);
  EXPECT_THROW(reduce_into(exec, x.begin(), x.begin(), &out, subtract{}), empty_range_error);
  const int* null = nullptr;
  EXPECT_THROW(reduce_into(exec, null, null + 3, &out), null_pointer_error);
  EXPECT_EQ(out, -1);
  EXPECT_THROW(reduce_into(exec, x.begin(), x.end(), static_cast<int*>(nullptr)),
               null_pointer_error);
}

TEST(ReduceInto, LetsAThrowingOperatorsExceptionThrough) {
  const std::vector<int> x(1000, 1);
  host_executor exec;
  int out = -1;
  const auto failing = [](int a, int b) -> int {
    if (a + b > 100) throw std::out_of_range("too much");
    return a + b;
  };
  EXPECT_THROW(reduce_into(exec, x.begin(), x.end(), &out, failing), std::out_of_range);
  EXPECT_EQ(out, -1);
  EXPECT_EQ(tilefold::reduce(exec, x), 1000);
}

TEST(ReduceAgainstStd, IntegersMinimaAndMaximaAreExact) {
  test::bit_stream random(test::seed());
  for (const std::int64_t n : {1, 2, 1000, 65537, 300000}) {
    const auto x = test::make_items<std::int64_t>(test::pattern::any_bits, n, random.next());
    std::uint64_t sum = 0;
    std::uint64_t product = 1;
    for (const std::int64_t item : x) {
      sum += static_cast<std::uint64_t>(item);
      product *= static_cast<std::uint64_t>(item | 1);
    }
    EXPECT_EQ(static_cast<std::uint64_t>(tilefold::reduce(x)), sum);
    const auto odd = [](std::int64_t item) { return item | 1; };
    std::vector<std::int64_t> odds(x.size());
    std::ranges::transform(x, odds.begin(), odd);
    EXPECT_EQ(static_cast<std::uint64_t>(tilefold::reduce(odds, multiplies{})), product);
    EXPECT_EQ(tilefold::reduce(x, minimum{}), *std::ranges::min_element(x));
    EXPECT_EQ(tilefold::reduce(x, maximum{}), *std::ranges::max_element(x));
  }
}

// |error| <= ceil(log2 n) u sum|x| / (1 - ceil(log2 n) u), u = 2^-24: the pairwise bound.
TEST(ReduceAgainstStd, FloatSumsKeepThePairwiseBound) {
  for (const std::int64_t n : {2, 1000, 65537, 1000003}) {
    const auto x = test::make_items<float>(test::pattern::near_one, n, test::seed());
    long double sum = 0;
    long double magnitude = 0;
    for (const float item : x) {
      sum += item;
      magnitude += std::fabs(item);
    }
    const long double depth = std::ceil(std::log2(static_cast<double>(n)));
    const long double bound = depth * 0x1p-24L / (1 - depth * 0x1p-24L) * magnitude;
    EXPECT_LE(std::fabs(static_cast<long double>(tilefold::reduce(x)) - sum), bound) << "n = " << n;
  }
}

TEST(ReduceCounts, AreNotCutTo32Bits) {
  const auto many = std::views::iota(std::int64_t{0}, (std::int64_t{1} << 32) + 3);
  const auto last_two = many | std::views::drop((std::int64_t{1} << 32) + 1);
  EXPECT_EQ(tilefold::reduce(last_two), (std::int64_t{1} << 33) + 3);
}

}  // namespace
}  // namespace tilefold
