// SPDX-License-Identifier: Apache-2.0
//
// Products of the library are rounded before they are added, also where the target fuses the two
// and loops are vectorized. The oracle's products go through memory. Built a second time for a
// target with FMA.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/items.hpp"
#include "../support/oracle.hpp"

namespace tilefold::test {
namespace {

double product(double a, double b) {
  volatile double rounded = a * b;
  return rounded;
}

struct three_sums {
  double xx, yy, xy;
};

// Numbers of about 2^31, whose products do not fit a double.
TEST(Contraction, DoesNotReachTheProductsOfACosine) {
  for (std::int64_t n = 1; n < 700; ++n) {
    const auto x = make_items<std::int32_t>(pattern::any_bits, n, static_cast<std::uint64_t>(n));
    const auto y = make_items<std::int32_t>(pattern::any_bits, n, 12345);
    std::vector<three_sums> leaves;
    for (std::size_t i = 0; i < x.size(); ++i) {
      leaves.push_back({product(x[i], x[i]), product(y[i], y[i]), product(x[i], y[i])});
    }
    const auto sums = neighbour_tree(
        [](const three_sums& a, const three_sums& b) {
          return three_sums{a.xx + b.xx, a.yy + b.yy, a.xy + b.xy};
        },
        leaves);
    ASSERT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), reducers::cosine{}),
              sums.xy / std::sqrt(product(sums.xx, sums.yy)))
        << n;
    EXPECT_EQ(tilefold::reduce(x, reducers::l2{}), std::sqrt(sums.xx)) << n;
    const auto both = tilefold::reduce(x, reducers::fuse(reducers::l2{}, reducers::count{}));
    EXPECT_EQ(both.get<0>(), std::sqrt(sums.xx)) << n;
  }
}

TEST(Contraction, DoesNotReachTheProductsOfADot) {
  for (const std::int64_t n : {8, 100, 1000, 5000}) {
    const auto x = make_items<double>(pattern::mixed, n, 5);
    const auto y = make_items<double>(pattern::mixed, n, 6);
    std::vector<double> leaves;
    for (std::size_t i = 0; i < x.size(); ++i) leaves.push_back(product(x[i], y[i]));
    EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), reducers::dot{}),
              neighbour_tree([](double a, double b) { return a + b; }, leaves))
        << n;
  }
}

}  // namespace
}  // namespace tilefold::test
