// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on the host against committed results, whole ranges and segments.
#include <tilefold/reducers/exact.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "exact_golden.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

template <class T>
class ExactGolden : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(ExactGolden, floats);

template <class T>
T result_of(const std::string& reducer, const std::vector<T>& items) {
  if (reducer == "sum") return tilefold::reduce(items, r::exact_sum{});
  if (reducer == "mean") return tilefold::reduce(items, r::exact_mean{});
  if (reducer == "sum_of_squares") return tilefold::reduce(items, r::exact_sum_of_squares{});
  if (reducer == "l2") return tilefold::reduce(items, r::exact_l2{});
  return tilefold::transform_reduce(items.begin(), items.end(), items.rbegin(), r::exact_dot{});
}

TYPED_TEST(ExactGolden, HostBitsAreTheCommittedOnes) {
  using T = TypeParam;
  test::exact_golden::expect_all<T>(
      [](const std::string& reducer, const std::vector<std::vector<T>>& sets) {
        std::vector<T> results;
        for (const auto& items : sets) results.push_back(result_of(reducer, items));
        return results;
      });
}

TYPED_TEST(ExactGolden, SegmentsHaveThem) {
  using T = TypeParam;
  test::exact_golden::expect_all<T>(
      [](const std::string& reducer, const std::vector<std::vector<T>>& sets) {
        std::vector<T> items;
        std::vector<std::int64_t> offsets{0};
        std::vector<T> results(sets.size());
        for (const auto& set : sets) {
          items.insert(items.end(), set.begin(), set.end());
          offsets.push_back(static_cast<std::int64_t>(items.size()));
        }
        const auto fold = [&](auto op) {
          segmented_reduce(items.begin(), offsets.begin(), static_cast<std::int64_t>(sets.size()),
                           results.begin(), op);
        };
        if (reducer == "sum") fold(r::exact_sum{});
        if (reducer == "mean") fold(if_empty(r::exact_mean{}, T{}));
        if (reducer == "sum_of_squares") fold(r::exact_sum_of_squares{});
        if (reducer == "l2") fold(r::exact_l2{});
        if (reducer == "dot_with_reversed") {
          for (std::size_t s = 0; s < sets.size(); ++s) results[s] = result_of(reducer, sets[s]);
        }
        return results;
      });
}

TEST(ExactGoldenDots, CancelAlmostEverything) {
  const auto dot = [](const auto& x, const auto& y) {
    return tilefold::transform_reduce(x.begin(), x.end(), y.begin(), r::exact_dot{});
  };
  test::exact_golden::expect_dots<float>(dot);
  test::exact_golden::expect_dots<double>(dot);
}

}  // namespace
}  // namespace tilefold
