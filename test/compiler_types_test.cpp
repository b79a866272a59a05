// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the compiler that the standard library need not know: __int128, _Float16, __bf16,
// __float128, and C++23's std::float16_t and the like. Whether std::integral and
// std::floating_point know them depends on the compiler and on its language mode; results do not.
// (gnu_mode_tests compiles this file in the other mode, cmake/compilers.sh by other compilers.)
#include <tilefold/piece.hpp>
#include <tilefold/tilefold.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#if __has_include(<stdfloat>) && __cplusplus > 202002L
#include <stdfloat>
#endif
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "support/views.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

#if defined(__SIZEOF_INT128__)

__extension__ using int_128 = __int128;
__extension__ using uint_128 = unsigned __int128;
constexpr int_128 large = int_128{1} << 100;

TEST(CompilerTypes, IntegersOf128BitsAreIntegers) {
  using detail::integer, detail::signed_integer;
  static_assert(integer<int_128> && integer<uint_128> && signed_integer<int_128>);
  static_assert(!signed_integer<uint_128> && integer<const int_128>);
  static_assert(std::is_same_v<detail::made_unsigned_t<int_128>, uint_128>);
  static_assert(op_traits<plus, int_128>::order_free);
}

TEST(CompilerTypes, InitialValuesDoNotNarrowIntegersOf128Bits) {
  const std::vector<int_128> items{large, large};
  EXPECT_TRUE(reduce(items, 0) == large * 2);
  EXPECT_TRUE(reduce(items, 5, maximum{}) == large);
  static_assert(std::is_same_v<decltype(reduce(items, 0)), int_128>);
  static_assert(std::is_same_v<decltype(reduce(items, 0.0)), double>);
  static_assert(std::is_same_v<decltype(reduce(std::vector<int>{}, int_128{})), int_128>);
}

// An int beside items that it cannot hold, in every verb that takes an initial value. Each sum is
// that of two items and 3, each greatest value that of two items and 3.
template <class T>
void is_not_narrowed_by_an_int(const T& item) {
  const std::vector<T> items(12, item);
  const T sum = static_cast<T>(item + item + 3);
  const auto* const first = items.data();
  const host_executor exec;
  const auto itself = [](const T& x) { return x; };
  const auto chosen = [](const T& x, const T&) { return x; };
  EXPECT_TRUE(reduce(first, first + 2, 3) == sum);
  EXPECT_TRUE(reduce(first, first + 2, 3, maximum{}) == item);
  EXPECT_TRUE(reduce(first, first + 2, 3, r::sum{}) == sum);
  EXPECT_TRUE(transform_reduce(first, first + 2, 3, plus{}, itself) == sum);
  EXPECT_TRUE(transform_reduce(first, first + 2, first, 3, plus{}, chosen) == sum);
  EXPECT_TRUE(inner_product(first, first + 2, first, 3, plus{}, chosen) == sum);
  EXPECT_TRUE(reduce_piece(exec, first, first + 2, 0).value(3) == sum);

  std::vector<T> out(6);
  reduce_into(exec, first, first + 2, out.begin(), 3, plus{});
  transform_reduce_into(exec, first, first + 2, out.begin() + 1, 3, maximum{}, itself);
  EXPECT_TRUE(out[0] == sum && out[1] == item);
  const auto are = [&](const T& expected) {
    for (const T& value : out) EXPECT_TRUE(value == expected);
    out.assign(6, T{});
  };
  const std::vector<int> offsets{0, 2, 4, 6, 8, 10, 12}, lengths(6, 2);
  segmented_reduce(first, 6, 2, out.begin(), 3);
  are(sum);
  segmented_reduce(first, offsets.begin(), 6, out.begin(), 3, maximum{});
  are(item);
  segmented_reduce(first, offsets.begin(), offsets.begin() + 1, 6, out.begin(), 3);
  are(sum);
  const std::vector<const T*> arrays(6, first);
  batched_reduce(arrays.begin(), lengths.begin(), 6, out.begin(), 3);
  are(sum);
  axis_reduce(test_view{first, right_layout({6, 2})}, test_view{out.data(), right_layout({6})},
              axes{1}, 3);
  are(sum);
  axis_reduce(test_view{first, right_layout({2, 6})}, test_view{out.data(), right_layout({6})},
              axes{0}, 3, maximum{});
  are(item);
}

TEST(CompilerTypes, InitialValuesDoNotNarrowInAnyVerb) {
  is_not_narrowed_by_an_int(large);
  is_not_narrowed_by_an_int(static_cast<uint_128>(large));
  is_not_narrowed_by_an_int(3e9 + 0.5);
  is_not_narrowed_by_an_int(3e9f);
  is_not_narrowed_by_an_int(std::int64_t{1} << 40);
}

template <class T>
void has_all_of_an_integer() {
  constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
  const T most = static_cast<T>(is_signed ? ~uint_128{0} >> 1 : ~uint_128{0});
  const T least = is_signed ? static_cast<T>(-most - 1) : T{0};
  const std::vector<T> none;
  EXPECT_TRUE(reduce(none) == 0);
  EXPECT_TRUE(reduce(none, minimum{}) == most);
  EXPECT_TRUE(reduce(none, maximum{}) == least);
  EXPECT_TRUE(reduce(none, multiplies{}) == 1);
  EXPECT_TRUE(reduce(none, bit_and{}) == static_cast<T>(~T{0}));
  EXPECT_TRUE(reduce(none, bit_or{}) == 0);
  EXPECT_TRUE(reduce(none, bit_xor{}) == 0);
  // Wraps, without an overflow that a sanitizer would report.
  EXPECT_TRUE(reduce(std::vector<T>{most, 1}) == least);
  EXPECT_TRUE(reduce(std::vector<T>{most, 3, 5}, multiplies{}) ==
              static_cast<T>(15 * uint_128(most)));

  std::vector<T> items;
  for (int i = 0; i < 1000; ++i)
    items.push_back(static_cast<T>(static_cast<T>(large) * static_cast<T>(i + 1)));
  const T sum = static_cast<T>(static_cast<T>(large) * 500500);
  EXPECT_TRUE(reduce(items) == sum);
  std::vector<T> out(4);
  segmented_reduce(items.begin(), 2, 500, out.begin());
  EXPECT_TRUE(static_cast<T>(out[0] + out[1]) == sum);
  std::vector<T> keys(items.size(), static_cast<T>(large)), keys_out(2);
  keys.back() = 0;
  EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin()),
            2);
  EXPECT_TRUE(keys_out[0] == static_cast<T>(large));
  EXPECT_TRUE(static_cast<T>(out[0] + out[1]) == sum);
  const test_view matrix{items.data(), right_layout({500, 2})};
  const test_view columns{out.data(), right_layout({2})};
  axis_reduce(host_executor(), matrix, columns, 0);
  EXPECT_TRUE(static_cast<T>(out[0] + out[1]) == sum);

  const auto by_parts = [&] {
    auto whole = reduce_piece(host_executor(), items.begin(), items.begin() + 300, 0);
    whole.merge(reduce_piece(host_executor(), items.begin() + 300, items.end(), 300));
    return whole.value();
  };
  EXPECT_TRUE(by_parts() == sum);
  const auto place = reduce(items, r::arg_max<>());
  EXPECT_TRUE(place.index == 999 || !is_signed || sum < 0);
  EXPECT_EQ(count(items.begin(), items.end(), static_cast<T>(large)), 1);
  EXPECT_EQ(reduce(items, r::mean()), static_cast<double>(large) * 500.5);
  // The nearest that there is, of numbers that the type cannot hold.
  EXPECT_TRUE(reduce<T>(std::vector<float>{INFINITY}) == most);
  EXPECT_TRUE(reduce<T>(std::vector<double>{-1e300}) == least);
  EXPECT_TRUE(reduce<T>(std::vector<double>{0x1p100}) == static_cast<T>(large));
  EXPECT_TRUE(reduce<T>(std::vector<double>{NAN}) == 0);
}

TEST(CompilerTypes, IntegersOf128BitsHaveWhatIntegersHave) {
  has_all_of_an_integer<int_128>();
  has_all_of_an_integer<uint_128>();
}

#endif

// Of other integers, as clang's _BitInt, the library knows nothing.
#if defined(__clang__) && __clang_major__ >= 14
TEST(CompilerTypes, IntegersOfAnyWidthAreNoFloats) {
  __extension__ using int_16 = _BitInt(16);
  static_assert(!detail::floating<int_16> && !detail::integer<int_16>);
  const std::vector<int_16> items{3, 1, 2};
  EXPECT_TRUE(reduce(items) == int_16{6});
  EXPECT_TRUE(reduce(items, minimum{}) == int_16{1});
  EXPECT_EQ(reduce(items, r::arg_max<>()).index, 0);
}
#endif

template <class T>
T number(double x) {
  return static_cast<T>(static_cast<float>(x));
}

template <class T>
void is_a_floating_type() {
  static_assert(detail::floating<T> && !detail::integer<T>);
  const T nan = number<T>(NAN), one = number<T>(1);
  const T zero = number<T>(0.0), minus_zero = number<T>(-0.0);
  const auto is_nan = [](const auto& x) { return x != x; };
  // By the sign's bit: clang 19 to 22 say that a -0 of __bf16 has none, if they know its value.
  const auto is_negative = [](const auto& x) {
    unsigned char bytes[sizeof x];
    std::memcpy(bytes, &x, sizeof x);
    return bytes[sizeof x - 1] >= 0x80;
  };
  using items = std::vector<T>;
  EXPECT_TRUE(is_nan(reduce(items{nan, one}, minimum{})));
  EXPECT_TRUE(is_nan(reduce(items{one, nan}, minimum{})));
  EXPECT_TRUE(is_nan(reduce(items{one, nan}, maximum{})));
  EXPECT_TRUE(reduce(items{one, nan}, minimum_number{}) == one);
  EXPECT_TRUE(reduce(items{nan, one}, maximum_number{}) == one);
  EXPECT_TRUE(is_negative(reduce(items{zero, minus_zero}, minimum{})));
  EXPECT_TRUE(is_negative(reduce(items{minus_zero, zero}, minimum{})));
  EXPECT_FALSE(is_negative(reduce(items{zero, minus_zero}, maximum{})));
  EXPECT_EQ(reduce(items{one, nan}, r::arg_max<>()).index, 1);
  EXPECT_EQ(reduce(items{zero, minus_zero}, r::arg_min<>()).index, 1);
  EXPECT_EQ(static_cast<double>(reduce(items(70000, one))), 70000.0);
  EXPECT_EQ(static_cast<double>(reduce(items(70000, one), 0)), 70000.0);
  EXPECT_TRUE(is_negative(reduce(items{})));
  EXPECT_EQ(static_cast<double>(reduce(items{}, minimum{})), INFINITY);
  EXPECT_EQ(static_cast<double>(reduce(items{}, maximum{})), -INFINITY);
  EXPECT_TRUE(is_nan(reduce(items{}, minimum_number{})));
  EXPECT_EQ(static_cast<double>(reduce(items{}, multiplies{})), 1.0);
  EXPECT_EQ(reduce<int>(items{number<T>(2.5)}), 2);
  EXPECT_EQ(static_cast<double>(reduce(items{number<T>(-2.5), one}, r::linf())), 2.5);
  EXPECT_EQ(reduce(items{number<T>(-2.5), one}, r::l1()), 3.5);
  EXPECT_EQ(reduce(items{number<T>(-2.5), one}, r::mean()), -0.75);
  EXPECT_EQ(count(items{one, zero, minus_zero}, zero), 2);
}

#if defined(__FLT16_MANT_DIG__) || defined(__BFLT16_MANT_DIG__) || defined(TILEFOLD_TEST_BF16)
// As Twin, which is the same format.
template <class T, class Twin>
void is_folded_as() {
  static_assert(is_narrow_float<T> && sizeof(T) == 2);
  static_assert(detail::is_half<T> == detail::is_half<Twin>);
  static_assert(std::is_same_v<decltype(reduce(std::vector<T>{}, 0)), float>);
  static_assert(std::is_same_v<decltype(reduce(std::vector<T>{}, T{}, minimum{})), T>);
  is_a_floating_type<T>();
  std::vector<T> items;
  std::vector<Twin> twins;
  for (int i = 0; i < 1000; ++i) {
    const auto x = static_cast<float>(std::sin(i) * 100);
    items.push_back(static_cast<T>(x));
    twins.push_back(static_cast<Twin>(x));
  }
  EXPECT_EQ(reduce(items), reduce(twins));
  EXPECT_EQ(reduce(items, 0.1), reduce(twins, 0.1));
  EXPECT_EQ(static_cast<float>(reduce(items, maximum{})),
            static_cast<float>(reduce(twins, maximum{})));
  EXPECT_EQ(reduce(items, r::mean()), reduce(twins, r::mean()));
  EXPECT_EQ(reduce(items, r::variance()), reduce(twins, r::variance()));
  EXPECT_EQ(reduce(items, r::l2()), reduce(twins, r::l2()));
  EXPECT_EQ(reduce(items, r::logsumexp()), reduce(twins, r::logsumexp()));
  EXPECT_EQ(reduce(items, r::exact_sum<float>()), reduce(twins, r::exact_sum<float>()));
  EXPECT_EQ(reduce(items, r::compensated_sum()), reduce(twins, r::compensated_sum()));
  std::vector<float> sums(10), twin_sums(10);
  segmented_reduce(items.begin(), 10, 100, sums.begin());
  segmented_reduce(twins.begin(), 10, 100, twin_sums.begin());
  EXPECT_EQ(sums, twin_sums);
  // A NaN that is a result is the canonical one.
  const T nan = reduce(std::vector<T>{static_cast<T>(-NAN), T{}}, minimum{});
  const Twin twin_nan = reduce(std::vector<Twin>{static_cast<Twin>(-NAN), Twin{}}, minimum{});
  EXPECT_EQ(__builtin_bit_cast(std::uint16_t, nan), __builtin_bit_cast(std::uint16_t, twin_nan));
}
#endif

#if defined(__FLT16_MANT_DIG__)
TEST(CompilerTypes, Float16IsFoldedAsHalf) { is_folded_as<_Float16, half>(); }
#endif
// clang does not say whether it has __bf16, nor whether libgcc rounds to it (from g++ 13 on).
#if defined(__BFLT16_MANT_DIG__) || defined(TILEFOLD_TEST_BF16)
TEST(CompilerTypes, BrainFloatIsFoldedAsBfloat16) { is_folded_as<__bf16, bfloat16>(); }
#endif

#if defined(__STDCPP_FLOAT16_T__) && defined(__STDCPP_BFLOAT16_T__)
TEST(CompilerTypes, FloatsOf16BitsOfTheStandardAreFoldedAsTheirTwins) {
  is_folded_as<std::float16_t, half>();
  is_folded_as<std::bfloat16_t, bfloat16>();
}
#endif
#if defined(__STDCPP_FLOAT32_T__) && defined(__STDCPP_FLOAT64_T__)
TEST(CompilerTypes, FloatsOfTheStandardComputeInThemselves) {
  is_a_floating_type<std::float32_t>();
  is_a_floating_type<std::float64_t>();
  static_assert(std::is_same_v<decltype(reduce(std::vector<std::float32_t>{}, 0)), std::float32_t>);
}
#endif

#if defined(__SIZEOF_FLOAT128__)
TEST(CompilerTypes, FloatsOf128BitsComputeInThemselves) {
  __extension__ using real_128 = __float128;
  is_a_floating_type<real_128>();
  const real_128 tiny = static_cast<real_128>(0x1p-100);
  const std::vector<real_128> items{1, tiny};
  // (A long double has 64 digits.)
  EXPECT_TRUE(reduce(items) - 1 == tiny);
  EXPECT_TRUE(reduce(items, 0) - 1 == tiny);
  EXPECT_TRUE(reduce(items, 1.0, multiplies{}) == tiny);
}
#endif

}  // namespace
}  // namespace tilefold::test
