// SPDX-License-Identifier: Apache-2.0
//
// The worked example examples/weighted_histogram.hpp on the host: the bits of reduce() over the
// weights of each bin, and no event outside of them.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reduce.hpp>

#include "../examples/weighted_histogram.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

TEST(WeightedHistogram, HasTheBitsOfReduce) {
  constexpr std::int64_t num_bins = 40;
  shape_stream bits(seed());
  std::vector<float> values{std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), -1.0f, 10.0f};
  while (values.size() < 100000) values.push_back(static_cast<float>(bits() % 12000) / 1000 - 1);
  const auto n = static_cast<std::int64_t>(values.size());
  const auto weights = mixed_floats(n, seed());
  std::vector<std::vector<float>> expected(num_bins);
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (!(values[j] >= 0 && values[j] < 10)) continue;
    expected[static_cast<std::size_t>(values[j] / 0.25f)].push_back(weights[j]);
  }
  for (const int threads : {1, 2}) {
    const host_executor exec(threads);
    std::vector<weighted_histogram::bin> got(num_bins);
    weighted_histogram::fill(exec, values.data(), weights.data(), n, 0.0f, 0.25f, num_bins,
                             got.data());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].count, static_cast<std::int64_t>(expected[i].size())) << i;
      EXPECT_EQ(got[i].weight, reduce(expected[i])) << i;
      EXPECT_EQ(got[i].error, reduce(expected[i], reducers::l2{})) << i;
    }
  }
}

}  // namespace
}  // namespace tilefold::test
