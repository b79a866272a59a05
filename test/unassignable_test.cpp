// SPDX-License-Identifier: Apache-2.0
//
// Accumulators that can be copied but not assigned, for a member is const: every verb of the host
// takes them, with the bits of the same accumulator without const.
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/items.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

struct plain {
  float sum;
  std::int32_t items;
};
struct fixed {
  fixed(float s, std::int32_t n) : sum(s), items(n) {}
  explicit fixed(const plain& p) : sum(p.sum), items(p.items) {}
  const float sum;
  const std::int32_t items;
};
static_assert(std::is_trivially_copyable_v<fixed> && !std::is_copy_assignable_v<fixed>);

// Floating and not commutative, so that another order is seen.
template <class T>
struct join {
  T operator()(const T& a, const T& b) const { return {a.sum * 0.5f + b.sum, a.items + b.items}; }
};

template <class T>
struct lowest {
  T operator()(const T& a, const T& b) const { return b.sum < a.sum ? b : a; }
};

// The same as a reducer of floats, which may be folded in any order.
template <class T>
struct lowest_of_floats {
  using reducer_concept = reducer_tag;
  static constexpr bool commutative = true;
  static constexpr bool order_free = true;
  T lift(float x) const { return {x, 1}; }
  T combine(const T& a, const T& b) const {
    return {b.sum < a.sum ? b.sum : a.sum, a.items + b.items};
  }
  T project(const T& a) const { return a; }
  template <class Acc>
  Acc identity() const {
    return {1e30f, 0};
  }
};

template <class A, class B>
bool same(const A& a, const B& b) {
  return __builtin_bit_cast(std::uint32_t, a.sum) == __builtin_bit_cast(std::uint32_t, b.sum) &&
         a.items == b.items;
}

class Unassignable : public ::testing::Test {
 protected:
  static std::vector<plain> make(std::int64_t n) {
    bit_stream random(seed());
    std::vector<plain> values;
    for (std::int64_t i = 0; i < n; ++i) {
      values.push_back({static_cast<float>(random.below(2000)) - 1000.5f, 1});
    }
    return values;
  }
  static std::vector<fixed> copy(const std::vector<plain>& values) {
    return std::vector<fixed>(values.begin(), values.end());
  }

  const std::vector<plain> x = make(300001);
  const std::vector<fixed> y = copy(x);
};

TEST_F(Unassignable, AreReduced) {
  for (const std::int64_t n : {1, 2, 3, 8, 9, 255, 256, 257, 5000, 300001}) {
    const auto expected = tilefold::reduce(x.data(), x.data() + n, join<plain>());
    EXPECT_TRUE(same(tilefold::reduce(y.data(), y.data() + n, join<fixed>()), expected)) << n;
    std::vector<fixed> out(1, fixed(0, 0));
    tilefold::reduce_into(host_executor(2), y.data(), y.data() + n, out.data(), fixed(0.5f, 1),
                          join<fixed>());
    EXPECT_TRUE(
        same(out[0], tilefold::reduce(x.data(), x.data() + n, plain{0.5f, 1}, join<plain>())))
        << n;
    // Where there is nothing to fold but an initial value, too.
    tilefold::reduce_into(host_executor(), y.data(), y.data(), out.begin(), fixed(7, 7),
                          join<fixed>());
    EXPECT_EQ(out[0].items, 7);
  }
}

TEST_F(Unassignable, AreWhatAFunctionReturns) {
  const auto f = [](const plain& p) { return fixed(p.sum, p.items); };
  EXPECT_TRUE(same(tilefold::transform_reduce(x, fixed(0, 0), join<fixed>(), f),
                   tilefold::reduce(x, plain{0, 0}, join<plain>())));
}

TEST_F(Unassignable, AreFoldedInAnyOrder) {
  std::vector<float> z;
  for (const plain& p : x) z.push_back(p.sum);
  for (const std::int64_t n : {1, 2, 100, 5000, 300001}) {
    EXPECT_TRUE(same(tilefold::reduce(z.data(), z.data() + n, lowest_of_floats<fixed>()),
                     tilefold::reduce(z.data(), z.data() + n, lowest_of_floats<plain>())));
  }
  const auto both =
      tilefold::reduce(z, reducers::fuse(lowest_of_floats<fixed>(), reducers::count()));
  EXPECT_TRUE(same(both.get<0>(), tilefold::reduce(z, lowest_of_floats<plain>())));
}

TEST_F(Unassignable, AreFoldedBySegments) {
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t i = 0; offsets.back() < 200000; ++i)
    offsets.push_back(offsets.back() + i % 700);
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  std::vector<plain> expected(static_cast<std::size_t>(segments));
  std::vector<fixed> found(static_cast<std::size_t>(segments), fixed(0, 0));
  tilefold::segmented_reduce(x.begin(), offsets.begin(), segments, expected.begin(), plain{1, 0},
                             join<plain>());
  tilefold::segmented_reduce(y.begin(), offsets.begin(), segments, found.begin(), fixed(1, 0),
                             join<fixed>());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_TRUE(same(found[i], expected[i])) << i;
  const std::vector<const fixed*> arrays{y.data() + 3, y.data(), y.data() + 77};
  const std::vector<int> lengths{1000, 1, 5};
  tilefold::batched_reduce(arrays.begin(), lengths.begin(), 3, found.begin(), fixed(1, 0),
                           join<fixed>());
  for (std::size_t i = 0; i < 3; ++i) {
    const plain* first = x.data() + (arrays[i] - y.data());
    EXPECT_TRUE(
        same(found[i], tilefold::reduce(first, first + lengths[i], plain{1, 0}, join<plain>())));
  }
}

TEST_F(Unassignable, AreFoldedAlongAxes) {
  for (const std::int64_t axis : {0, 1}) {
    for (const std::int64_t rows : {1, 5, 8, 300}) {
      const std::int64_t columns = 90000 / rows;
      const std::int64_t results = axis == 0 ? columns : rows;
      std::vector<plain> expected(static_cast<std::size_t>(results));
      std::vector<fixed> found(static_cast<std::size_t>(results), fixed(0, 0));
      const auto shape = right_layout({rows, columns});
      axis_reduce(test_view{x.data(), shape}, test_view{expected.data(), right_layout({results})},
                  axis, join<plain>());
      axis_reduce(test_view{y.data(), shape}, test_view{found.data(), right_layout({results})},
                  axis, join<fixed>());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_TRUE(same(found[i], expected[i])) << axis << " " << rows << " " << i;
      }
    }
  }
}

TEST_F(Unassignable, AreFoldedByKey) {
  std::vector<int> keys;
  for (std::size_t i = 0; i < x.size(); ++i) keys.push_back(static_cast<int>(i / 37));
  std::vector<int> keys_out(keys.size());
  std::vector<plain> expected(keys.size());
  std::vector<fixed> found(keys.size(), fixed(0, 0));
  const auto runs = tilefold::reduce_by_key(keys.begin(), keys.end(), x.begin(), keys_out.begin(),
                                            expected.begin(), join<plain>());
  EXPECT_EQ(tilefold::reduce_by_key(keys.begin(), keys.end(), y.begin(), keys_out.begin(),
                                    found.begin(), join<fixed>()),
            runs);
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_TRUE(same(found[at], expected[at])) << i;
  }
}

TEST_F(Unassignable, AreFoundByComparators) {
  const auto lower = [](const auto& a, const auto& b) { return a.sum < b.sum; };
  EXPECT_EQ(tilefold::min_element(y, lower) - y.begin(),
            tilefold::min_element(x, lower) - x.begin());
  EXPECT_TRUE(same(tilefold::max_value(y, lower), tilefold::max_value(x, lower)));
}

}  // namespace
}  // namespace tilefold::test
