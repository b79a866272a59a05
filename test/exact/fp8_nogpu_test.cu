// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on the host, of CUDA's types of 8 bits, against integers: all pairs of values,
// random multisets in every order and split, every verb. (cuda_fp8_test.cu does it on a GPU.)
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/seed.hpp"
#include "fp8_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bits_of;
__extension__ using signed_128 = __int128;

template <class T>
class ExactFp8 : public testing::Test {};
using types_of_8_bits = testing::Types<__nv_fp8_e4m3, __nv_fp8_e5m2>;
TYPED_TEST_SUITE(ExactFp8, types_of_8_bits);

TYPED_TEST(ExactFp8, AllPairs) {
  using T = TypeParam;
  const auto pairs = test::all_pairs_of_fp8<T>();
  std::vector<T> sums(pairs.size() / 2);
  segmented_reduce(pairs.begin(), static_cast<std::int64_t>(sums.size()), 2, sums.begin(),
                   r::exact_sum{});
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::vector<T> pair{pairs[2 * i], pairs[2 * i + 1]};
    ASSERT_EQ(bits_of(sums[i]), bits_of(test::sum_of_fp8(pair))) << i;
    ASSERT_EQ(bits_of(tilefold::reduce(pair, r::exact_sum{})), bits_of(sums[i])) << i;
  }
}

TYPED_TEST(ExactFp8, RandomMultisets) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  for (int m = 0; m < 20000; ++m) {
    SCOPED_TRACE(m);
    auto items = test::fp8_items<T>(1 + random() % 40, m % 4 == 0 ? 10 : 0, random);
    const T expected = test::sum_of_fp8(items);
    exact_accumulator<T> whole;
    whole.add(items.begin(), items.end());
    ASSERT_EQ(bits_of(whole.value()), bits_of(expected));
    std::shuffle(items.begin(), items.end(), random);
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(random() % items.size());
    exact_accumulator<T> left, right;
    left.add(items.begin(), middle);
    right.add(middle, items.end());
    right.merge(exact_accumulator<T>::from_bytes(left.to_bytes()));
    ASSERT_EQ(right, whole);
    if (!std::all_of(items.begin(), items.end(), test::is_finite<T>)) continue;
    std::int64_t units = 0;
    signed_128 squares = 0;
    for (const T x : items) {
      units += test::units_of(x);
      squares += signed_128{test::units_of(x)} * test::units_of(x);
    }
    const auto n = static_cast<std::int64_t>(items.size());
    if (units != 0) {
      ASSERT_EQ(bits_of(tilefold::reduce(items, r::exact_mean{})),
                bits_of(test::nearest<T>(units, n)));
    }
    // Integers below 2^53 are doubles: one rounding each.
    ASSERT_EQ(tilefold::reduce(items, r::exact_sum<double>{}),
              std::ldexp(static_cast<double>(units), -16));
    ASSERT_EQ(tilefold::reduce(items, r::exact_sum<float>{}),
              std::ldexp(static_cast<float>(units), -16));
    ASSERT_EQ(tilefold::reduce(items, r::exact_mean<double>{}),
              std::ldexp(static_cast<double>(units) / static_cast<double>(n), -16));
    ASSERT_EQ(tilefold::reduce(items, r::exact_sum_of_squares<double>{}),
              std::ldexp(static_cast<double>(squares), -32));
    ASSERT_EQ(tilefold::transform_reduce(items.begin(), items.end(), items.begin(),
                                         r::exact_dot<double>{}),
              std::ldexp(static_cast<double>(squares), -32));
    if (squares < std::int64_t{1} << 53) {
      ASSERT_EQ(tilefold::reduce(items, r::exact_l2<double>{}),
                std::ldexp(std::sqrt(static_cast<double>(squares)), -16));
    }
  }
}

TYPED_TEST(ExactFp8, InEveryVerb) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  const auto items = test::fp8_items<T>(30000, 1000, random);
  ASSERT_EQ(bits_of(tilefold::reduce(items, r::exact_sum{})), bits_of(test::sum_of_fp8(items)));
  const auto both = tilefold::reduce(items, r::fuse(r::exact_sum{}, r::count{}));
  EXPECT_EQ(bits_of(both.template get<0>()), bits_of(test::sum_of_fp8(items)));
  std::vector<int> keys(items.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i / 37);
  std::vector<int> keys_out(keys.size());
  std::vector<T> sums(keys.size());
  const std::int64_t runs = reduce_by_key(keys.begin(), keys.end(), items.begin(), keys_out.begin(),
                                          sums.begin(), r::exact_sum{});
  ASSERT_EQ(runs, static_cast<std::int64_t>((items.size() + 36) / 37));
  for (std::size_t s = 0; s < static_cast<std::size_t>(runs); ++s) {
    const std::vector<T> run(
        items.begin() + static_cast<std::ptrdiff_t>(37 * s),
        items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), 37 * s + 37)));
    ASSERT_EQ(bits_of(sums[s]), bits_of(test::sum_of_fp8(run))) << s;
  }
}

}  // namespace
}  // namespace tilefold
