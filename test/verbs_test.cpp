// SPDX-License-Identifier: Apache-2.0
//
// The verbs made of reducers on the host: every call form, against the standard library's verbs of
// the same name, and on empty ranges.
#include <tilefold/count.hpp>
#include <tilefold/extrema.hpp>
#include <tilefold/inner_product.hpp>
#include <tilefold/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold {
namespace {

const auto above_one = [](int x) { return x > 1; };

TEST(VerbCalls, TakeRangesIteratorsAndExecutors) {
  const std::vector<int> x{3, 1, 2, 1};
  host_executor exec;
  EXPECT_EQ(tilefold::count(x, 1), 2);
  EXPECT_EQ(tilefold::count(x.begin(), x.end(), 1), 2);
  EXPECT_EQ(tilefold::count(exec, x, 1), 2);
  EXPECT_EQ(tilefold::count(exec, x.begin(), x.end(), 1), 2);
  EXPECT_EQ(tilefold::mean(x), 1.75);
  EXPECT_EQ(tilefold::mean(x.data(), x.data() + 4), 1.75);
  EXPECT_EQ(tilefold::mean(exec, x), 1.75);
  EXPECT_EQ(tilefold::mean(exec, x.begin(), x.end()), 1.75);
  EXPECT_EQ(tilefold::mean(host_executor(), x), 1.75);
  EXPECT_EQ(tilefold::mean(with_policy<tile_policy{128, 8}>(exec), x), 1.75);
  EXPECT_EQ(tilefold::min_element(x), x.begin() + 1);
  EXPECT_EQ(tilefold::min_element(exec, x), x.begin() + 1);
  EXPECT_EQ(tilefold::min_element(x.begin(), x.end()), x.begin() + 1);
  EXPECT_EQ(tilefold::min_element(exec, x.begin(), x.end()), x.begin() + 1);
  const int plain[] = {3, 1, 2, 1};
  EXPECT_EQ(tilefold::max_element(plain) - plain, 0);
  const std::deque<int> pieces(x.begin(), x.end());
  EXPECT_EQ(*tilefold::max_element(pieces), 3);
}

TEST(VerbCalls, WriteThroughOutputs) {
  const std::vector<int> x{3, 1, 2, 1};
  host_executor exec;
  const auto first = x.begin();
  const auto last = x.end();
  std::int64_t n = 0;
  tilefold::count_into(exec, first, last, &n, 1);
  EXPECT_EQ(n, 2);
  tilefold::count_if_into(exec, first, last, &n, above_one);
  EXPECT_EQ(n, 2);
  bool answer = false;
  tilefold::any_of_into(exec, first, last, &answer, above_one);
  EXPECT_TRUE(answer);
  tilefold::all_of_into(exec, first, last, &answer, above_one);
  EXPECT_FALSE(answer);
  tilefold::none_of_into(exec, first, last, &answer, above_one);
  EXPECT_FALSE(answer);
  int value = 0;
  tilefold::min_value_into(exec, first, last, &value);
  EXPECT_EQ(value, 1);
  tilefold::max_value_into(exec, first, last, &value);
  EXPECT_EQ(value, 3);
  reducers::extremes<int> both{};
  tilefold::minmax_value_into(exec, first, last, &both);
  EXPECT_TRUE(both.min == 1 && both.max == 3);
  double real = 0;
  tilefold::mean_into(exec, first, last, &real);
  EXPECT_EQ(real, 1.75);
  tilefold::variance_into(exec, first, last, &real, divisor::population);
  EXPECT_EQ(real, 0.6875);
  tilefold::norm_into(exec, first, last, &real);
  EXPECT_EQ(real, std::sqrt(15.0));
  tilefold::logsumexp_into(exec, first, last, &real);
  EXPECT_EQ(real, tilefold::logsumexp(x));
  tilefold::inner_product_into(exec, first, last, first, &value, 10);
  EXPECT_EQ(value, 25);
  tilefold::inner_product_into(exec, first, last, first, &value, 10, plus{}, multiplies{});
  EXPECT_EQ(value, 25);
}

TEST(VerbsAgainstStd, GiveTheSame) {
  test::bit_stream random(test::seed());
  for (const std::int64_t n : {1, 2, 100, 5000, 200000}) {
    std::vector<int> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<int>(random.below(1000)) - 500);
    const auto negative = [](int v) { return v < 0; };
    const auto small = [](int v) { return v < 500; };
    EXPECT_EQ(tilefold::count(x, x[0]), std::count(x.begin(), x.end(), x[0]));
    EXPECT_EQ(tilefold::count_if(x, negative), std::count_if(x.begin(), x.end(), negative));
    EXPECT_EQ(tilefold::all_of(x, small), std::all_of(x.begin(), x.end(), small));
    EXPECT_EQ(tilefold::any_of(x, negative), std::any_of(x.begin(), x.end(), negative));
    EXPECT_EQ(tilefold::none_of(x, negative), std::none_of(x.begin(), x.end(), negative));
    EXPECT_EQ(tilefold::min_element(x), std::min_element(x.begin(), x.end()));
    EXPECT_EQ(tilefold::max_element(x), std::max_element(x.begin(), x.end()));
    const auto [low, high] = tilefold::minmax_element(x);
    EXPECT_EQ(low, std::min_element(x.begin(), x.end()));
    EXPECT_EQ(high, std::max_element(x.begin(), x.end()));
    EXPECT_EQ(tilefold::min_value(x), *low);
    EXPECT_EQ(tilefold::max_value(x), *high);
    EXPECT_EQ(tilefold::minmax_value(x).min, *low);
    EXPECT_EQ(tilefold::minmax_value(x).max, *high);
    EXPECT_EQ(tilefold::inner_product(x.begin(), x.end(), x.begin(), std::int64_t{3}),
              std::inner_product(x.begin(), x.end(), x.begin(), std::int64_t{3}));
    EXPECT_EQ(tilefold::inner_product(x.begin(), x.end(), x.begin(), 0, plus{},
                                      [](int a, int b) { return a == b ? 1 : 0; }),
              static_cast<int>(n));
  }
}

// Without < and ==; elements of equal rank are told apart by their number.
struct ranked_item {
  int rank;
  int number;
};
const auto lower_rank = [](const ranked_item& a, const ranked_item& b) { return a.rank < b.rank; };

TEST(ComparatorsAgainstStd, FindTheFirstOfEqualElements) {
  test::bit_stream random(test::seed());
  host_executor exec;
  for (const std::int64_t n : {1, 2, 7, 100, 5000, 300000}) {
    for (const std::uint64_t ranks : {1, 3, 1000}) {
      std::vector<ranked_item> x;
      for (std::int64_t i = 0; i < n; ++i) {
        x.push_back({static_cast<int>(random.below(ranks)), static_cast<int>(i)});
      }
      const auto first = x.begin();
      const auto last = x.end();
      const auto least = std::min_element(first, last, lower_rank);
      const auto greatest = std::max_element(first, last, lower_rank);
      EXPECT_EQ(tilefold::min_element(first, last, lower_rank), least);
      EXPECT_EQ(tilefold::max_element(first, last, lower_rank), greatest);
      EXPECT_EQ(tilefold::min_element(exec, first, last, lower_rank), least);
      EXPECT_EQ(tilefold::max_element(exec, x, lower_rank), greatest);
      // std::minmax_element gives the last of the greatest, and the first of the least as we do.
      const auto both = tilefold::minmax_element(x, lower_rank);
      EXPECT_EQ(both.first, std::minmax_element(first, last, lower_rank).first);
      EXPECT_EQ(both.second, greatest);
      EXPECT_EQ(tilefold::min_value(x, lower_rank).number, least->number);
      EXPECT_EQ(tilefold::max_value(exec, first, last, lower_rank).number, greatest->number);
      ranked_item out{};
      tilefold::min_value_into(exec, first, last, &out, lower_rank);
      EXPECT_EQ(out.number, least->number);
      tilefold::max_value_into(exec, first, last, &out, lower_rank);
      EXPECT_EQ(out.number, greatest->number);
      reducers::extremes<ranked_item> values{};
      tilefold::minmax_value_into(exec, first, last, &values, lower_rank);
      EXPECT_EQ(values.min.number, least->number);
      EXPECT_EQ(values.max.number, greatest->number);
      EXPECT_EQ(tilefold::minmax_value(x, lower_rank).max.number, greatest->number);
    }
  }
}

TEST(Comparators, AreThoseOfStdAsWell) {
  const std::vector<std::string> words{"pear", "fig", "apple", "fig", "plum", "plum"};
  EXPECT_EQ(tilefold::min_element(words, std::greater<>()) - words.begin(), 4);
  EXPECT_EQ(tilefold::max_element(words, std::greater<std::string>()) - words.begin(), 2);
  const auto shorter = [](const std::string& a, const std::string& b) {
    return a.size() < b.size();
  };
  EXPECT_EQ(tilefold::min_element(words, shorter) - words.begin(), 1);
  EXPECT_EQ(tilefold::max_value(words, shorter), "apple");
  // std::less<int> compares 1.9 and 1.1 as 1 and 1.
  EXPECT_EQ(*tilefold::min_element(std::vector<double>{2.5, 1.9, 1.1}, std::less<int>()), 1.9);
  EXPECT_EQ(*tilefold::min_element(std::vector<double>{2.5, 1.9, 1.1}, std::less<>()), 1.1);
}

TEST(Comparators, DecideAboutZeroesAlone) {
  const std::vector<float> zeroes{0.0f, -0.0f};
  EXPECT_EQ(tilefold::min_element(zeroes) - zeroes.begin(), 1);
  EXPECT_EQ(tilefold::min_element(zeroes, std::less<>()) - zeroes.begin(), 0);
}

TEST(Comparators, FindNothingInNothing) {
  const std::vector<ranked_item> none;
  EXPECT_EQ(tilefold::min_element(none, lower_rank), none.end());
  EXPECT_EQ(tilefold::max_element(none.begin(), none.end(), lower_rank), none.end());
  EXPECT_EQ(tilefold::minmax_element(none, lower_rank).second, none.end());
  try {
    (void)tilefold::min_value(none, lower_rank);
    FAIL() << "an error was expected";
  } catch (const empty_range_error& e) {
    EXPECT_EQ(std::string(e.what()).rfind("tilefold::min_value: the range is empty", 0), 0u)
        << e.what();
  }
}

TEST(VerbsOfNothing, GiveWhatTheyMust) {
  const std::vector<float> none;
  const auto never = [](float) { return false; };
  EXPECT_EQ(tilefold::count(none, 1.0f), 0);
  EXPECT_EQ(tilefold::count_if(none, never), 0);
  EXPECT_TRUE(tilefold::all_of(none, never));
  EXPECT_FALSE(tilefold::any_of(none, never));
  EXPECT_TRUE(tilefold::none_of(none, never));
  EXPECT_EQ(tilefold::min_element(none), none.end());
  EXPECT_EQ(tilefold::minmax_element(none).second, none.end());
  EXPECT_EQ(tilefold::min_value(none), INFINITY);
  EXPECT_EQ(tilefold::norm(none), 0.0);
  EXPECT_EQ(tilefold::logsumexp(none), -INFINITY);
  EXPECT_THROW((void)tilefold::mean(none), empty_range_error);
  EXPECT_THROW((void)tilefold::variance(none), empty_range_error);
  EXPECT_EQ(tilefold::inner_product(none.begin(), none.end(), none.begin(), 2.0f), 2.0f);
}

TEST(VerbErrors, NameTheVerb) {
  const std::vector<int> x{1, 2};
  try {
    (void)tilefold::mean(x.end(), x.begin());
    FAIL() << "nothing was thrown";
  } catch (const invalid_range_error& e) {
    EXPECT_NE(std::string(e.what()).find("tilefold::mean"), std::string::npos) << e.what();
  }
  EXPECT_THROW((void)tilefold::min_element(x.end(), x.begin()), invalid_range_error);
}

TEST(CountValues, ComparesAcrossTypes) {
  EXPECT_EQ(tilefold::count(std::vector<unsigned char>{200, 1, 200}, 200), 2);
  EXPECT_EQ(tilefold::count(std::vector<half>{half(1.5f), half(2.0f)}, 1.5f), 1);
  EXPECT_EQ(tilefold::count(std::vector<float>{-0.0f, 0.0f, NAN}, 0), 2);
  EXPECT_EQ(tilefold::count(std::vector<float>{NAN}, NAN), 0);
  EXPECT_EQ(tilefold::count(std::vector<std::string>{"a", "b", "a"}, std::string("a")), 2);
  EXPECT_EQ(tilefold::count(std::vector<bool>{true, false, true}, true), 2);
}

TEST(Norms, AreChosenByReducer) {
  const std::vector<float> x{3, -4};
  EXPECT_EQ(tilefold::norm(x), 5.0);
  EXPECT_EQ(tilefold::norm(x, reducers::l1{}), 7.0);
  EXPECT_EQ(tilefold::norm(x, reducers::linf{}), 4.0f);
}

}  // namespace
}  // namespace tilefold
