// SPDX-License-Identifier: Apache-2.0
//
// transform_rows and log_softmax on the host: the row's value is reduce()'s of the row alone.
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/checked.hpp>
#include <tilefold/error.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/transform_rows.hpp>

#include "support/row_items.hpp"

namespace tilefold::test {
namespace {

TEST(TransformRows, LogSoftmaxSubtractsTheRowsLogsumexp) {
  for (const std::int64_t n : {1, 2, 3, 31, 64, 65, 1000, 40000}) {
    expect_log_softmax<float, float>(host_executor(), 3, n);
    expect_log_softmax<half, half>(host_executor(), 3, n);
    expect_log_softmax<bfloat16, float>(host_executor(), 3, n);
    expect_log_softmax<double, double>(host_executor(), 3, n);
  }
}

TEST(TransformRows, TakesAnyReducerAndFunction) {
  const std::vector<float> x = row_items<float>(700);
  std::vector<double> out(700);
  transform_rows(host_executor(), x.data(), 7, 100, out.data(), reducers::l2{},
                 [](float item, double norm) { return item / norm; });
  for (int i = 0; i < 700; ++i) {
    const float* const row = x.data() + i / 100 * 100;
    const double norm = reduce(host_executor(), row, row + 100, reducers::l2{});
    EXPECT_TRUE(same_bits(out[i], x[i] / norm)) << i;
  }
}

TEST(TransformRows, MayWriteOverItsItems) {
  std::vector<float> x = row_items<float>(300);
  std::vector<float> apart(300);
  log_softmax(host_executor(), x.data(), 3, 100, apart.data());
  log_softmax(host_executor(), x.data(), 3, 100, x.data());
  EXPECT_EQ(std::memcmp(x.data(), apart.data(), 300 * sizeof(float)), 0);
}

TEST(TransformRows, NeedsNoExecutor) {
  const std::vector<float> x = row_items<float>(300);
  std::vector<float> wanted(300), found(300);
  log_softmax(host_executor(), x.data(), 3, 100, wanted.data());
  log_softmax(x.data(), 3, 100, found.data());
  EXPECT_EQ(std::memcmp(wanted.data(), found.data(), 300 * sizeof(float)), 0);
  const auto quotient = [](float item, double norm) {
    return static_cast<float>(static_cast<double>(item) / norm);
  };
  transform_rows(host_executor(), x.data(), 3, 100, wanted.data(), reducers::l2{}, quotient);
  transform_rows(x.data(), 3, 100, found.data(), reducers::l2{}, quotient);
  EXPECT_EQ(std::memcmp(wanted.data(), found.data(), 300 * sizeof(float)), 0);
}

TEST(TransformRows, OfNothingWritesNothing) {
  const float* const none = nullptr;
  float* const nowhere = nullptr;
  log_softmax(host_executor(), none, 0, 100, nowhere);
  log_softmax(host_executor(), none, 100, 0, nowhere);
}

TEST(TransformRows, RefusesWhatIsNoNumberOfItems) {
  float x[2] = {1, 2};
  EXPECT_THROW(log_softmax(host_executor(), x, -1, 2, x), invalid_range_error);
  EXPECT_THROW(log_softmax(host_executor(), x, 1, -2, x), invalid_range_error);
  EXPECT_THROW(log_softmax(host_executor(), x, std::int64_t{1} << 40, std::int64_t{1} << 40, x),
               invalid_range_error);
  host_executor host;
  EXPECT_THROW(log_softmax(checked(host, 2), x, 3, 1, x), segment_error);
  EXPECT_THROW(log_softmax(checked(host, 1), x, 1, 2, x), segment_error);
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 2);
  log_softmax(checked(host, 2), x, 2, 1, x);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], 0);
}

}  // namespace
}  // namespace tilefold::test
