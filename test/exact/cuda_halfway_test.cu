// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU whose results lie between the least numbers, on the middle of two and one
// step beside it. What they have to be is known from how items are made.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;

/// Items of one sum, and what it is rounded to.
template <class Item, class Result>
struct rounding {
  Item items[3];
  Result expected;
};

/// m 2^q in Result's numbers, half a step more, and something tiny, or nothing, on either side: of
/// every size from the least subnormal on to beyond the largest number.
template <class Item, class Result>
std::vector<rounding<Item, Result>> halfway_cases(std::mt19937_64& random) {
  constexpr int fraction = test::float_layout<Result>::fraction;
  constexpr int least = 2 - test::float_layout<Result>::exponents / 2 - 1 - fraction;
  constexpr int steps = test::float_layout<Result>::exponents - 1;
  constexpr std::int64_t hidden = std::int64_t{1} << fraction;
  const Item tiny = test::float_of<Item>(false, 0, 1);
  const auto number = [](std::int64_t m, int q) {
    return static_cast<Item>(std::ldexp(static_cast<double>(m), q));
  };
  std::vector<rounding<Item, Result>> cases;
  const auto push = [&](std::int64_t m, int q) {
    for (const int side : {-1, 0, 1}) {
      for (const bool negative : {false, true}) {
        const std::int64_t rounded = m + (side > 0 || (side == 0 && m % 2 != 0) ? 1 : 0);
        rounding<Item, Result> made{
            {number(m, q), number(1, q - 1),
             side == 0  ? Item{}
             : side > 0 ? tiny
                        : -tiny},
            // Beyond the largest number the conversion makes it infinite.
            static_cast<Result>(static_cast<float>(std::ldexp(static_cast<double>(rounded), q)))};
        if (negative) {
          for (Item& x : made.items) x = -x;
          made.expected = test::negated(made.expected);
        }
        std::shuffle(made.items, made.items + 3, random);
        cases.push_back(made);
      }
    }
  };
  // Subnormal numbers, few and many bits, up to the least normal ones.
  for (std::int64_t m = 0; m < 40; ++m) push(m, least);
  for (int bit = 5; bit <= fraction; ++bit) {
    for (const std::int64_t add : {-1, 0, 1}) push((std::int64_t{1} << bit) + add, least);
  }
  // Every binade of the normal ones.
  for (int q = least; q < least + steps; ++q) {
    push(hidden, q);
    push(2 * hidden - 1, q);
    push(2 * hidden - 2, q);
    push(hidden | static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hidden)), q);
  }
  return cases;
}

template <class Item, class Result>
void expect_rounded_once() {
  std::mt19937_64 random(test::seed());
  const auto cases = halfway_cases<Item, Result>(random);
  std::vector<Item> all;
  for (const auto& made : cases) all.insert(all.end(), made.items, made.items + 3);
  const gpu_array<Item> items(all);
  const auto count = static_cast<std::int64_t>(cases.size());
  const gpu_array<Result> of_segments(count), of_ranges(count);
  cuda_executor gpu;
  segmented_reduce_into(gpu, items.data(), count, 3, of_segments.data(), r::exact_sum<Result>{});
  for (std::int64_t c = 0; c < count; ++c) {
    reduce_into(gpu, items.data() + 3 * c, items.data() + 3 * c + 3, of_ranges.data() + c,
                r::exact_sum<Result>{});
  }
  gpu.synchronize();
  const auto got = of_segments.to_host();
  const auto got_of_ranges = of_ranges.to_host();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const auto& [x, expected] = cases[c];
    ASSERT_EQ(bytes_of(got[c]), bytes_of(expected))
        << c << ", segment: " << x[0] << ", " << x[1] << ", " << x[2];
    ASSERT_EQ(bytes_of(got_of_ranges[c]), bytes_of(expected))
        << c << ", range: " << x[0] << ", " << x[1] << ", " << x[2];
  }
}

TEST(CudaExactHalfway, DoublesRoundedToFloats) { expect_rounded_once<double, float>(); }

TEST(CudaExactHalfway, FloatsRoundedToHalves) { expect_rounded_once<float, half>(); }

// The mean of m and m + 1 times the least number lies on the middle of them; more of one than of
// the other, beside it. Sums of floats themselves never lie there.
TEST(CudaExactHalfway, MeansBetweenTheLeastNumbers) {
  std::vector<float> items;
  std::vector<int> bounds{0};
  std::vector<float> expected;
  const auto push = [&](std::int64_t m, int of_lower, int of_upper, bool negative) {
    const auto number = [&](std::int64_t k) {
      const float x = std::ldexp(static_cast<float>(k), -149);
      return negative ? -x : x;
    };
    items.insert(items.end(), static_cast<std::size_t>(of_lower), number(m));
    items.insert(items.end(), static_cast<std::size_t>(of_upper), number(m + 1));
    bounds.push_back(static_cast<int>(items.size()));
    expected.push_back(number(m + (of_upper > of_lower || (of_upper == of_lower && m % 2 != 0))));
  };
  for (const bool negative : {false, true}) {
    for (const std::int64_t start : {0, 1 << 10, (1 << 22) - 8, (1 << 23) - 8, (1 << 24) - 17}) {
      for (std::int64_t m = start; m < start + 16; ++m) {
        push(m, 1, 1, negative);
        push(m, 2, 1, negative);
        push(m, 1, 2, negative);
        push(m, 500, 500, negative);
        push(m, 501, 500, negative);
        push(m, 500, 501, negative);
      }
    }
  }
  const gpu_array<float> on_gpu(items);
  const gpu_array<int> offsets(bounds);
  const auto count = static_cast<std::int64_t>(expected.size());
  const gpu_array<float> means(count);
  cuda_executor gpu;
  segmented_reduce(gpu, on_gpu.data(), offsets.data(), count, means.data(),
                   if_empty(r::exact_mean{}, 0.0f));
  const auto got = means.to_host();
  for (std::size_t s = 0; s < got.size(); ++s) {
    ASSERT_EQ(bytes_of(got[s]), bytes_of(expected[s])) << s << ": " << got[s];
    ASSERT_EQ(bytes_of(reduce(gpu, on_gpu.data() + bounds[s], on_gpu.data() + bounds[s + 1],
                              r::exact_mean{})),
              bytes_of(expected[s]))
        << s;
  }
}

// A product of 2^-150, half of the least float, beside others.
TEST(CudaExactHalfway, DotsBetweenTheLeastNumbers) {
  cuda_executor gpu;
  for (int m = 0; m < 40; ++m) {
    for (const int side : {-1, 0, 1}) {
      const std::vector<float> x{std::ldexp(static_cast<float>(m), -75), 0x1p-75f,
                                 static_cast<float>(side) * 0x1p-149f};
      const std::vector<float> y{0x1p-74f, 0x1p-75f, 0x1p-149f};
      const gpu_array<float> x_on_gpu(x), y_on_gpu(y);
      const int rounded = m + (side > 0 || (side == 0 && m % 2 != 0) ? 1 : 0);
      EXPECT_EQ(bytes_of(transform_reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), y_on_gpu.begin(),
                                          r::exact_dot{})),
                bytes_of(std::ldexp(static_cast<float>(rounded), -149)))
          << m << ", " << side;
    }
  }
}

}  // namespace
}  // namespace tilefold
