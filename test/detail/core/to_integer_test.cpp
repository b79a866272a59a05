// SPDX-License-Identifier: Apache-2.0
//
// Floating numbers where integers are wanted, as items, results, initial values and keys: rounded
// toward zero, bounded to what the type holds, 0 for NaN.
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/integers_of_reals.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

const auto converted = []<class Int, class Real>(Int, const std::vector<Real>& reals) {
  std::vector<Int> integers;
  for (const Real x : reals) integers.push_back(detail::convert<Int>(x));
  return integers;
};

template <class Real>
void converts_to_every_type() {
  expect_integers_of_every_type<Real>(converted);
  // No further types where those above are of these sizes, but names of their own.
  expect_integers_of<char, Real>(converted);
  expect_integers_of<long long, Real>(converted);
}

TEST(ToInteger, OfFloats) { converts_to_every_type<float>(); }
TEST(ToInteger, OfDoubles) { converts_to_every_type<double>(); }
TEST(ToInteger, OfLongDoubles) {
  EXPECT_EQ(detail::convert<std::int64_t>(9223372036854775806.5L), 9223372036854775806);
  EXPECT_EQ(detail::convert<std::int64_t>(0x1p63L), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(detail::convert<int>(-1e30L), std::numeric_limits<int>::min());
}

TEST(ToInteger, KnownValues) {
  EXPECT_EQ(detail::convert<int>(1e20), 2147483647);
  EXPECT_EQ(detail::convert<int>(-1e20f), -2147483647 - 1);
  EXPECT_EQ(detail::convert<int>(std::numeric_limits<float>::quiet_NaN()), 0);
  EXPECT_EQ(detail::convert<unsigned>(-1.0), 0u);
  EXPECT_EQ(detail::convert<std::uint8_t>(300.0f), 255);
  EXPECT_EQ(detail::convert<std::int8_t>(-129.0f), -128);
  EXPECT_EQ(detail::convert<int>(-2.9), -2);
  EXPECT_TRUE(detail::convert<bool>(0.25));
}

constexpr int least = std::numeric_limits<int>::min();
constexpr int most = std::numeric_limits<int>::max();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(ToInteger, OfResults) {
  const std::vector<float> items{3e38f, 1e38f, -2e30f};
  int out = 1;
  reduce_into(host_executor(), items, &out, maximum{});
  EXPECT_EQ(out, most);
  reduce_into(host_executor(), items, &out, minimum{});
  EXPECT_EQ(out, least);
  const std::vector<float> unknown{1.0f, nan};
  reduce_into(host_executor(), unknown, &out);
  EXPECT_EQ(out, 0);
  unsigned char byte = 1;
  reduce_into(host_executor(), std::vector<half>{half(200.0f), half(100.0f)}, &byte);
  EXPECT_EQ(byte, 255);
}

TEST(ToInteger, OfResultsOfSegmentsRunsAndAxes) {
  const std::vector<float> items{1e20f, 1.0f, -1e20f, 1.0f, nan, 1.0f, 2.5f, 3.0f};
  const std::vector<int> wanted{most, least, 0, 5};
  std::vector<int> out(4);
  segmented_reduce(items.begin(), 4, 2, out.begin());
  EXPECT_EQ(out, wanted);
  const std::vector<float> keys{-5e9f, -5e9f, 7.5f, 7.5f, 8.0f, 8.0f, 5e9f, 5e9f};
  std::vector<int> keys_out(4);
  out.assign(4, 1);
  EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin()),
            4);
  EXPECT_EQ(out, wanted);
  EXPECT_EQ(keys_out, (std::vector<int>{least, 7, 8, most}));
  const test_view matrix{items.data(), right_layout({4, 2})};
  const test_view rows{out.data(), right_layout({4})};
  out.assign(4, 1);
  axis_reduce(matrix, rows, 1);
  EXPECT_EQ(out, wanted);
}

TEST(ToInteger, OfItemsAndInitialValues) {
  const std::vector<double> items{1e300, -1e300, 5.9, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(reduce<int>(items.begin(), items.end()), most + least + 5);
  EXPECT_EQ(reduce<int>(items.begin() + 2, items.end(), 1e10, minimum{}), 0);
  EXPECT_EQ(reduce<int>(items.begin() + 2, items.begin() + 3, 1e10, maximum{}), most);
  EXPECT_EQ(reduce<std::uint16_t>(items.begin(), items.end(), maximum{}), 65535);
  EXPECT_EQ(reduce<int>(std::vector<half>{half(-65504.0f), half(7.75f)}, maximum{}), 7);
}

// An operator that leaves the accumulator's type at each node.
TEST(ToInteger, OfWhatAnOperatorReturns) {
  const std::vector<int> items{most, most, -5};
  const auto halves = [](int a, int b) { return 1.5 * a + b; };
  EXPECT_EQ(reduce<int>(items, halves), most);
}

}  // namespace
}  // namespace tilefold::test
