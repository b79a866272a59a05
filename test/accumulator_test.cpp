// SPDX-License-Identifier: Apache-2.0
//
// The promised accumulator types, which are the result types, and that an accumulator has room for
// what its values add up to.
#include <tilefold/tilefold.hpp>

#include <chrono>
#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <ratio>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tilefold {
namespace {

template <class T, class... Arguments>
using sum_t = decltype(reduce(std::declval<const T*>(), std::declval<const T*>(),
                              std::declval<Arguments>()...));

template <class Expected, class T, class... Arguments>
constexpr bool gives = std::same_as<sum_t<T, Arguments...>, Expected>;

TEST(Accumulator, OfSumsAndProductsIsWide) {
  static_assert(gives<float, half> && gives<float, bfloat16>);
  static_assert(gives<std::int32_t, std::int8_t> && gives<std::int32_t, std::int16_t>);
  static_assert(gives<std::uint32_t, std::uint8_t> && gives<std::uint32_t, std::uint16_t>);
  static_assert(gives<std::int64_t, bool> && gives<std::int64_t, bool, multiplies>);
  static_assert(gives<float, half, multiplies> && gives<std::int32_t, std::int8_t, multiplies>);
  static_assert(gives<float, half, std::plus<>> && gives<std::uint32_t, std::uint8_t, std::plus<>>);
}

TEST(Accumulator, OfOtherTypesIsTheTypeItself) {
  static_assert(gives<std::int32_t, std::int32_t> && gives<std::uint32_t, std::uint32_t>);
  static_assert(gives<std::int64_t, std::int64_t> && gives<std::uint64_t, std::uint64_t>);
  static_assert(gives<float, float> && gives<double, double>);
  static_assert(gives<long double, long double>);
  static_assert(gives<std::complex<float>, std::complex<float>>);
}

TEST(Accumulator, OfSelectionsKeepsTheValueType) {
  static_assert(gives<half, half, minimum> && gives<bfloat16, bfloat16, maximum_number>);
  static_assert(gives<std::int8_t, std::int8_t, maximum> && gives<bool, bool, minimum>);
  static_assert(gives<std::uint8_t, std::uint8_t, bit_xor>);
  static_assert(gives<std::int16_t, std::int16_t, std::bit_and<>>);
  static_assert(gives<bool, std::int32_t, logical_and> && gives<bool, float, std::logical_or<>>);
}

TEST(Accumulator, OfATypedFunctorIsAsIfTheValuesHadItsType) {
  static_assert(gives<double, float, std::plus<double>>);
  static_assert(gives<std::int32_t, std::int64_t, std::plus<std::int8_t>>);
}

// The fold of the same values after a conversion, which is what the rule says.
template <class X, class Op, class T>
void expect_as_if(const std::vector<T>& values) {
  std::vector<X> converted;
  for (const T value : values) converted.push_back(static_cast<X>(value));
  const auto expected = reduce(converted, Op());
  const auto found = reduce(values, Op());
  static_assert(std::same_as<decltype(found), decltype(expected)>);
  EXPECT_EQ(found, expected);
  if constexpr (std::same_as<Op, std::plus<X>>) {
    EXPECT_EQ(reduce<double>(values, Op()), reduce<double>(converted, Op()));
  }
  EXPECT_EQ(reduce(values, 1, Op()), reduce(converted, 1, Op()));
  std::vector<decltype(reduce(converted, Op()))> sums(2, expected);
  segmented_reduce(values.begin(), 2, 2, sums.begin(), Op());
  EXPECT_EQ(sums[1], reduce(converted.begin() + 2, converted.begin() + 4, Op()));
}

TEST(Accumulator, OfATypedFunctorFoldsValuesOfItsType) {
  // Three truths, not 305.
  const std::vector<int> numbers{2, 3, 0, 300};
  EXPECT_EQ(reduce(numbers, std::plus<bool>()), 3);
  EXPECT_EQ(reduce(numbers, std::plus<std::int8_t>()), 2 + 3 + 0 + 44);
  expect_as_if<bool, std::plus<bool>>(numbers);
  expect_as_if<bool, std::multiplies<bool>>(numbers);
  expect_as_if<bool, std::bit_xor<bool>>(numbers);
  expect_as_if<std::int8_t, std::plus<std::int8_t>>(numbers);
  expect_as_if<std::int8_t, std::bit_and<std::int8_t>>(numbers);
  expect_as_if<std::uint16_t, std::multiplies<std::uint16_t>>(std::vector<int>{-1, 2, 3, 70000});
  expect_as_if<half, std::plus<half>>(std::vector<float>{0.1f, 2049.0f, 1e-4f, 7.0f});
  const std::vector<double> fractions{0.5, 0.25, 0.0, 1.5};
  EXPECT_EQ(reduce(fractions, std::plus<bool>()), 3);
  expect_as_if<bool, std::plus<bool>>(fractions);
  expect_as_if<int, std::logical_or<int>>(fractions);
  expect_as_if<int, std::plus<int>>(fractions);
  expect_as_if<float, std::plus<float>>(std::vector<double>{16777217.0, 0.1, 3.0, 4.0});
}

TEST(Accumulator, OfATypedFunctorTakesWhatAFunctionGives) {
  const std::vector<int> numbers{2, 3, 0, 300};
  EXPECT_EQ(transform_reduce(numbers, 0, std::plus<bool>(), [](int x) { return x - 2; }), 3);
}

TEST(Accumulator, WithAnInitialValueIsNarrowerThanNeither) {
  static_assert(gives<double, float, double> && gives<float, float, int>);
  static_assert(gives<double, std::int32_t, double> && gives<float, half, int>);
  static_assert(gives<double, double, float> && gives<std::int64_t, std::int32_t, std::int64_t>);
  static_assert(gives<std::int32_t, std::int8_t, std::int8_t>);
  static_assert(gives<float, half, half> && gives<double, half, double>);
  static_assert(gives<std::int8_t, std::int8_t, std::int8_t, minimum>);
  static_assert(gives<std::int64_t, bool, bool>);
}

// Converts to and from int, as a quantity or a handle may.
struct money {
  int cents = 0;

  money() = default;
  money(int c) : cents(c) {}
  operator int() const { return cents; }
};
struct add_money {
  money operator()(const money& a, const money& b) const { return money(a.cents + b.cents); }
};

// An int converts to it, and it to nothing.
struct ledger {
  long total = 0;
  bool audited = false;

  ledger() = default;
  ledger(int cents) : total(cents) {}
  ledger(long t, bool a) : total(t), audited(a) {}
  ledger operator+(const ledger& other) const {
    return {total + other.total, audited || other.audited};
  }
};

enum number_of_long : long {};

struct celsius {
  double degrees;
  operator double() const { return degrees; }
};

// A complex number with one more argument, one whose argument is no part, and one without any.
template <class T, class Unit = void>
struct measured {
  using value_type = T;
  T re = 0, im = 0;

  measured() = default;
  measured(T r, T i = 0) : re(r), im(i) {}
  template <class U>
  explicit measured(const measured<U, Unit>& other)
      : re(static_cast<T>(other.re)), im(static_cast<T>(other.im)) {}
  T real() const { return re; }
  T imag() const { return im; }
  friend measured operator+(measured a, measured b) { return {a.re + b.re, a.im + b.im}; }
};
template <class Unit>
struct impedance : measured<double> {
  using measured::measured;
  friend impedance operator+(impedance a, impedance b) { return {a.re + b.re, a.im + b.im}; }
};
struct wave : std::complex<double> {
  using std::complex<double>::complex;
  wave() = default;
  wave(std::complex<double> z) : complex(z) {}
};

struct joined {
  std::string operator()(std::string_view a, std::string_view b) const {
    return std::string(a) + std::string(b);
  }
};

TEST(Accumulator, WithAnInitialValueIsTheTypeThatHoldsBoth) {
  static_assert(gives<money, money, int, add_money>);
  static_assert(gives<money, money, money, add_money>);
  static_assert(gives<ledger, ledger, int> && gives<ledger, int, ledger>);
  static_assert(gives<std::complex<double>, std::complex<double>, std::complex<float>>);
  static_assert(gives<std::complex<double>, std::complex<float>, std::complex<double>>);
  static_assert(gives<std::complex<double>, std::complex<double>, int>);
  static_assert(gives<std::complex<float>, float, std::complex<float>>);
  static_assert(gives<std::complex<double>, double, std::complex<float>>);
  static_assert(gives<std::complex<double>, std::complex<float>, double>);
  static_assert(gives<std::complex<float>, half, std::complex<float>>);
  static_assert(gives<std::complex<double>, double, std::complex<float>, multiplies>);
  using std::chrono::duration;
  using milliseconds_32 = duration<std::int32_t, std::milli>;
  using hours_and_milliseconds =
      duration<std::common_type_t<std::chrono::hours::rep, std::int32_t>, std::milli>;
  static_assert(gives<hours_and_milliseconds, std::chrono::hours, milliseconds_32>);
  static_assert(gives<hours_and_milliseconds, std::chrono::hours, milliseconds_32, maximum>);
  static_assert(gives<duration<long, std::ratio<1, 6>>, duration<long, std::ratio<1, 2>>,
                      duration<long, std::ratio<1, 3>>, minimum>);
  using std::chrono::seconds, std::chrono::sys_days;
  using time = std::chrono::system_clock::time_point;
  static_assert(gives<seconds, duration<int>, seconds> && gives<seconds, seconds, duration<int>>);
  static_assert(gives<duration<double>, duration<float>, duration<double>, maximum>);
  static_assert(gives<time, sys_days, time, maximum> && gives<time, time, sys_days, minimum>);
  static_assert(gives<float, half, bfloat16, minimum> && gives<half, half, half, minimum>);
  // Views convert to strings explicitly only, but nobody can add views.
  static_assert(gives<std::string, std::string_view, std::string>);
  static_assert(gives<std::string, const char*, std::string>);
  static_assert(gives<std::string, std::string_view, std::string_view, joined>);
  static_assert(gives<std::string, std::string_view, std::string, joined>);

  const std::vector<ledger> books{{1L << 40, true}, {2, false}};
  EXPECT_EQ(reduce(books, 5).total, (1L << 40) + 7);
  EXPECT_TRUE(reduce(books, 5).audited);
  EXPECT_EQ(reduce(std::vector<std::string_view>{"b", "c"}, std::string("a")), "abc");
  const std::vector<std::complex<double>> z{{1e300, 1.0}, {0.0, 0x1p-40}};
  EXPECT_EQ(reduce(z, std::complex<float>(0)), std::complex<double>(1e300, 1.0 + 0x1p-40));
  EXPECT_EQ(reduce(std::vector{1e300, 2e300}, std::complex<float>(0, 3)),
            std::complex<double>(3e300, 3));
  EXPECT_EQ(reduce(std::vector<std::complex<float>>{{1, 2}, {3, 4}}, 1e300),
            std::complex<double>(1e300, 6));
  EXPECT_EQ(
      reduce(std::vector{std::chrono::hours(400), std::chrono::hours(800)}, milliseconds_32(5)),
      hours_and_milliseconds(1200LL * 3'600'000 + 5));
}

TEST(Accumulator, OfComplexNumbersOfAUserIsTheirType) {
  using ohm = struct ohm;
  static_assert(gives<measured<double>, measured<float>, double>);
  static_assert(gives<measured<double>, double, measured<float>>);
  static_assert(gives<measured<double, ohm>, measured<float, ohm>, double>);
  static_assert(gives<measured<double, ohm>, measured<double, ohm>, int>);
  static_assert(gives<impedance<ohm>, impedance<ohm>, double>);
  static_assert(gives<impedance<ohm>, double, impedance<ohm>>);
  static_assert(gives<wave, wave, double> && gives<wave, double, wave>);
  EXPECT_EQ(reduce(std::vector<measured<float>>{{1, 2}, {3, 4}}, 1e300).im, 6);
  // The operator takes no others.
  const auto of_floats = [](std::complex<float> a, std::complex<float> b) { return a + b; };
  static_assert(gives<std::complex<float>, std::complex<float>, double, decltype(of_floats)>);
  const auto of_any = [](auto a, auto b) { return a + b; };
  static_assert(gives<std::complex<double>, std::complex<float>, double, decltype(of_any)>);
  const std::vector<std::complex<float>> z{{0, 1e-30f}};
  const std::vector<double> x{1e300};
  EXPECT_EQ(inner_product(z.begin(), z.end(), x.begin(), 0),
            (std::complex<double>(0, static_cast<double>(1e-30f) * 1e300)));
}

// What converts to a number is no number: an int has no room for what it becomes.
TEST(Accumulator, OfWhatConvertsToNumbersIsTheNumber) {
  static_assert(gives<long, number_of_long, int> && gives<long, number_of_long, char, maximum>);
  static_assert(gives<double, celsius, int> && gives<double, celsius, int, maximum>);
  static_assert(gives<double, int, celsius> && gives<double, float, celsius>);
  static_assert(gives<double, std::reference_wrapper<double>, int>);
  constexpr auto large = static_cast<number_of_long>(1L << 40);
  EXPECT_EQ(reduce(std::vector{large, large}, 0), 1L << 41);
  EXPECT_EQ(reduce(std::vector{large, large}, 0, maximum{}), 1L << 40);
  EXPECT_EQ(reduce(std::vector<celsius>{{0.5}, {0.25}}, 1), 1.75);
  EXPECT_EQ(reduce(std::vector<float>{1}, celsius{1e300}), 1e300);
}

// Two doubles, that add up without rounding: of a number, and a number of it.
template <class T>
struct exact_pair {
  T high, low;
  exact_pair(T h, T l = 0) : high(h), low(l) {}
  operator T() const { return high + low; }
};
template <class T>
exact_pair<T> operator+(const exact_pair<T>& a, const exact_pair<T>& b) {
  const T sum = a.high + b.high;
  const T part = sum - a.high;
  return {sum, a.low + b.low + ((a.high - (sum - part)) + (b.high - part))};
}

struct named {
  int x;
};
struct tagged : named {
  int y = 6;
  tagged(named n) : named(n) {}
};
struct point {
  double x, y;
  point(std::pair<double, double> p) : x(p.first), y(p.second) {}
  operator std::pair<double, double>() const { return {x, y}; }
};

TEST(Accumulator, OfWhatConvertsBothWaysIsTheItemsOrNoNumber) {
  using pair = exact_pair<double>;
  static_assert(gives<pair, pair, double> && gives<pair, double, pair>);
  static_assert(gives<pair, pair, int> && gives<pair, float, pair>);
  EXPECT_EQ(reduce(std::vector<pair>{1e16, 1, -1e16}, 0.0), 1.0);
  const auto first = [](const auto& a, const auto&) { return a; };
  static_assert(gives<tagged, tagged, named, decltype(first)>);
  static_assert(gives<point, point, std::pair<double, double>, decltype(first)>);
  static_assert(gives<bool, bool, std::true_type, logical_and>);
  static_assert(
      gives<std::uint8_t, std::uint8_t, std::integral_constant<std::uint8_t, 5>, maximum>);
}

TEST(Accumulator, IsNoViewOfTheOther) {
  static_assert(gives<std::string, std::string_view, std::string, maximum>);
  static_assert(gives<std::string, std::string, std::string_view, maximum>);
  EXPECT_EQ(reduce(std::vector<std::string_view>{"b", "c"}, std::string(50, 'z'), maximum{}),
            std::string(50, 'z'));
}

TEST(Accumulator, OfTwoDurationsInVerbs) {
  using half_seconds = std::chrono::duration<long, std::ratio<1, 2>>;
  using thirds = std::chrono::duration<long, std::ratio<1, 3>>;
  using sixths = std::chrono::duration<long, std::ratio<1, 6>>;
  const std::vector<half_seconds> items{half_seconds(1), half_seconds(2)};
  const std::vector<int> keys{7, 7};
  std::vector<int> keys_out(1);
  std::vector<sixths> out(1);
  EXPECT_EQ(reduce(items, thirds(1)), sixths(11));
  EXPECT_EQ(reduce(items, thirds(1), plus{}), sixths(11));
  const auto is = [&](long value) {
    EXPECT_EQ(out[0], sixths(value));
    out[0] = sixths(0);
  };
  segmented_reduce(items.data(), 1, 2, out.begin(), thirds(1));
  is(11);
  reduce_by_key(keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin(), thirds(1));
  is(11);
  reduce_by_key(keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin(), thirds(1),
                plus{});
  is(11);
}

TEST(Accumulator, OfAUsersOperatorIsWhatItReturns) {
  const auto joined = [](float a, float b) { return static_cast<double>(a) + b; };
  static_assert(gives<double, float, decltype(joined)>);
}

TEST(Accumulator, CanBeNamed) {
  const std::vector<float> x{1, 2};
  static_assert(std::same_as<decltype(reduce<double>(x)), double>);
  static_assert(std::same_as<decltype(reduce<double>(x, 1)), double>);
  static_assert(std::same_as<decltype(reduce<half>(std::vector<half>{})), half>);
  // 2^24 + 1 needs a double.
  const std::vector<float> large{16777216.0f, 1.0f};
  EXPECT_EQ(reduce<double>(large), 16777217.0);
  EXPECT_EQ(reduce(large), 16777216.0f);
}

TEST(Accumulator, HoldsWhatNarrowValuesAddUpTo) {
  EXPECT_EQ(reduce(std::vector<std::int8_t>(1000, -128)), -128000);
  EXPECT_EQ(reduce(std::vector<std::uint8_t>(1000, 255)), 255000u);
  EXPECT_EQ(reduce(std::vector<std::int16_t>(1000, -32768)), -32768000);
  EXPECT_EQ(reduce(std::vector<std::uint16_t>(1000, 65535)), 65535000u);
  EXPECT_EQ(reduce(std::vector<bool>(1000, true)), 1000);
  // 4096 ones more than a half can count.
  EXPECT_EQ(reduce(std::vector<half>(8192, half(1.0f))), 8192.0f);
  EXPECT_EQ(reduce(std::vector<bfloat16>(8192, bfloat16(1.0f))), 8192.0f);
  EXPECT_EQ(reduce(std::vector<half>(3, half(60000.0f))), 180000.0f);
}

TEST(Accumulator, WideInitialValueIsKept) {
  const std::vector<std::int32_t> x{1, 2};
  EXPECT_EQ(reduce(x, std::int64_t{1} << 40), (std::int64_t{1} << 40) + 3);
  EXPECT_EQ(reduce(std::vector<float>{0.5f}, 1), 1.5f);
  EXPECT_EQ(reduce(std::vector<int>{1}, 0.5), 1.5);
}

}  // namespace
}  // namespace tilefold
