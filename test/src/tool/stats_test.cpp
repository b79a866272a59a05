// SPDX-License-Identifier: Apache-2.0
//
// Parts of `tilefold stats`: pieces that leave no trace in a result, sums that do not overflow, and
// names. stats_test.py is the test of the whole.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend_host.hpp"
#include "op_names.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::tool {
namespace {

template <class Item>
summary_job job_of(const std::vector<Item>& items) {
  return {dtype_of<Item>::value, reinterpret_cast<const std::byte*>(items.data()),
          static_cast<std::int64_t>(items.size()), [](std::int64_t) {}};
}

void expect_same(const placed_value& a, const placed_value& b) {
  EXPECT_TRUE(a.value.same_bits(b.value));
  EXPECT_EQ(a.index, b.index);
}

void expect_same_bits(double a, double b) {
  EXPECT_TRUE(scalar::of(a).same_bits(scalar::of(b))) << a << " " << b;
}

void expect_same(const summary& a, const summary& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.missing, b.missing);
  ASSERT_EQ(a.numbers.has_value(), b.numbers.has_value());
  if (!a.numbers) return;
  if (const auto* sum = std::get_if<exact_sum>(&a.numbers->sum)) {
    EXPECT_EQ(sum->decimal(), std::get<exact_sum>(b.numbers->sum).decimal());
  } else {
    expect_same_bits(std::get<double>(a.numbers->sum), std::get<double>(b.numbers->sum));
  }
  expect_same_bits(a.numbers->mean, b.numbers->mean);
  expect_same_bits(a.numbers->deviation, b.numbers->deviation);
  expect_same_bits(a.numbers->l1, b.numbers->l1);
  expect_same_bits(a.numbers->l2, b.numbers->l2);
  EXPECT_TRUE(a.numbers->linf.same_bits(b.numbers->linf));
  expect_same(a.numbers->min, b.numbers->min);
  expect_same(a.numbers->max, b.numbers->max);
}

template <class Item>
void expect_no_trace_of_pieces(const std::vector<Item>& items) {
  const summary whole = summarize_on_host(host_executor(1), job_of(items));
  for (const std::int64_t piece : {1, 4, 1024, 8192}) {
    for (const int threads : {1, 3}) {
      expect_same(summarize_on_host(host_executor(threads), job_of(items), piece), whole);
    }
  }
}

TEST(stats, pieces_leave_no_trace) {
  test::shape_stream random(test::seed());
  std::normal_distribution<double> normal;
  for (const std::size_t n : {1u, 5u, 1023u, 1024u, 1025u, 30011u}) {
    std::vector<double> items(n);
    std::vector<std::int16_t> whole(n);
    for (std::size_t i = 0; i < n; ++i) {
      items[i] = std::ldexp(normal(random), static_cast<int>(random() % 40));
      whole[i] = static_cast<std::int16_t>(random());
    }
    expect_no_trace_of_pieces(items);
    expect_no_trace_of_pieces(whole);
    // Pieces without a number among those with some.
    for (std::size_t i = 0; i < n; ++i) {
      if (i / 1500 % 2 == 0) items[i] = std::numeric_limits<double>::quiet_NaN();
    }
    expect_no_trace_of_pieces(items);
  }
}

TEST(stats, progress_is_told_of_every_byte) {
  const std::vector<float> items(1000, 1.0f);
  std::int64_t bytes = 0;
  auto job = job_of(items);
  job.advance = [&](std::int64_t more) { bytes += more; };
  summarize_on_host(host_executor(1), job, 64);
  EXPECT_EQ(bytes, 4000);
}

std::string digits_of_sum(std::uint64_t a, std::uint64_t b) {
  const exact_sum_reducer sum;
  return sum.combine(sum.lift(a), sum.lift(b)).decimal();
}

TEST(exact_sum, in_decimal) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(digits_of_sum(0, 0), "0");
  EXPECT_EQ(digits_of_sum(7, 5), "12");
  EXPECT_EQ(digits_of_sum(most, 0), "18446744073709551615");
  EXPECT_EQ(digits_of_sum(most, most), "36893488147419103230");
  const exact_sum_reducer sum;
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(sum.lift(least).decimal(), "-9223372036854775808");
  EXPECT_EQ(sum.combine(sum.lift(least), sum.lift(least)).decimal(), "-18446744073709551616");
  EXPECT_EQ(sum.combine(sum.lift(std::int64_t{-1}), sum.lift(std::int64_t{1})).decimal(), "0");
  EXPECT_EQ((exact_sum{0, std::uint64_t{1} << 63}.decimal()),
            "-170141183460469231731687303715884105728");
}

TEST(op_names, aliases) {
  EXPECT_EQ(find_op("and"), op_kind::bit_and);
  EXPECT_EQ(find_op("sd"), op_kind::standard_deviation);
  for (const op_row& row : op_rows) EXPECT_EQ(find_op(std::string(row.name)), row.id);
  for (const alias_row& row : alias_rows) EXPECT_NO_THROW(find_op(std::string(row.name)));
}

}  // namespace
}  // namespace tilefold::tool
