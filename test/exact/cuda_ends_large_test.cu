// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU at the ends of what they take: more items than 32 bits count, the most of a
// call and one more. What they have to be is known from how items are made. (cuda_halfway_test.cu
// has results between two numbers.)
#include <thrust/iterator/constant_iterator.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;
__extension__ using signed_128 = __int128;

constexpr std::int64_t one = 1;
constexpr std::int64_t sizes[] = {(one << 31) - 1, one << 31, (one << 32) + 1, (one << 33) + 12345};

template <class T>
class CudaExactLarge : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(CudaExactLarge, floats);

// Items are all mantissa * 2^exponent, so their sum is n * mantissa, an integer of 87 bits at most.
TYPED_TEST(CudaExactLarge, CountsEveryItem) {
  using T = TypeParam;
  constexpr int fraction = test::float_layout<T>::fraction;
  constexpr int bias = test::float_layout<T>::exponents / 2;
  cuda_executor gpu;
  // About 0.1, with as many bits as there are.
  const std::uint64_t bits = 0x9999999999999u >> (52 - fraction) | 1;
  const auto mantissa = static_cast<std::int64_t>(bits | std::uint64_t{1} << fraction);
  const T item = test::float_of<T>(false, bias - 4, bits);
  for (const std::int64_t n : sizes) {
    const auto first = thrust::make_constant_iterator(item);
    const double sum = std::ldexp(static_cast<double>(signed_128{n} * mantissa), -4 - fraction);
    EXPECT_EQ(reduce(gpu, first, first + n, r::exact_sum<double>{}), sum) << n;
    exact_accumulator<T> whole;
    whole.add(gpu, first, first + n);
    EXPECT_EQ(whole.template value<double>(), sum) << n;
    EXPECT_EQ(bytes_of(whole.mean(n)), bytes_of(item)) << n;
  }
}

// All bytes of memory are 0x3c, so all halves are 1084 * 2^-10.
TEST(CudaExactLargeInMemory, OfHalvesAndTheirSegments) {
  constexpr std::int64_t n = (one << 31) + 100'003;
  const gpu_array<half> items(n);
  test::must(cudaMemset(items.data(), 0x3c, static_cast<std::size_t>(n) * sizeof(half)));
  const auto sum_of = [](std::int64_t count) {
    return std::ldexp(static_cast<double>(1084 * count), -10);
  };
  cuda_executor gpu;
  const half* const first = items.data();
  EXPECT_EQ(reduce(gpu, first, first + n, r::exact_sum<double>{}), sum_of(n));
  EXPECT_EQ(reduce(gpu, first + 1, first + n, r::exact_sum<double>{}), sum_of(n - 1));
  const std::vector<std::int64_t> bounds{0, 5, 100'000, (one << 31) + 3, n};
  const gpu_array<std::int64_t> offsets(bounds);
  const gpu_array<double> sums(4);
  segmented_reduce(gpu, first, offsets.data(), 4, sums.data(), r::exact_sum<double>{});
  const auto got = sums.to_host();
  for (std::size_t s = 0; s < got.size(); ++s) {
    EXPECT_EQ(got[s], sum_of(bounds[s + 1] - bounds[s])) << s;
  }
}

// The largest number below 1 fills sums of digits as fast as any.
template <class T>
void expect_the_most(T item) {
  constexpr std::int64_t most = detail::cuda::most_exact_items;
  static_assert(most == one << 38);
  cuda_executor gpu;
  const auto first = thrust::make_constant_iterator(item);
  EXPECT_EQ(reduce(gpu, first, first + most, r::exact_sum{}), std::ldexp(item, 38));
  const auto last = first + (most + 1);
  EXPECT_THROW((void)reduce(gpu, first, last, r::exact_sum{}), invalid_range_error);
  EXPECT_THROW((void)reduce_piece(gpu, first, last, 0, r::exact_sum{}), invalid_range_error);
  exact_accumulator<T> sum(item);
  EXPECT_THROW(sum.add(gpu, first, last), invalid_range_error);
  EXPECT_EQ(sum, exact_accumulator<T>(item));
  // In two parts, for accumulators hold more; and the executor is as before.
  sum.add(gpu, first, first + 1);
  sum.add(gpu, first, first + (one << 34));
  EXPECT_EQ(sum.value(), std::ldexp(item, 34) + 2 * item);
}

TEST(CudaExactLargest, TheMostFloatsOfACall) { expect_the_most(-0x1.fffffep-1f); }

TEST(CudaExactLargest, TheMostDoublesOfACall) { expect_the_most(0x1.fffffffffffffp-1); }

}  // namespace
}  // namespace tilefold
