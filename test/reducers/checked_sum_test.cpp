// SPDX-License-Identifier: Apache-2.0
//
// Sums of integers with a verdict, through every verb of the host. The oracle is an integer of 128
// bits; of sums of such integers, arithmetic by hand.
#include <tilefold/reducers/checked_sum.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "../support/views.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using detail::signed_128;
using detail::unsigned_128;

template <class T>
constexpr T most = detail::largest<T>;
template <class T>
constexpr T least = detail::smallest<T>;

/// Whether a verdict is that of the sum in Result.
template <class Result>
testing::AssertionResult is_sum(const r::checked_value<Result>& found, signed_128 sum) {
  const bool fits = sum >= static_cast<signed_128>(least<Result>) &&
                    (sum < 0 || static_cast<unsigned_128>(sum) <= most<Result>);
  const auto value = static_cast<Result>(sum);
  if (found.value == value && found.fits == fits) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "value " << static_cast<double>(found.value) << ", fits " << found.fits << "; it is "
         << static_cast<double>(value) << ", " << fits << ", of " << static_cast<double>(sum);
}

/// `count` numbers of all sizes or the ends of the type, mostly of one sign or of both.
template <class T>
std::vector<T> integers(std::size_t count, std::mt19937_64& random) {
  const std::uint64_t kind = random() % 5;
  std::vector<T> items(count);
  for (T& item : items) {
    switch (kind) {
      case 0:
        item = static_cast<T>(random());
        break;
      case 1:
        item = static_cast<T>(random() % 3 - 1);
        break;
      case 2:
        item = most<T>;
        break;
      case 3:
        item = least<T>;
        break;
      default:
        item = random() % 2 == 0 ? most<T> : least<T>;
    }
  }
  return items;
}

template <class T>
signed_128 sum_of(const T* first, const T* last) {
  signed_128 sum = 0;
  for (; first != last; ++first) sum += static_cast<signed_128>(*first);
  return sum;
}

template <class T>
class CheckedSum : public testing::Test {};
using integer_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint32_t, int,
                                     std::int64_t, std::uint64_t, long long>;
TYPED_TEST_SUITE(CheckedSum, integer_types);

TYPED_TEST(CheckedSum, OfRangesInEveryResult) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int m = 0; m < 2000 && !this->HasFailure(); ++m) {
    const auto x = integers<T>(random() % 700, random);
    const signed_128 sum = sum_of(x.data(), x.data() + x.size());
    SCOPED_TRACE(m);
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum{}), sum));
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum<std::int8_t>{}), sum));
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum<std::uint16_t>{}), sum));
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum<int>{}), sum));
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum<std::int64_t>{}), sum));
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum<std::uint64_t>{}), sum));
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum<signed_128>{}), sum));
    EXPECT_TRUE(is_sum(reduce(x, r::checked_sum<unsigned_128>{}), sum));
  }
}

TYPED_TEST(CheckedSum, OfSegmentsKeysColumnsPiecesAndThreads) {
  using T = TypeParam;
  using result = r::checked_value<detail::sum_in_64_bits<T>>;
  std::mt19937_64 random(test::seed());
  constexpr std::int64_t segments = 6;
  for (int m = 0; m < 200 && !this->HasFailure(); ++m) {
    SCOPED_TRACE(m);
    const std::int64_t length = 1 + static_cast<std::int64_t>(random() % 100);
    const auto x = integers<T>(static_cast<std::size_t>(segments * length), random);
    std::array<std::int64_t, segments + 1> offsets{};
    std::vector<std::int64_t> keys;
    for (std::int64_t i = 0; i < segments; ++i) {
      // The second and third are one, empty or not.
      offsets[static_cast<std::size_t>(i + 1)] = i == 2 ? 2 * length : (i + 1) * length;
      keys.insert(keys.end(), static_cast<std::size_t>(length), i);
    }
    std::array<result, segments> out{};
    segmented_reduce(x.begin(), offsets.begin(), segments, out.begin(), r::checked_sum{});
    for (std::size_t i = 0; i < segments; ++i) {
      EXPECT_TRUE(is_sum(out[i], sum_of(x.data() + offsets[i], x.data() + offsets[i + 1])));
    }
    std::array<std::int64_t, segments> found_keys{};
    EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), x.begin(), found_keys.begin(), out.begin(),
                            r::checked_sum{}),
              segments);
    for (std::int64_t i = 0; i < segments; ++i) {
      const T* const row = x.data() + i * length;
      EXPECT_TRUE(is_sum(out[static_cast<std::size_t>(i)], sum_of(row, row + length)));
    }
    std::vector<result> columns(static_cast<std::size_t>(length));
    axis_reduce(host_executor(2), test::test_view{x.data(), test::right_layout({segments, length})},
                test::test_view{columns.data(), test::right_layout({length})}, 0, r::checked_sum{});
    for (std::int64_t c = 0; c < length; ++c) {
      signed_128 sum = 0;
      for (std::int64_t i = 0; i < segments; ++i) {
        sum += static_cast<signed_128>(x[static_cast<std::size_t>(i * length + c)]);
      }
      EXPECT_TRUE(is_sum(columns[static_cast<std::size_t>(c)], sum));
    }
    const auto cut = static_cast<std::int64_t>(random() % x.size());
    piece<T, r::checked_sum<>> left, right(r::checked_sum{}, cut);
    left.append(host_executor(2), x.begin(), x.begin() + cut);
    right.append(host_executor(2), x.begin() + cut, x.end());
    left.merge(right.from_bytes(right.to_bytes()));
    const signed_128 sum = sum_of(x.data(), x.data() + x.size());
    EXPECT_TRUE(is_sum(left.value(), sum));
    EXPECT_TRUE(is_sum(reduce(host_executor(3), x, r::checked_sum{}), sum));
    EXPECT_TRUE(is_sum(get<1>(reduce(x, r::fuse(r::max{}, r::checked_sum{}))), sum));
    const auto turned = [](T item) { return static_cast<T>(~item); };
    const auto n = static_cast<signed_128>(x.size());
    const signed_128 sum_of_turned = (std::is_signed_v<T> ? -n : n * most<T>)-sum;
    EXPECT_TRUE(is_sum(tilefold::transform_reduce(x.begin(), x.end(), r::checked_sum{}, turned),
                       sum_of_turned));
  }
}

TYPED_TEST(CheckedSum, OfManyItemsOnThreads) {
  using T = TypeParam;
  constexpr std::size_t n = (std::size_t{1} << 20) + 3;
  const std::vector<T> x(n, most<T>);
  EXPECT_TRUE(
      is_sum(reduce(host_executor(3), x, r::checked_sum{}), static_cast<signed_128>(n) * most<T>));
}

// One item turns each verdict.
TYPED_TEST(CheckedSum, TurnsAtTheEnds) {
  using T = TypeParam;
  const auto of = [](std::vector<T> x) { return reduce(x, r::checked_sum<T>{}); };
  EXPECT_TRUE(of({most<T>}).fits);
  EXPECT_FALSE(of({most<T>, T{1}}).fits);
  EXPECT_EQ(of({most<T>, T{1}}).value, least<T>);
  if constexpr (std::is_signed_v<T>) {
    EXPECT_TRUE(of({least<T>}).fits);
    EXPECT_FALSE(of({least<T>, T{-1}}).fits);
    EXPECT_TRUE(of({least<T>, T{-1}, T{1}}).fits);  // what passes the end and comes back fits
    EXPECT_FALSE(reduce(std::vector<T>{T{-1}}, r::checked_sum<std::uint64_t>{}).fits);
    EXPECT_FALSE(reduce(std::vector<T>{T{-1}}, r::checked_sum<unsigned_128>{}).fits);
  }
  EXPECT_TRUE(of({}).fits);
  EXPECT_EQ(of({}).value, T{0});
}

TEST(CheckedSums, CountTruthsAndTakeInitialValues) {
  const std::array<bool, 3> truths{true, false, true};
  const auto count = reduce(truths, r::checked_sum{});
  static_assert(std::is_same_v<decltype(count.value), std::int64_t>);
  EXPECT_TRUE(is_sum(count, 2));
  const std::vector<std::int64_t> x{most<std::int64_t>};
  EXPECT_TRUE(is_sum(reduce(x, 1, r::checked_sum{}), signed_128{1} + most<std::int64_t>));
  EXPECT_TRUE(is_sum(reduce(x, -1, r::checked_sum{}), most<std::int64_t> - signed_128{1}));
}

TEST(CheckedSums, OfIntegersOf128Bits) {
  const auto of = [](std::vector<signed_128> x) { return reduce(x, r::checked_sum{}); };
  EXPECT_TRUE(of({most<signed_128>, -1}).value == most<signed_128> - 1);
  EXPECT_TRUE(of({most<signed_128>, -1}).fits);
  EXPECT_FALSE(of({most<signed_128>, 1}).fits);
  EXPECT_TRUE(of({most<signed_128>, 1}).value == least<signed_128>);
  EXPECT_TRUE(of({most<signed_128>, 1, -1}).fits);
  EXPECT_FALSE(of({least<signed_128>, -1}).fits);
  const std::vector<unsigned_128> two{most<unsigned_128>, 1};
  EXPECT_FALSE(reduce(two, r::checked_sum{}).fits);
  EXPECT_TRUE(reduce(two, r::checked_sum{}).value == 0);
  EXPECT_FALSE(reduce(two, r::checked_sum<std::int64_t>{}).fits);
  const std::vector<signed_128> small{signed_128{1} << 64, -(signed_128{1} << 64), -5};
  EXPECT_TRUE(reduce(small, r::checked_sum<std::int8_t>{}).fits);
  EXPECT_EQ(reduce(small, r::checked_sum<std::int8_t>{}).value, -5);
  EXPECT_FALSE(reduce(small, r::checked_sum<unsigned_128>{}).fits);
}

}  // namespace
}  // namespace tilefold
