// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU with an initial value, of lengths that only the GPU knows, of segments that
// are promised to be short, of a number of them that only the GPU knows, and with offsets that are
// checked first. Each has the bits of the host. Segments are of floats: what such a call adds to
// one by offsets alone does not read the items.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/checked.hpp>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segment_bound.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_callers.cuh"
#include "many_items.hpp"

namespace tilefold {
namespace {

/// Lengths around those from which on a range goes another way.
const std::vector<std::int64_t> lengths{0, 1, 31, 1000, 8192, 8193, 70'001, 4'200'001};

using types = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaExactCalls, types);

TYPED_TEST(CudaExactCalls, BeginWithAnInitialValue) {
  using T = TypeParam;
  for (int kind = 0; kind < test::num_exact_kinds; ++kind) {
    const auto all = this->items(kind, lengths.back() + 1);
    const gpu_array<T> x(all);
    exact_accumulator<T> init;
    init.add(all[0]);
    for (const std::int64_t n : lengths) {
      SCOPED_TRACE(testing::Message()
                   << n << " items of kind " << kind << ", seed " << test::seed());
      // The first item stands before the others, or is one of them.
      const T got = reduce(this->gpu, x.data() + 1, x.data() + 1 + n, init, r::exact_sum{});
      const T expected = reduce(one, all.data(), all.data() + 1 + n, r::exact_sum{});
      EXPECT_EQ(bytes_of(got), bytes_of(expected));
    }
  }
}

TYPED_TEST(CudaExactCalls, OfLengthsThatOnlyTheGpuKnows) {
  using T = TypeParam;
  const auto all = this->items(test::num_exact_kinds, lengths.back());
  const gpu_array<T> x(all);
  for (const std::int64_t n : lengths) {
    SCOPED_TRACE(testing::Message() << n << " items, seed " << test::seed());
    const gpu_array<std::int64_t> number(std::vector<std::int64_t>{n});
    this->out.assign(std::vector<T>(1, T{-7}).data(), 1);
    reduce_into(this->gpu, x.data(), deferred(number.data(), lengths.back()), this->out.data(),
                r::exact_sum{});
    EXPECT_EQ(bytes_of(this->out.to_host()[0]),
              bytes_of(reduce(one, all.data(), all.data() + n, r::exact_sum{})));
  }
}

TYPED_TEST(CudaExactCalls, SanitizeBeginWithAnInitialValue) {
  using T = TypeParam;
  const auto all = this->items(test::num_exact_kinds, 20'000);
  const gpu_array<T> x(all);
  exact_accumulator<T> init;
  init.add(T{-3});
  EXPECT_EQ(bytes_of(reduce(this->gpu, x.data(), x.data() + 20'000, init, r::exact_sum{})),
            bytes_of(reduce(one, all, init, r::exact_sum{})));
}

TYPED_TEST_SUITE(CudaExactSegmentCalls, testing::Types<float>);

TYPED_TEST(CudaExactSegmentCalls, OfABoundAndOfANumberOnTheGpu) {
  segmented_reduce_into(this->gpu, this->x(), this->at(), this->num, segment_bound(39),
                        this->out.data(), r::exact_sum{});
  this->expect_sums("a bound");
  const gpu_array<std::int64_t> number(std::vector<std::int64_t>{this->num});
  segmented_reduce_into(this->gpu, this->x(), this->at(), deferred(number.data(), 4096),
                        this->out.data(), r::exact_sum{});
  this->expect_sums("a number on the GPU");
}

TYPED_TEST(CudaExactSegmentCalls, CheckedAndWithAnInitialValue) {
  using T = TypeParam;
  segmented_reduce(checked(this->gpu, this->num_items()), this->x(), this->at(), this->num,
                   this->out.data(), r::exact_sum{});
  this->expect_sums("checked");
  exact_accumulator<T> init;
  init.add(T{1});
  segmented_reduce_into(this->gpu, this->x(), this->at(), this->num, this->out.data(), init,
                        r::exact_sum{});
  this->expect("an initial value", [&](const T* first, const T* last) {
    return reduce(one, first, last, init, r::exact_sum{});
  });
}

}  // namespace
}  // namespace tilefold
