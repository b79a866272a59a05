// SPDX-License-Identifier: Apache-2.0
//
// What a user derives from a reducer of the library is the neighbour tree of its own lift and
// combine: nothing that the library knows of the one it is derived from passes over them.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "derived.hpp"
#include "every_reducer.hpp"
#include "pairs.hpp"

namespace tilefold::test {
namespace {

template <class T>
class DerivedReducer : public ::testing::Test {};
using values = ::testing::Types<float, std::int32_t>;
TYPED_TEST_SUITE(DerivedReducer, values);

/// One function for all reducers and types, as in definition_test.
void expect_same(const std::string& got, const std::string& expected, const char* name,
                 std::int64_t n) {
  EXPECT_EQ(got, expected) << name << ", n = " << n;
}

std::vector<std::int64_t> sizes() { return {1, 2, 3, 8, 33, 255, 1000, 20011}; }

template <class T, class R>
void expect_its_definition(const char* name, const R& reducer) {
  for (const std::int64_t n : sizes()) {
    const auto x = make_items<T>(pattern::mixed, n, seed());
    expect_same(bits_of(tilefold::reduce(x, reducer)), bits_of(by_definition(reducer, x)), name, n);
  }
}

template <class T, class R>
void expect_its_definition_of_pairs(const char* name, const R& reducer) {
  for (const std::int64_t n : sizes()) {
    const auto x = make_items<T>(pattern::mixed, n, seed());
    const auto y = make_items<T>(pattern::mixed, n, seed() + 1);
    expect_same(bits_of(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), reducer)),
                bits_of(by_definition(reducer, x, y)), name, n);
  }
}

template <class T, class Visit>
void visit_bases(Visit visit) {
  visit_reducers<T>(visit);
  visit("fuse", r::fuse(r::count{}, r::mean{}, r::variance{}, r::max{}));
  visit("fuse with an index", r::fuse(r::arg_max{}, r::sum{}));
}

TYPED_TEST(DerivedReducer, WithAnotherLiftIsTheTreeOfIt) {
  visit_bases<TypeParam>([](const char* name, const auto& base) {
    expect_its_definition<TypeParam>(name, of_squares<std::remove_cvref_t<decltype(base)>>{base});
  });
}

TYPED_TEST(DerivedReducer, WithAnotherCombineIsTheTreeOfIt) {
  visit_bases<TypeParam>([](const char* name, const auto& base) {
    expect_its_definition<TypeParam>(name, of_the_right<std::remove_cvref_t<decltype(base)>>{base});
  });
}

TYPED_TEST(DerivedReducer, OfTwoRangesIsTheTreeOfItsOwn) {
  visit_pair_reducers<TypeParam>([](const char* name, const auto& base) {
    using R = std::remove_cvref_t<decltype(base)>;
    expect_its_definition_of_pairs<TypeParam>(name, of_squares<R>{base});
    expect_its_definition_of_pairs<TypeParam>(name, of_the_right<R>{base});
  });
}

// Of float and double alone, whole blocks take a way of their own.
TEST(Derived, StatisticsOfDoubleTakeTheirOwnLift) {
  const auto x = make_items<double>(pattern::near_one, 20011, seed());
  const auto expect = [&](const auto& reducer) {
    EXPECT_EQ(bits_of(tilefold::reduce(x, reducer)), bits_of(by_definition(reducer, x)));
  };
  expect(of_squares<r::mean>{});
  expect(of_squares<r::variance>{});
  expect(of_squares<r::mean_variance>{});
  expect(of_squares<r::standard_deviation>{});
  expect(r::fuse(of_squares<r::mean>{}, r::variance{}, of_squares<r::max<>>{}));
}

// As users write them.
struct squares : r::sum {
  template <class T>
  TILEFOLD_HD auto lift(const T& x) const {
    return x * x;
  }
};
struct largest_magnitude : r::arg_max<> {
  template <class T>
  TILEFOLD_HD auto lift(const T& x, std::int64_t i) const {
    return r::arg_max<>::lift(x < 0 ? -x : x, i);
  }
};
struct any_above_three : r::any<> {
  template <class T>
  TILEFOLD_HD bool lift(const T& x) const {
    return x > 3;
  }
};

TEST(Derived, SmallOnes) {
  const std::vector<int> x{1, 2, -9, 4};
  EXPECT_EQ(tilefold::reduce(x, squares{}), 102);
  const auto found = tilefold::reduce(x, largest_magnitude{});
  EXPECT_EQ(found.value, 9);
  EXPECT_EQ(found.index, 2);
  EXPECT_TRUE(tilefold::reduce(x, any_above_three{}));
  EXPECT_FALSE(tilefold::reduce(std::vector<int>{1, 2, 3}, any_above_three{}));
  // A function of the user's before them, and other verbs.
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), squares{}, [](int v) { return v + 1; }),
            4 + 9 + 64 + 25);
  const std::vector<int> offsets{0, 2, 2, 4};
  std::vector<int> sums(3);
  tilefold::segmented_reduce(x.begin(), offsets.begin(), 3, sums.begin(), squares{});
  EXPECT_EQ(sums, (std::vector<int>{5, 0, 97}));
}

struct any_negative : any_above_three {
  static constexpr bool commutative = true;
  static constexpr bool order_free = true;
  TILEFOLD_HD bool settled(bool found) const { return found; }
  TILEFOLD_HD bool lift(int x) const { return x < 0; }
};

// What a type says of itself it says once more, or it does not hold.
TEST(Derived, NothingThatABaseSaysIsInherited) {
  using acc = detail::reducer_accumulator_t<r::mean, float>;
  using traits = detail::reducer_traits<of_squares<r::mean>, acc>;
  static_assert(!traits::commutative && !traits::order_free && !traits::separately_rounded);
  using question = detail::bound_reducer<any_above_three, detail::as_is, int>;
  static_assert(!question::commutative && !question::order_free && !question::settles);
  using again = detail::bound_reducer<any_negative, detail::as_is, int>;
  static_assert(again::commutative && again::order_free && again::settles);
  EXPECT_TRUE(tilefold::reduce(std::vector<int>{1, -1}, any_negative{}));
}

}  // namespace
}  // namespace tilefold::test
