// SPDX-License-Identifier: Apache-2.0
//
// Fused reducers: each part has the bits that it has alone, in pairs of every kind, nested, over
// two ranges.
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/tilefold.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../support/seed.hpp"
#include "cases.hpp"
#include "every_reducer.hpp"

namespace tilefold::test {
namespace {

/// What a reducer makes of three elements; no more than lifts and combines, for there are hundreds
/// of pairs to compile.
template <class T, class R>
std::string bits_of_three(const R& reducer) {
  const auto lifted = [&](double item, std::int64_t index) {
    const T value = static_cast<T>(item);
    if constexpr (detail::is_indexed<R>) {
      return reducer.lift(value, index);
    } else {
      return (void)index, reducer.lift(value);
    }
  };
  return bits_of(
      reducer.project(reducer.combine(reducer.combine(lifted(3, 0), lifted(-2, 1)), lifted(7, 2))));
}

void expect_same(const std::string& fused, const std::string& alone, const char* first,
                 const char* second) {
  EXPECT_EQ(fused, alone) << first << " with " << second;
}

template <class T, class First, class Second>
void expect_parts(const char* first_name, const First& first, const char* second_name,
                  const Second& second) {
  expect_same(bits_of_three<T>(r::fuse(first, second)),
              bits_of_three<T>(first) + bits_of_three<T>(second), first_name, second_name);
}

/// Whether fuse() may keep one accumulator for this reducer and another one.
template <class R>
constexpr bool may_share = detail::statistic_of<R> != detail::block_statistic::none;

template <class T>
struct before_what_may_share {
  template <class First>
  void operator()(const char* first_name, const First& first) const {
    if constexpr (may_share<First>) {
      visit_reducers<T>([&](const char* second_name, const auto& second) {
        if constexpr (may_share<std::remove_cvref_t<decltype(second)>>) {
          expect_parts<T>(first_name, first, second_name, second);
        }
      });
    }
  }
};

/// With itself; before and behind a sum, and a reducer that takes indices.
template <class T>
struct with_others {
  template <class R>
  void operator()(const char* name, const R& reducer) const {
    expect_parts<T>(name, reducer, name, reducer);
    expect_parts<T>(name, reducer, "sum", r::sum{});
    expect_parts<T>("sum", r::sum{}, name, reducer);
    expect_parts<T>(name, reducer, "arg_max", r::arg_max{});
    expect_parts<T>("arg_max", r::arg_max{}, name, reducer);
  }
};

TEST(FusePairs, OfAllThatMayShareAnAccumulator) {
  visit_reducers<float>(before_what_may_share<float>{});
}
TEST(FusePairs, OfAnyReducerWithOthers) { visit_reducers<float>(with_others<float>{}); }
TEST(FusePairs, OfIntegersWithOthers) { visit_selections<int>(with_others<int>{}); }

TEST(Fuse, GivesNamesToItsParts) {
  const std::vector<float> x{3, 1, 2, 6};
  const auto [n, average, spread, low, high] =
      tilefold::reduce(x, r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::arg_max{}));
  static_assert(std::is_same_v<decltype(n), const std::int64_t>);
  static_assert(std::is_same_v<decltype(low), const float>);
  EXPECT_EQ(n, 4);
  EXPECT_EQ(average, 3.0);
  EXPECT_EQ(spread, 14.0 / 3);
  EXPECT_EQ(low, 1.0f);
  EXPECT_EQ(high.value, 6.0f);
  EXPECT_EQ(high.index, 3);
}

TEST(Fuse, Nests) {
  const std::vector<double> x = make_items<double>(pattern::mixed, 5000);
  const auto inner = r::fuse(r::arg_min{}, r::variance{});
  const auto [sum, pair, last] = tilefold::reduce(x, r::fuse(r::sum{}, inner, r::last{}));
  const auto [least, variance] = pair;
  EXPECT_EQ(bits_of(sum), bits_of(tilefold::reduce(x)));
  EXPECT_EQ(bits_of(least), bits_of(tilefold::reduce(x, r::arg_min{})));
  EXPECT_EQ(bits_of(variance), bits_of(tilefold::reduce(x, r::variance{})));
  EXPECT_EQ(last, x.back());
}

TEST(Fuse, OfLongRangesHasTheBitsOfItsParts) {
  const auto x = make_items<float>(pattern::mixed, 300001);
  const auto both = tilefold::reduce(x, r::fuse(r::sum{}, r::mean_variance{}, r::logsumexp{}));
  EXPECT_EQ(bits_of(both), bits_of(tilefold::reduce(x)) +
                               bits_of(tilefold::reduce(x, r::mean_variance{})) +
                               bits_of(tilefold::reduce(x, r::logsumexp{})));
}

// A variance counts and sums, so that others need not.
TEST(Fuse, KeepsOnceWhatSeveralPartsKnow) {
  const auto of_one = r::fuse(r::count{}, r::mean{}, r::standard_deviation{}, r::variance{},
                              r::mean_variance{}, r::max{});
  using acc = detail::reducer_accumulator_t<decltype(of_one), float>;
  static_assert(sizeof(acc) == sizeof(detail::variance_state) + sizeof(double));
  static_assert(std::is_default_constructible_v<acc>);  // arrays of them in users' kernels
  for (const std::int64_t n : {1, 2, 3, 1000, 300001}) {
    const auto x = make_items<float>(pattern::mixed, n, seed());
    const auto alone = [&](const auto& reducer) { return bits_of(tilefold::reduce(x, reducer)); };
    EXPECT_EQ(alone(of_one), alone(r::count{}) + alone(r::mean{}) + alone(r::standard_deviation{}) +
                                 alone(r::variance{}) + alone(r::mean_variance{}) + alone(r::max{}))
        << n;
    EXPECT_EQ(alone(r::fuse(r::mean{}, r::count{})), alone(r::mean{}) + alone(r::count{})) << n;
    EXPECT_EQ(alone(r::fuse(r::variance{}, r::fuse(r::mean{}, r::count{}))),
              alone(r::variance{}) + alone(r::mean{}) + alone(r::count{}))
        << n;
  }
  const auto [first, second] =
      tilefold::reduce(std::vector<int>{}, r::fuse(r::count{}, r::count{}));
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 0);
}

struct count_of_positives : r::count {
  template <class T>
  std::int64_t lift(const T& value) const {
    return value > 0 ? 1 : 0;
  }
};
struct mean_of_magnitudes : r::mean {
  template <class T>
  auto lift(const T& value) const {
    return r::mean::lift(value < 0 ? -value : value);
  }
};

TEST(Fuse, LeavesWhatIsDerivedFromAPartToItself) {
  const std::vector<float> x{1, -2, 3, -4, 5, -6};
  const auto [positives, mean] =
      tilefold::reduce(x, r::fuse(count_of_positives{}, mean_of_magnitudes{}));
  EXPECT_EQ(positives, 3);
  EXPECT_EQ(mean, 3.5);
  const auto [positives_again, magnitude, spread] = tilefold::reduce(
      x, r::fuse(count_of_positives{}, mean_of_magnitudes{}, r::variance{divisor::population}));
  EXPECT_EQ(positives_again, 3);
  EXPECT_EQ(magnitude, 3.5);
  EXPECT_EQ(spread, tilefold::reduce(x, r::variance{divisor::population}));
}

TEST(Fuse, OfOneIsThatOne) {
  const std::vector<int> x{1, 2};
  const auto [sum] = tilefold::reduce(x, r::fuse(r::sum{}));
  EXPECT_EQ(sum, 3);
}

/// The sum of a tuple's values, as code that knows tuples only writes it.
template <class Tuple, std::size_t... I>
double sum_of(const Tuple& values, std::index_sequence<I...>) {
  using std::get;
  return (0.0 + ... + static_cast<double>(get<I>(values)));
}
template <class Tuple>
double sum_of(const Tuple& values) {
  return sum_of(values, std::make_index_sequence<std::tuple_size_v<Tuple>>());
}

TEST(Fuse, ResultsAreGotAsThoseOfATuple) {
  const std::vector<float> x{3, 1, 2, 6};
  auto found = tilefold::reduce(x, r::fuse(r::count{}, r::mean{}, r::max{}));
  using result = decltype(found);
  static_assert(std::tuple_size_v<result> == 3);
  static_assert(std::is_same_v<std::tuple_element_t<2, result>, float>);
  static_assert(std::is_same_v<decltype(get<0>(found)), std::int64_t&>);
  static_assert(std::is_same_v<decltype(get<0>(std::as_const(found))), const std::int64_t&>);
  static_assert(std::is_same_v<decltype(get<0>(std::move(found))), std::int64_t&&>);
  EXPECT_EQ(get<0>(found), 4);
  EXPECT_EQ(get<1>(found), 3.0);
  EXPECT_EQ(tilefold::get<2>(found), 6.0f);
  EXPECT_EQ(sum_of(found), 13.0);
  EXPECT_EQ(sum_of(std::tuple(4, 3.0, 6.0f)), 13.0);
  get<2>(found) = 7.0f;
  EXPECT_EQ(tilefold::apply([](auto n, auto mean, auto max) { return n + mean + max; }, found),
            14.0);
  EXPECT_EQ(get<1>(get<0>(tilefold::reduce(x, r::fuse(r::fuse(r::first{}, r::last{}))))), 6.0f);
}

TEST(Fuse, TakesTwoRanges) {
  const std::vector<float> x{1, 2, 3};
  const std::vector<double> y{4, 5, 6};
  const auto [n, dot, pair] = tilefold::transform_reduce(
      x.begin(), x.end(), y.begin(),
      r::fuse(r::count{}, r::dot{}, r::fuse(r::covariance{}, r::weighted_mean{})));
  EXPECT_EQ(n, 3);
  EXPECT_EQ(dot, 32.0);
  EXPECT_EQ(pair.get<0>(), 1.0);
  EXPECT_EQ(pair.get<1>(), 32.0 / 15);
}

TEST(Fuse, IsCommutativeOnlyIfAllPartsAre) {
  using both = decltype(r::fuse(r::sum{}, r::mean{}));
  using with_last = decltype(r::fuse(r::sum{}, r::last{}));
  using acc = detail::reducer_accumulator_t<both, float>;
  using acc_with_last = detail::reducer_accumulator_t<with_last, float>;
  static_assert(detail::reducer_traits<both, acc>::commutative);
  static_assert(detail::reducer_traits<both, acc>::separately_rounded);
  static_assert(!detail::reducer_traits<with_last, acc_with_last>::commutative);
}

}  // namespace
}  // namespace tilefold::test
