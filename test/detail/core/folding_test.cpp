// SPDX-License-Identifier: Apache-2.0
//
// What is asked at the border between verbs and executors, and what is known there of reducers.
#include <tilefold/detail/core/folding.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/core/fold_executor.hpp>
#include <tilefold/detail/exact/wide_integer.hpp>
#include <tilefold/host.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>

namespace tilefold::detail {
namespace {

namespace r = reducers;

template <class R, class T = float>
using bound = bound_reducer<R, as_is, T>;

struct no_project {
  using accumulator = float;
  using result = float;
  static constexpr bool commutative = true;
  static constexpr bool lift_may_fuse = false;
  static constexpr bool combine_may_fuse = false;
  float combine(float a, float b) const { return a + b; }
};
struct named_executor {
  using executor_concept = executor_tag;
};

static_assert(folding<op_reducer<float, plus>>);
static_assert(folding<bound<r::mean>>);
static_assert(!folding<r::mean>, "it must be bound to its elements first");
static_assert(!folding<no_project>);

static_assert(fold_executor<host_executor>);
static_assert(executor<named_executor> && !fold_executor<named_executor>);

template <class R>
using traits = fold_traits<R>;

TEST(FoldTraits, OfOperators) {
  using sum = traits<op_reducer<float, plus>>;
  EXPECT_TRUE(sum::has_neutral && sum::pads);
  EXPECT_FALSE(sum::order_free || sum::settles || sum::selects || sum::folds_in_any_order);
  using least = traits<op_reducer<std::int64_t, minimum>>;
  EXPECT_TRUE(least::order_free);
  EXPECT_FALSE(least::folds_in_any_order) << "operators are as fast in a tree";
  using large = traits<op_reducer<signed_128, minimum>>;
  EXPECT_TRUE(large::order_free);
  EXPECT_FALSE(large::folds_in_any_order) << "those of large accumulators, too";
}

TEST(FoldTraits, OfPublicReducers) {
  EXPECT_FALSE(traits<bound<r::mean>>::has_neutral);
  EXPECT_TRUE(traits<bound<r::l1>>::pads && traits<bound<r::l2>>::pads);
  EXPECT_FALSE(traits<bound<r::mean>>::order_free);
  using place = traits<bound<r::arg_min<>>>;
  EXPECT_TRUE(place::order_free && place::folds_in_any_order);
  EXPECT_FALSE(place::settles || place::selects);
  const auto is_negative = [](float x) { return x < 0; };
  using question = traits<bound<r::any<decltype(is_negative)>>>;
  EXPECT_TRUE(question::settles && question::folds_in_any_order);
  EXPECT_TRUE((traits<bound<r::top_k<8>>>::selects));
}

// A neutral accumulator leaves the bits of any other as they are, on either side.
template <class R>
void expect_neutral(const std::vector<typename R::accumulator>& values, const R& reducer) {
  for (const auto& value : values) {
    const auto left = reducer.combine(R::neutral(), value);
    const auto right = reducer.combine(value, R::neutral());
    EXPECT_EQ(std::memcmp(&left, &value, sizeof value), 0);
    EXPECT_EQ(std::memcmp(&right, &value, sizeof value), 0);
  }
}

TEST(FoldTraits, NeutralAccumulators) {
  std::vector<double> sizes;
  for (const double x : {0.0, 0x1p-1074, 1e-300, 0.1, 1.0, 1e300, HUGE_VAL}) sizes.push_back(x);
  expect_neutral(sizes, bound<r::l1>{});
  using squares = bound<r::l2>;
  std::vector<squares::accumulator> values;
  for (const float x : {-0.0f, 0.0f, 1e-45f, -3.0f, 3e38f, HUGE_VALF}) {
    values.push_back(squares{}.lift(x));
  }
  expect_neutral(values, squares{});
  using of_doubles = detail::bound_reducer<r::l2, detail::as_is, double>;
  std::vector<of_doubles::accumulator> scaled;
  for (const double x : {-0.0, 0x1p-1074, -1e-200, 1.0, -1e200, HUGE_VAL}) {
    scaled.push_back(of_doubles{}.lift(x));
  }
  expect_neutral(scaled, of_doubles{});
}

TEST(FoldTraits, OfWhatSaysNothing) {
  EXPECT_FALSE(traits<no_project>::order_free || traits<no_project>::has_neutral ||
               traits<no_project>::joins_equals || traits<no_project>::folds_in_any_order);
}

}  // namespace
}  // namespace tilefold::detail
