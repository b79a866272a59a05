// SPDX-License-Identifier: Apache-2.0
//
// The operators against their definitions, and that what their traits claim is true.
#include <tilefold/tilefold.hpp>

#include <bit>
#include <bitset>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
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

// Bits, with all NaNs alike.
template <class T>
::testing::AssertionResult same_value(const T& a, const T& b) {
  return same_bits(test::reference::with_one_nan(a), test::reference::with_one_nan(b));
}

// Values at the edges of T, and random ones.
template <class T>
std::vector<T> samples() {
  std::vector<T> all = test::make_items<T>(test::pattern::any_bits, 60, test::seed());
  if constexpr (test::layout_known<T>) {
    for (const auto p : {test::pattern::zeros, test::pattern::both_infinities,
                         test::pattern::subnormals, test::pattern::many_nans}) {
      for (const T& x : test::make_items<T>(p, 12)) all.push_back(x);
    }
  } else if constexpr (std::integral<T>) {
    for (const T x : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}, T{1}}) {
      all.push_back(x);
    }
  }
  return all;
}

template <class T>
class OperatorsOn : public ::testing::Test {
 protected:
  template <class Op, class Reference>
  void expect_same(Op op, Reference reference) {
    const auto all = samples<T>();
    for (const T& a : all) {
      for (const T& b : all) {
        ASSERT_TRUE(same_value<T>(op(a, b), reference(a, b)))
            << test::hex_of(a) << " and " << test::hex_of(b);
      }
    }
  }

  template <class Op>
  void expect_identity(Op op) {
    const T identity = op_traits<Op, T>::identity();
    for (const T& x : samples<T>()) {
      ASSERT_TRUE(same_value<T>(op(identity, x), x)) << test::hex_of(x);
    }
  }

  template <class Op>
  void expect_commutative(Op op) {
    static_assert(op_traits<Op, T>::commutative);
    const auto all = samples<T>();
    for (const T& a : all) {
      for (const T& b : all) {
        ASSERT_TRUE(same_value<T>(op(a, b), op(b, a)))
            << test::hex_of(a) << " and " << test::hex_of(b);
      }
    }
  }

  template <class Op>
  void expect_order_free(Op op) {
    static_assert(op_traits<Op, T>::order_free);
    const auto all = samples<T>();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const T a = all[i];
      const T b = all[(i * 7 + 3) % all.size()];
      const T c = all[(i * 13 + 5) % all.size()];
      ASSERT_TRUE(same_value<T>(op(op(a, b), c), op(a, op(b, c))));
    }
  }
};

using arithmetic_types =
    ::testing::Types<float, double, half, bfloat16, std::int8_t, std::uint8_t, std::int16_t,
                     std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(OperatorsOn, arithmetic_types);

TYPED_TEST(OperatorsOn, AreWhatTheirDefinitionsSay) {
  this->expect_same(plus{}, test::reference::plus{});
  this->expect_same(multiplies{}, test::reference::multiplies{});
  this->expect_same(minimum{}, test::reference::minimum{});
  this->expect_same(maximum{}, test::reference::maximum{});
  this->expect_same(minimum_number{}, test::reference::minimum_number{});
  this->expect_same(maximum_number{}, test::reference::maximum_number{});
  if constexpr (std::integral<TypeParam>) {
    this->expect_same(bit_and{}, test::reference::bit_and{});
    this->expect_same(bit_or{}, test::reference::bit_or{});
    this->expect_same(bit_xor{}, test::reference::bit_xor{});
  }
}

TYPED_TEST(OperatorsOn, HaveIdentities) {
  this->expect_identity(plus{});
  this->expect_identity(multiplies{});
  this->expect_identity(minimum{});
  this->expect_identity(maximum{});
  this->expect_identity(minimum_number{});
  this->expect_identity(maximum_number{});
  if constexpr (std::integral<TypeParam>) {
    this->expect_identity(bit_and{});
    this->expect_identity(bit_or{});
    this->expect_identity(bit_xor{});
  }
}

TYPED_TEST(OperatorsOn, CommuteAsTheirTraitsClaim) {
  this->expect_commutative(plus{});
  this->expect_commutative(multiplies{});
  this->expect_commutative(minimum{});
  this->expect_commutative(maximum{});
  this->expect_commutative(minimum_number{});
  this->expect_commutative(maximum_number{});
}

TYPED_TEST(OperatorsOn, AreOrderFreeWhereTheirTraitsClaimIt) {
  this->expect_order_free(minimum{});
  this->expect_order_free(maximum{});
  this->expect_order_free(minimum_number{});
  this->expect_order_free(maximum_number{});
  static_assert(op_traits<plus, TypeParam>::order_free == std::integral<TypeParam>);
  static_assert(op_traits<multiplies, TypeParam>::order_free == std::integral<TypeParam>);
  if constexpr (std::integral<TypeParam>) {
    this->expect_order_free(plus{});
    this->expect_order_free(multiplies{});
    this->expect_order_free(bit_and{});
    this->expect_order_free(bit_or{});
    this->expect_order_free(bit_xor{});
  }
}

TEST(Operators, TreatSignedZerosAsOrdered) {
  EXPECT_TRUE(std::signbit(minimum{}(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(minimum{}(-0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(maximum{}(0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(maximum{}(-0.0, 0.0)));
  EXPECT_TRUE(std::signbit(op_traits<plus, float>::identity()));
  EXPECT_TRUE(std::signbit(op_traits<plus, double>::identity()));
}

TEST(Operators, WrapSignedIntegers) {
  EXPECT_EQ(plus{}(std::numeric_limits<int>::max(), 1), std::numeric_limits<int>::min());
  EXPECT_EQ(multiplies{}(std::int16_t{-32768}, std::int16_t{-1}), std::int16_t{-32768});
  EXPECT_EQ(multiplies{}(std::uint16_t{65535}, std::uint16_t{65535}), std::uint16_t{1});
  EXPECT_EQ(multiplies{}(std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}),
            std::numeric_limits<std::int64_t>::min());
}

TEST(Operators, MultiplyComplexNumbersByTheFourProducts) {
  using complex = std::complex<double>;
  const auto all = test::make_items<complex>(test::pattern::any_bits, 60, test::seed());
  for (const complex& a : all) {
    for (const complex& b : all) {
      ASSERT_TRUE(same_value<complex>(multiplies{}(a, b), test::reference::multiplies{}(a, b)));
      ASSERT_TRUE(same_value<complex>(plus{}(a, b), a + b));
    }
  }
  // No recovery of infinities, which would cost a branch and differ between libraries.
  const complex infinite(INFINITY, 0.0);
  EXPECT_TRUE(std::isnan(multiplies{}(infinite, complex(0.0, 1.0)).real()));
}

TEST(Operators, AreLogicalOnAnythingThatConvertsToBool) {
  EXPECT_TRUE(logical_and{}(2, 4));
  EXPECT_FALSE(logical_and{}(0.5, 0.0));
  EXPECT_TRUE(logical_or{}(0, 4));
  EXPECT_FALSE(logical_or{}(0, 0));
  EXPECT_TRUE((op_traits<logical_and, bool>::identity()));
  EXPECT_FALSE((op_traits<logical_or, bool>::identity()));
  EXPECT_TRUE((op_traits<bit_and, bool>::identity()));
  EXPECT_FALSE((op_traits<bit_or, bool>::identity()));
}

TEST(Operators, TakeUserTypesThatHaveTheOperation) {
  EXPECT_EQ(plus{}(std::string("a"), std::string("b")), "ab");
  EXPECT_EQ(minimum{}(std::string("b"), std::string("a")), "a");
  static_assert(!std::invocable<plus, std::vector<int>, std::vector<int>>);
  static_assert(!std::invocable<minimum, std::complex<float>, std::complex<float>>);
  static_assert(!std::invocable<bit_and, float, float>);
}

enum class access : std::uint8_t { none = 0, read = 1, write = 2, all = 3 };
constexpr access operator|(access a, access b) {
  return static_cast<access>(static_cast<int>(a) | static_cast<int>(b));
}

TEST(Operators, JoinBitsOfEveryTypeThatHasTheOperation) {
  using bytes = std::vector<std::byte>;
  const bytes b{std::byte{0x0f}, std::byte{0x3c}, std::byte{0x38}};
  EXPECT_EQ(reduce(b, std::bit_or<>()), std::byte{0x3f});
  EXPECT_EQ(reduce(b, std::bit_and<>()), std::byte{0x08});
  EXPECT_EQ(reduce(b, std::bit_xor<std::byte>()), std::byte{0x0b});
  EXPECT_EQ(reduce(b, std::byte{0x80}, std::bit_or<>()), std::byte{0xbf});
  EXPECT_EQ(reduce(bytes{}, std::bit_and<>()), std::byte{0xff});
  EXPECT_EQ(reduce(bytes{}, bit_or{}), std::byte{0});
  static_assert(op_traits<bit_or, std::byte>::order_free);

  const std::vector<std::bitset<70>> sets(9, std::bitset<70>(5).set(69));
  EXPECT_EQ(reduce(sets, std::bit_or<>()), sets[0]);
  EXPECT_EQ(reduce(sets, std::bit_xor<>()), sets[0]);
  EXPECT_EQ(reduce(sets, std::bitset<70>(1), std::bit_and<>()), std::bitset<70>(1));
  static_assert(!op_traits<bit_or, std::bitset<70>>::order_free);
  static_assert(!detail::has_identity<bit_or, std::bitset<70>>);

  const std::vector<access> rights{access::none, access::read, access::write};
  EXPECT_EQ(reduce(rights, std::bit_or<>()), access::all);
  EXPECT_EQ(reduce(rights, access::none, bit_or{}), access::all);
  static_assert(!std::invocable<bit_and, access, access>);
}

enum class marks : std::uint16_t {};
constexpr marks operator|(marks a, marks b) {
  return static_cast<marks>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr marks operator&(marks a, marks b) {
  return static_cast<marks>(static_cast<int>(a) & static_cast<int>(b));
}
constexpr marks operator^(marks a, marks b) {
  return static_cast<marks>(static_cast<int>(a) ^ static_cast<int>(b));
}

// Ranges of several blocks and a rest, segments and runs of keys, against a loop.
template <class T, class Op>
void joins_long_ranges(const std::vector<T>& x, Op op) {
  const auto of = [&](std::size_t first, std::size_t count) {
    T all = x[first];
    for (std::size_t i = 1; i < count; ++i) all = op(all, x[first + i]);
    return all;
  };
  for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{64}, x.size()}) {
    EXPECT_EQ(tilefold::reduce(x.data(), x.data() + n, op), of(0, n));
  }
  EXPECT_EQ(reduce(x, x[0], op), op(x[0], of(0, x.size())));
  const auto itself = [](const T& value) { return value; };
  EXPECT_EQ(tilefold::transform_reduce(x, x[0], op, itself), op(x[0], of(0, x.size())));
  std::vector<T> out(3);
  segmented_reduce(x.begin(), 3, 1000, out.begin(), x[0], op);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(out[i], op(x[0], of(1000 * i, 1000)));
  std::vector<int> keys(x.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i < 70 ? 0 : i < 71 ? 1 : 2;
  std::vector<int> keys_out(3);
  EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), x.begin(), keys_out.begin(), out.begin(),
                          std::equal_to<>(), op),
            3);
  EXPECT_EQ(out[0], of(0, 70));
  EXPECT_EQ(out[1], x[70]);
  EXPECT_EQ(out[2], of(71, x.size() - 71));
}

TEST(Operators, JoinBitsOfLongRanges) {
  SCOPED_TRACE(test::seed());
  std::mt19937_64 random(test::seed());
  std::vector<std::byte> bytes;
  std::vector<std::bitset<130>> sets;
  std::vector<marks> all_marks;
  for (int i = 0; i < 30011; ++i) {
    // Of every 3000 items the second thousand has one with the lowest bit, the third one without
    // the next.
    const auto bits = static_cast<unsigned>(random() & 0x1c) | (i % 3000 == 1500 ? 1u : 0u) |
                      (i % 3000 == 2500 ? 0u : 2u);
    bytes.push_back(static_cast<std::byte>(bits));
    sets.push_back(std::bitset<130>(bits) << 65);
    all_marks.push_back(static_cast<marks>(bits << 8));
  }
  joins_long_ranges(bytes, std::bit_or<>());
  joins_long_ranges(bytes, std::bit_and<std::byte>());
  joins_long_ranges(bytes, std::bit_xor<>());
  joins_long_ranges(sets, std::bit_or<std::bitset<130>>());
  joins_long_ranges(sets, std::bit_and<>());
  joins_long_ranges(sets, std::bit_xor<>());
  joins_long_ranges(all_marks, std::bit_or<>());
  joins_long_ranges(all_marks, std::bit_and<marks>());
  joins_long_ranges(all_marks, std::bit_xor<>());
}

TEST(OperatorTraits, AssumeNothingOfAUsersOperator) {
  const auto op = [](int a, int) { return a; };
  using traits = op_traits<decltype(op), int>;
  static_assert(!traits::commutative && !traits::order_free && !traits::separately_rounded);
  static_assert(!detail::has_identity<decltype(op), int>);
  static_assert(!op_traits<plus, std::string>::commutative);
  static_assert(!detail::has_identity<plus, std::string>);
}

TEST(OperatorTraits, NeverCallFloatingSumsOrderFree) {
  static_assert(!op_traits<plus, float>::order_free && !op_traits<multiplies, double>::order_free);
  static_assert(!op_traits<plus, half>::order_free);
  static_assert(!op_traits<plus, std::complex<float>>::order_free);
}

TEST(OperatorTraits, KnowTheStandardFunctors) {
  static_assert(std::same_as<detail::normalized_op_t<std::plus<>>, plus>);
  static_assert(std::same_as<detail::normalized_op_t<std::plus<double>>, plus>);
  static_assert(std::same_as<detail::normalized_op_t<std::multiplies<>>, multiplies>);
  static_assert(std::same_as<detail::normalized_op_t<std::bit_and<>>, bit_and>);
  static_assert(std::same_as<detail::normalized_op_t<std::bit_or<int>>, bit_or>);
  static_assert(std::same_as<detail::normalized_op_t<std::bit_xor<>>, bit_xor>);
  static_assert(std::same_as<detail::normalized_op_t<std::logical_and<>>, logical_and>);
  static_assert(std::same_as<detail::normalized_op_t<std::logical_or<>>, logical_or>);
}

}  // namespace
}  // namespace tilefold
