// SPDX-License-Identifier: Apache-2.0
//
// The examples of docs/reducers.md, one a line of its table, with what they give.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace {

namespace r = tilefold::reducers;
using tilefold::reduce;
using tilefold::transform_reduce;

const std::vector<float> x{3, 1, 2, 6};
const std::vector<float> y{1, 0, 1, 1};
const std::vector<float> w{1, 1, 1, 3};
const std::vector<int> i{1, 2, 7};
const auto positive = [](float v) { return v > 0; };

struct point {
  float x, y, z;
};
const std::vector<point> points{{1, 0, 0}, {0, 3, 4}, {2, 2, 1}};
const auto distance = [](const point& p) { return std::hypot(p.x, p.y, p.z); };
const auto farther = [](float a, float b) { return a > b; };

TEST(Examples, Operators) {
  EXPECT_EQ(reduce(x, r::sum{}), 12);
  EXPECT_EQ(reduce(x, r::product{}), 36);
  EXPECT_EQ(reduce(x, r::min{}), 1);
  EXPECT_EQ(reduce(x, r::max{}), 6);
  EXPECT_EQ(reduce(x, r::minmax{}).max, 6);
  EXPECT_EQ(reduce(i, r::bit_and{}), 0);
  EXPECT_EQ(reduce(i, r::bit_or{}), 7);
  EXPECT_EQ(reduce(i, r::bit_xor{}), 4);
  EXPECT_TRUE(reduce(i, r::checked_sum{}).fits);
}

TEST(Examples, Questions) {
  EXPECT_EQ(reduce(x, r::count{}), 4);
  EXPECT_EQ(reduce(x, r::count_if{positive}), 4);
  EXPECT_TRUE(reduce(x, r::any{positive}));
  EXPECT_TRUE(reduce(x, r::all{positive}));
  EXPECT_FALSE(reduce(x, r::none{positive}));
  EXPECT_FALSE(reduce(x, r::logical_xor{positive}));
  EXPECT_FALSE(reduce(y, r::all{}));
}

TEST(Examples, Places) {
  EXPECT_EQ(reduce(x, r::first{}), 3);
  EXPECT_EQ(reduce(x, r::last{}), 6);
  EXPECT_EQ(reduce(x, r::arg_min{}).index, 1);
  EXPECT_EQ(reduce(x, r::arg_max<tilefold::nan_rule::ignore>{}).index, 3);
  EXPECT_EQ(reduce(x, r::arg_minmax{}).max.value, 6);
  EXPECT_EQ(reduce(points, r::arg_min_by{distance, farther}).index, 1);
  EXPECT_EQ(reduce(x, r::top_k<2>{})[1].index, 0);
  EXPECT_EQ(reduce(x, r::bottom_k<2>{})[1].value, 2);
}

TEST(Examples, Statistics) {
  EXPECT_EQ(reduce(x, r::mean{}), 3.0);
  EXPECT_EQ(reduce(x, r::variance{}), 14.0 / 3);
  EXPECT_EQ(reduce(x, r::variance(tilefold::divisor::population)), 3.5);
  EXPECT_EQ(reduce(x, r::standard_deviation(tilefold::divisor::population)), std::sqrt(3.5));
  EXPECT_EQ(reduce(x, r::mean_variance{}).mean, 3.0);
  EXPECT_NEAR(reduce(x, r::skewness{}), 0.687, 1e-3);
  EXPECT_NEAR(reduce(x, r::kurtosis{}), -1.0, 1e-12);
  EXPECT_NEAR(reduce(x, r::geometric_mean{}), std::sqrt(6.0), 1e-15);
  EXPECT_EQ(reduce(x, r::harmonic_mean{}), 2.0);
}

TEST(Examples, Norms) {
  EXPECT_EQ(reduce(x, r::l1{}), 12.0);
  EXPECT_EQ(reduce(x, r::l2{}), std::sqrt(50.0));
  EXPECT_EQ(reduce(x, r::rms{}), std::sqrt(12.5));
  EXPECT_EQ(reduce(x, r::linf{}), 6.0f);
  EXPECT_NEAR(reduce(x, r::logsumexp{}), 6.0722, 1e-4);
  EXPECT_EQ(reduce(x, r::softmax_pair{}).max, 6.0);
  EXPECT_EQ(reduce(x, r::compensated_sum{}), 12.0f);
}

TEST(Examples, TwoRanges) {
  EXPECT_EQ(transform_reduce(x.begin(), x.end(), y.begin(), r::dot{}), 11.0f);
  EXPECT_EQ(transform_reduce(x.begin(), x.end(), y.begin(), r::compensated_dot{}), 11.0f);
  EXPECT_NEAR(transform_reduce(x.begin(), x.end(), y.begin(), r::cosine{}), 0.8981, 1e-4);
  EXPECT_NEAR(transform_reduce(x.begin(), x.end(), y.begin(), r::covariance{}), 2.0 / 3, 1e-15);
  EXPECT_NEAR(transform_reduce(x.begin(), x.end(), y.begin(), r::correlation{}), 0.6172, 1e-4);
  EXPECT_EQ(transform_reduce(x.begin(), x.end(), w.begin(), r::weighted_mean{}), 4.0);
}

TEST(Examples, Fused) {
  const auto [n, average] = reduce(x, r::fuse(r::count{}, r::mean{}));
  EXPECT_EQ(static_cast<double>(n) * average, 12.0);
}

TEST(Examples, OfNothing) {
  using tilefold::if_empty;
  const std::vector<float> none;
  EXPECT_EQ(reduce(x, if_empty(r::mean{}, 0.0)), 3.0);
  EXPECT_EQ(reduce(none, if_empty(r::mean{}, 0.0)), 0.0);
  const auto [n, spread] = reduce(none, r::fuse(r::count{}, if_empty(r::variance{}, -1.0)));
  EXPECT_EQ(static_cast<double>(n) + spread, -1.0);
}

struct squares : r::sum {
  template <class T>
  TILEFOLD_HD auto lift(const T& v) const {
    return v * v;
  }
};

TEST(Examples, Derived) { EXPECT_EQ(reduce(x, squares{}), 50.0f); }

TEST(Examples, OfYourOwn) {
  struct bounds {
    float lo, hi;
  };
  const auto range = r::make_reducer(
      [](float v) { return bounds{v, v}; },
      [](bounds a, bounds b) { return bounds{std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; },
      [](bounds b) { return b.hi - b.lo; });
  EXPECT_EQ(reduce(x, range), 5.0f);
}

TEST(Examples, Verbs) {
  EXPECT_EQ(tilefold::count(x, 6), 1);
  EXPECT_EQ(tilefold::count_if(x, positive), 4);
  EXPECT_TRUE(tilefold::any_of(x, positive) && tilefold::all_of(x, positive));
  EXPECT_FALSE(tilefold::none_of(x, positive));
  EXPECT_EQ(*tilefold::min_element(x), 1);
  EXPECT_EQ(*tilefold::max_element(x), 6);
  EXPECT_EQ(tilefold::minmax_element(x).second - x.begin(), 3);
  EXPECT_EQ(tilefold::max_value(x) - tilefold::min_value(x), tilefold::minmax_value(x).max - 1);
  EXPECT_EQ(tilefold::inner_product(x.begin(), x.end(), y.begin(), 0.0f), 11.0f);
  EXPECT_EQ(tilefold::mean(x), 3.0);
  EXPECT_EQ(tilefold::variance(x, tilefold::divisor::population), 3.5);
  EXPECT_EQ(tilefold::norm(x, r::l1{}), 12.0);
  EXPECT_NEAR(tilefold::logsumexp(x), 6.0722, 1e-4);
}

}  // namespace
