// SPDX-License-Identifier: Apache-2.0
//
// What holds for every reducer: its result is the neighbour tree of its lifts, to the bit; its
// identity is one; what it says of itself (commutative, order-free) is true; an empty range gives
// what it must.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "cases.hpp"
#include "every_reducer.hpp"
#include "pairs.hpp"

#include "../support/seed.hpp"

namespace tilefold::test {
namespace {

template <class T>
class EveryReducer : public ::testing::Test {};
using values = ::testing::Types<float, double, half, bfloat16, std::int32_t, std::uint8_t,
                                std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(EveryReducer, values);

template <class T>
std::vector<T> some_items(pattern p, std::int64_t n) {
  return make_items<T>(p, n, static_cast<std::uint64_t>(n));
}

/// One function for all reducers and types: with a macro in each, this compiles a tenth longer.
void expect_same(const std::string& got, const std::string& expected, const char* name,
                 const std::string& items, std::int64_t n) {
  EXPECT_EQ(got, expected) << name << ", " << items << ", n = " << n;
}

TYPED_TEST(EveryReducer, IsTheTreeOfItsLifts) {
  for (const pattern p : reducer_patterns<TypeParam>()) {
    for (const std::int64_t n : {1, 2, 3, 7, 8, 9, 33, 255, 257, 1000}) {
      const auto x = some_items<TypeParam>(p, n);
      visit_reducers<TypeParam>([&](const char* name, const auto& reducer) {
        expect_same(bits_of(tilefold::reduce(x, reducer)), bits_of(by_definition(reducer, x)), name,
                    name_of(p), n);
      });
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(EveryReducer, OfTwoRangesIsTheTreeOfItsLifts) {
  for (const pattern p : reducer_patterns<TypeParam>()) {
    for (const std::int64_t n : {1, 2, 3, 9, 64, 257, 1000}) {
      const auto x = some_items<TypeParam>(p, n);
      const auto y = make_items<TypeParam>(pattern::mixed, n, 77);
      visit_pair_reducers<TypeParam>([&](const char* name, const auto& reducer) {
        expect_same(bits_of(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), reducer)),
                    bits_of(by_definition(reducer, x, y)), name, name_of(p), n);
      });
      if (this->HasFailure()) return;
    }
  }
}

// More than the eight blocks from which on several threads take part, where there are some.
TYPED_TEST(EveryReducer, IsTheTreeOfALongRange) {
  constexpr std::int64_t n = 600011 / sizeof(TypeParam);
  const auto x = some_items<TypeParam>(pattern::mixed, n);
  visit_reducers<TypeParam>([&](const char* name, const auto& reducer) {
    expect_same(bits_of(tilefold::reduce(x, reducer)), bits_of(by_definition(reducer, x)), name,
                "mixed", n);
  });
}

template <class R, class T>
auto lifted_at(const R& reducer, const std::vector<T>& x, std::size_t i) {
  if constexpr (detail::is_indexed<R>) {
    return reducer.lift(x[i], static_cast<std::int64_t>(i));
  } else {
    return reducer.lift(x[i]);
  }
}

/// Reducers see their accumulators through what they make of them.
template <class R, class Acc>
std::string seen(const R& reducer, const Acc& acc) {
  return bits_of(reducer.project(acc));
}

TYPED_TEST(EveryReducer, KeepsTheLawsItClaims) {
  bit_stream random(seed());
  for (const pattern p : reducer_patterns<TypeParam>()) {
    const auto x = make_items<TypeParam>(p, 64, random.next());
    visit_reducers<TypeParam>([&](const char* name, const auto& reducer) {
      using R = std::remove_cvref_t<decltype(reducer)>;
      using acc = detail::reducer_accumulator_t<R, TypeParam>;
      using traits = detail::reducer_traits<R, acc>;
      const auto join = [&](const acc& a, const acc& b) { return reducer.combine(a, b); };
      const auto same = [&](const acc& got, const acc& expected) {
        expect_same(seen(reducer, got), seen(reducer, expected), name, name_of(p), 64);
      };
      for (int trial = 0; trial < 50; ++trial) {
        const auto pick = [&] {
          const auto i = static_cast<std::size_t>(random.below(30));
          return join(lifted_at(reducer, x, 2 * i), lifted_at(reducer, x, 2 * i + 1));
        };
        const acc a = pick();
        const acc b = pick();
        const acc c = pick();
        if constexpr (traits::commutative) {
          same(join(a, b), join(b, a));
          same(join(join(a, b), c), join(c, join(b, a)));
        }
        if constexpr (traits::order_free) {
          same(join(join(a, b), c), join(a, join(c, b)));
        }
        if constexpr (detail::has_reducer_identity<R, acc>) {
          const acc nothing = reducer.template identity<acc>();
          same(join(nothing, a), a);
          same(join(a, nothing), a);
        }
      }
    });
    if (this->HasFailure()) return;
  }
}

/// The node of elements [first, first + n) of x, n a power of two.
template <class R, class T>
auto node_of(const R& reducer, const std::vector<T>& x, std::size_t first, std::size_t n) {
  if (n == 1) return lifted_at(reducer, x, first);
  return reducer.combine(node_of(reducer, x, first, n / 2),
                         node_of(reducer, x, first + n / 2, n / 2));
}

// What GPUs assume of nodes in whole tiles: a shorter way to combine them, and that they commute.
TYPED_TEST(EveryReducer, HasTheSameBitsAmongEqualNodes) {
  bit_stream random(seed());
  for (const pattern p : reducer_patterns<TypeParam>()) {
    const auto x = make_items<TypeParam>(p, 128, random.next());
    const auto check = [&](const char* name, const auto& reducer) {
      using R = std::remove_cvref_t<decltype(reducer)>;
      using acc = detail::reducer_accumulator_t<R, TypeParam>;
      for (const std::size_t n : {1u, 2u, 8u, 32u}) {
        const auto same = [&](const acc& got, const acc& expected) {
          expect_same(seen(reducer, got), seen(reducer, expected), name, name_of(p),
                      static_cast<std::int64_t>(n));
        };
        const acc a = node_of(reducer, x, 0, n);
        const acc b = node_of(reducer, x, n, n);
        const acc expected = reducer.combine(a, b);
        same(detail::combine_equals(reducer, a, b), expected);
        if constexpr (detail::reducer_traits<R, acc>::commutative_among_equals) {
          same(detail::combine_equals(reducer, b, a), expected);
        }
      }
    };
    visit_reducers<TypeParam>(check);
    check("fuse", r::fuse(r::mean{}, r::variance{}, r::max{}));
    if (this->HasFailure()) return;
  }
}

// The same of packets that are lifted at once.
TYPED_TEST(EveryReducer, LiftsPacketsAsElements) {
  bit_stream random(seed());
  for (const pattern p : reducer_patterns<TypeParam>()) {
    const auto x = make_items<TypeParam>(p, 160, random.next());
    const auto check = [&](const char* name, const auto& reducer) {
      if constexpr (detail::has_packet_lift<std::remove_cvref_t<decltype(reducer)>, TypeParam>) {
        for (std::size_t first = 0; first < x.size(); first += 16) {
          TypeParam packet[16];
          for (std::size_t i = 0; i < 16; ++i) packet[i] = x[first + i];
          expect_same(seen(reducer, detail::lift_packet(reducer, packet)),
                      seen(reducer, node_of(reducer, x, first, 16)), name, name_of(p), 16);
        }
      }
    };
    visit_reducers<TypeParam>(check);
    check("fuse", r::fuse(r::mean{}, r::variance{}, r::softmax_pair{}));
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(EveryReducer, OfNothingIsItsIdentityOrAnError) {
  const std::vector<TypeParam> none;
  visit_reducers<TypeParam>([&](const char* name, const auto& reducer) {
    using R = std::remove_cvref_t<decltype(reducer)>;
    using acc = detail::reducer_accumulator_t<R, TypeParam>;
    if constexpr (detail::has_reducer_identity<R, acc>) {
      EXPECT_EQ(bits_of(tilefold::reduce(none, reducer)),
                seen(reducer, reducer.template identity<acc>()))
          << name;
    } else {
      EXPECT_THROW((void)tilefold::reduce(none, reducer), empty_range_error) << name;
    }
  });
}

TYPED_TEST(EveryReducer, IsSmall) {
  visit_reducers<TypeParam>([](const char* name, const auto& reducer) {
    using R = std::remove_cvref_t<decltype(reducer)>;
    using acc = detail::reducer_accumulator_t<R, TypeParam>;
    static_assert(std::is_trivially_copyable_v<R> && std::is_trivially_copyable_v<acc>);
    if (std::string(name).find("_k") == std::string::npos) {
      EXPECT_LE(sizeof(acc), 64u) << name;
    }
  });
}

TEST(EmptyReducers, GiveWhatTheirDocumentationSays) {
  const std::vector<float> none;
  EXPECT_EQ(tilefold::reduce(none, r::count{}), 0);
  EXPECT_FALSE(tilefold::reduce(none, r::any{}));
  EXPECT_TRUE(tilefold::reduce(none, r::all{}));
  EXPECT_TRUE(tilefold::reduce(none, r::none{}));
  EXPECT_FALSE(tilefold::reduce(none, r::logical_xor{}));
  EXPECT_TRUE(std::signbit(tilefold::reduce(none, r::sum{})));
  EXPECT_TRUE(std::signbit(tilefold::reduce(none, r::compensated_sum{})));
  EXPECT_EQ(tilefold::reduce(none, r::product{}), 1.0f);
  EXPECT_EQ(tilefold::reduce(none, r::minmax{}).min, INFINITY);
  EXPECT_EQ(tilefold::reduce(none, r::minmax{}).max, -INFINITY);
  EXPECT_TRUE(std::isnan(tilefold::reduce(none, r::minmax<nan_rule::ignore>{}).max));
  EXPECT_EQ(tilefold::reduce(none, r::l2{}), 0.0);
  EXPECT_EQ(tilefold::reduce(none, r::logsumexp{}), -INFINITY);
  EXPECT_EQ(tilefold::reduce(std::vector<int>{}, r::bit_and{}), -1);
  const auto [n, least] = tilefold::reduce(none, r::fuse(r::count{}, r::min{}));
  EXPECT_EQ(n, 0);
  EXPECT_EQ(least, INFINITY);
  EXPECT_THROW((void)tilefold::reduce(none, r::fuse(r::count{}, r::mean{})), empty_range_error);
  try {
    (void)tilefold::reduce(none, r::mean{});
    FAIL() << "nothing was thrown";
  } catch (const empty_range_error& e) {
    EXPECT_NE(std::string(e.what()).find("mean"), std::string::npos) << e.what();
  }
}

// A reducer's initial value is an accumulator.
TEST(ReducerCalls, TakeAnAccumulatorToStartFrom) {
  const std::vector<int> x{3, 1, 2};
  EXPECT_EQ(tilefold::reduce(x, 10, r::sum{}), 16);
  EXPECT_EQ(tilefold::reduce(x, std::int64_t{10}, r::count{}), 13);
  EXPECT_EQ(tilefold::reduce(std::vector<int>{}, std::int64_t{10}, r::count{}), 10);
  const detail::mean_state so_far{2.0, 14.0};
  EXPECT_EQ(tilefold::reduce(x, so_far, r::mean{}), 4.0);
  EXPECT_EQ(tilefold::reduce(std::vector<int>{}, so_far, r::mean{}), 7.0);
}

TEST(ReducerCalls, TakeEveryFormOfReduce) {
  const std::vector<float> x{3, 1, 2};
  host_executor exec;
  EXPECT_EQ(tilefold::reduce(exec, x.begin(), x.end(), r::mean{}), 2.0);
  EXPECT_EQ(tilefold::reduce(exec, x, r::mean{}), 2.0);
  EXPECT_EQ(tilefold::reduce(x.begin(), x.end(), r::mean{}), 2.0);
  EXPECT_EQ(tilefold::reduce(with_policy<tile_policy{128, 8}>(exec), x, r::arg_max{}).index, 0);
  double out = 0;
  tilefold::reduce_into(exec, x.begin(), x.end(), &out, r::mean{});
  EXPECT_EQ(out, 2.0);
  const auto square = [](float v) { return v * v; };
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), r::arg_max{}, square).value, 9.0f);
  EXPECT_EQ(tilefold::transform_reduce(exec, x.begin(), x.end(), r::sum{}, square), 14.0f);
  tilefold::transform_reduce_into(exec, x.begin(), x.end(), &out, r::sum{}, square);
  EXPECT_EQ(out, 14.0);
  tilefold::transform_reduce_into(exec, x.begin(), x.end(), x.begin(), &out, r::correlation{});
  EXPECT_EQ(out, 1.0);
  EXPECT_EQ(tilefold::transform_reduce(x.begin(), x.end(), x.begin(), r::dot{}), 14.0f);
}

}  // namespace
}  // namespace tilefold::test
