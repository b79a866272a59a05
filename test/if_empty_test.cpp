// SPDX-License-Identifier: Apache-2.0
//
// Results for nothing: of ranges, segments, arrays, axes and fused parts; never in a fold.
#include <tilefold/if_empty.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/views.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

const std::vector<float> none;
const std::vector<float> some{3, 1, 2};
constexpr r::indexed_value<float> nowhere{-7, -1};

struct larger {
  TILEFOLD_HD float operator()(float a, float b) const { return a < b ? b : a; }
};

TEST(IfEmpty, IsTheResultOfAnEmptyRangeAndOfNoOther) {
  EXPECT_EQ(reduce(none, if_empty(r::arg_min{}, nowhere)).index, -1);
  EXPECT_EQ(reduce(none, if_empty(r::arg_min{}, nowhere)).value, -7);
  EXPECT_EQ(reduce(some, if_empty(r::arg_min{}, nowhere)).index, 1);
  EXPECT_EQ(reduce(some, if_empty(r::arg_min{}, nowhere)).value, 1);
  EXPECT_EQ(reduce(none, if_empty(r::mean{}, 9.5)), 9.5);
  EXPECT_EQ(reduce(some, if_empty(r::mean{}, 9.5)), 2);
  EXPECT_EQ(reduce(none.begin(), none.end(), if_empty(r::variance{}, NAN)) == 0, false);
}

TEST(IfEmpty, TakesOperators) {
  EXPECT_EQ(reduce(none, if_empty(larger{}, -4)), -4.0f);
  EXPECT_EQ(reduce(some, if_empty(larger{}, 100)), 3.0f);
  EXPECT_EQ(reduce(none, if_empty(std::plus<>{}, 5)), 5.0f);
  EXPECT_EQ(reduce<double>(some, if_empty(plus{}, 5)), 6.0);
}

float sum_of(float a, float b) { return a + b; }

TEST(IfEmpty, TakesFunctionsAndLiteralsByName) {
  EXPECT_EQ(reduce(none, if_empty(sum_of, -4)), -4.0f);
  EXPECT_EQ(reduce(some, if_empty(sum_of, -4)), 6.0f);
  const auto join = [](const std::string& a, const std::string& b) { return a + b; };
  EXPECT_EQ(reduce(std::vector<std::string>(), if_empty(join, "nothing")), "nothing");
}

TEST(IfEmpty, TakesThePlaceOfAnIdentityAndOfAnInitialValue) {
  EXPECT_EQ(reduce(none, if_empty(r::sum{}, 5)), 5.0f);
  EXPECT_EQ(reduce(some, if_empty(r::sum{}, 5)), 6.0f);
  EXPECT_EQ(reduce(none, 1.0f, if_empty(plus{}, 5)), 5.0f);
  EXPECT_EQ(reduce(some, 1.0f, if_empty(plus{}, 5)), 7.0f);
}

TEST(IfEmpty, IsAResultNotAnAccumulator) {
  // A mean's accumulator is {count, sum}; and none of min's projects to NaN of another sign.
  EXPECT_EQ(reduce(none, if_empty(r::rms{}, -1)), -1.0);
  const float minus_nan = -NAN;
  const float got = reduce(none, if_empty(r::min{}, minus_nan));
  EXPECT_TRUE(std::isnan(got));
  EXPECT_FALSE(std::signbit(got));  // results have one NaN
}

TEST(IfEmpty, GoesThroughTransformReduceAndInto) {
  const auto twice = [](float x) { return 2 * x; };
  EXPECT_EQ(transform_reduce(none.begin(), none.end(), if_empty(r::last{}, 8), twice), 8.0f);
  EXPECT_EQ(transform_reduce(some.begin(), some.end(), if_empty(r::last{}, 8), twice), 4.0f);
  EXPECT_EQ(transform_reduce(none.begin(), none.end(), none.begin(), if_empty(r::cosine{}, 0)), 0);
  EXPECT_EQ(transform_reduce(none.begin(), none.end(), 0.0f, if_empty(plus{}, 3), twice), 3.0f);
  host_executor exec;
  r::indexed_value<float> out{};
  reduce_into(exec, none, &out, if_empty(r::arg_max{}, nowhere));
  EXPECT_EQ(out.index, -1);
  double mean = 0;
  transform_reduce_into(exec, none.begin(), none.end(), &mean, if_empty(r::mean{}, 4), twice);
  EXPECT_EQ(mean, 4.0);
}

TEST(IfEmpty, IsTheResultOfEmptySegmentsOnly) {
  const std::vector<int> offsets{0, 0, 2, 2, 3, 3};
  std::vector<r::indexed_value<float>> out(5);
  segmented_reduce(some.begin(), offsets.begin(), 5, out.begin(), if_empty(r::arg_min{}, nowhere));
  const std::int64_t expected[] = {-1, 1, -1, 0, -1};
  for (std::size_t s = 0; s < 5; ++s) EXPECT_EQ(out[s].index, expected[s]) << s;
  EXPECT_EQ(out[0].value, -7);
  EXPECT_EQ(out[3].value, 2);

  std::vector<double> means(5);
  segmented_reduce(some.begin(), offsets.begin(), offsets.begin() + 1, 5, means.begin(),
                   if_empty(r::mean{}, -1));
  EXPECT_EQ(means, (std::vector<double>{-1, 2, -1, 2, -1}));
  std::vector<float> largest(5);
  segmented_reduce(some.begin(), offsets.begin(), 5, largest.begin(), if_empty(larger{}, 50));
  EXPECT_EQ(largest, (std::vector<float>{50, 3, 50, 2, 50}));
  segmented_reduce(some.begin(), offsets.begin(), 5, largest.begin(), 2.5f, if_empty(larger{}, 50));
  EXPECT_EQ(largest, (std::vector<float>{50, 3, 50, 2.5f, 50}));
  // Of equal lengths, with none and with items.
  segmented_reduce(none.begin(), 2, 0, means.begin(), if_empty(r::mean{}, 6));
  EXPECT_EQ(means[1], 6);
  segmented_reduce(some.begin(), 3, 1, means.begin(), if_empty(r::mean{}, 6));
  EXPECT_EQ(means[1], 1);
}

TEST(IfEmpty, IsTheResultOfEmptyArraysAndAxes) {
  const std::vector<const float*> arrays{some.data(), nullptr};
  const std::vector<int> lengths{3, 0};
  std::vector<r::indexed_value<float>> out(2);
  batched_reduce(arrays.begin(), lengths.begin(), 2, out.begin(), if_empty(r::arg_max{}, nowhere));
  EXPECT_EQ(out[0].index, 0);
  EXPECT_EQ(out[1].index, -1);
  // Rows of nothing, by columns and by rows, and of something.
  const test::test_view empty_rows{none.data(), test::right_layout({2, 0})};
  const test::test_view rows{some.data(), test::right_layout({1, 3})};
  const test::test_view columns{some.data(), test::right_layout({3, 1})};
  std::vector<double> results(2);
  const test::test_view two{results.data(), test::right_layout({2})};
  const test::test_view one{results.data(), test::right_layout({1})};
  axis_reduce(empty_rows, two, 1, if_empty(r::mean{}, 8));
  EXPECT_EQ(results, (std::vector<double>{8, 8}));
  axis_reduce(rows, one, 1, if_empty(r::mean{}, 8));
  EXPECT_EQ(results[0], 2);
  axis_reduce(columns, one, 0, if_empty(r::last{}, 8));
  EXPECT_EQ(results[0], 2);
}

// No run is empty.
TEST(IfEmpty, IsNoResultOfARun) {
  const std::vector<int> keys{1, 1, 2};
  std::vector<int> keys_out(3);
  std::vector<double> means(3);
  EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), some.begin(), keys_out.begin(), means.begin(),
                          if_empty(r::mean{}, 0)),
            2);
  EXPECT_EQ(means[0], 2);
}

TEST(IfEmpty, StandsInFuse) {
  const auto all = r::fuse(r::count{}, if_empty(r::mean{}, 7), if_empty(r::variance{}, -1),
                           r::fuse(r::sum{}, if_empty(r::arg_min{}, nowhere)), r::max{});
  const auto [n, mean, variance, pair, most] = reduce(none, all);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(mean, 7);
  EXPECT_EQ(variance, -1);
  EXPECT_EQ(get<0>(pair), 0);
  EXPECT_EQ(get<1>(pair).index, -1);
  EXPECT_EQ(most, -INFINITY);
  const auto plain = reduce(some, r::fuse(r::count{}, r::mean{}, r::variance{},
                                          r::fuse(r::sum{}, r::arg_min{}), r::max{}));
  const auto of_some = reduce(some, all);
  static_assert(std::same_as<decltype(plain), decltype(of_some)>);
  EXPECT_EQ(get<0>(of_some), 3);
  EXPECT_EQ(get<1>(of_some), get<1>(plain));
  EXPECT_EQ(get<2>(of_some), get<2>(plain));
  EXPECT_EQ(get<1>(get<3>(of_some)).index, 1);
}

// A part that has neither leaves the whole without a result.
TEST(IfEmpty, OfSomePartsIsNotEnough) {
  EXPECT_THROW(reduce(none, r::fuse(r::mean{}, if_empty(r::last{}, 1))), empty_range_error);
}

// Folds see the reducer alone, and take its ways.
TEST(IfEmpty, IsTheSameFold) {
  using bare = detail::fold_types<void, r::sum, detail::as_is, detail::no_init, const float*>;
  using with = detail::fold_types<void, detail::with_empty_value<r::sum, int>, detail::as_is,
                                  detail::no_init, const float*>;
  static_assert(std::same_as<bare::bound, with::bound>);
}

}  // namespace
}  // namespace tilefold
