// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU by calls that say more than a range: with an initial value, of lengths that
// only the GPU knows, of segments that are promised to be short, or whose offsets are checked
// first. Each has the bits of the host, whose sums other tests compare with real ones.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/checked.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segment_bound.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;

const host_executor one(1);

/// Lengths around those from which on a range goes another way.
const std::vector<std::int64_t> lengths{0, 1, 31, 1000, 8192, 8193, 70'001, 4'200'001};

/// Items of every kind, of which each call takes the first.
template <class T>
class CudaExactCalls : public testing::Test {
 protected:
  std::mt19937_64 random{test::seed()};
  cuda_executor gpu;
  gpu_array<T> out{4096};

  std::vector<T> items(int kind, std::int64_t n) {
    return test::items_of<T>(kind, static_cast<std::size_t>(n), random);
  }
};
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

TYPED_TEST(CudaExactCalls, OfSegmentsInEveryForm) {
  using T = TypeParam;
  const std::int64_t num = 3000;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t s = 0; s < num; ++s) {
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(this->random() % 40));
  }
  const auto all = this->items(test::num_exact_kinds, offsets.back());
  const gpu_array<T> x(all);
  const gpu_array<std::int64_t> on_gpu(offsets);
  const gpu_array<std::int64_t> number(std::vector<std::int64_t>{num});
  exact_accumulator<T> init;
  init.add(T{1});
  const auto expect = [&](const char* what, auto sum_of) {
    const auto got = this->out.to_host();
    for (std::int64_t s = 0; s < num; ++s) {
      const auto at = static_cast<std::size_t>(s);
      ASSERT_EQ(bytes_of(got[at]),
                bytes_of(sum_of(all.data() + offsets[at], all.data() + offsets[at + 1])))
          << what << ", segment " << s << ", seed " << test::seed();
    }
    this->out.assign(std::vector<T>(4096, T{-7}).data(), 4096);
  };
  const auto sum = [](const T* first, const T* last) {
    return reduce(one, first, last, r::exact_sum{});
  };
  const auto* const at = on_gpu.data();
  segmented_reduce_into(this->gpu, x.data(), at, num, segment_bound(39), this->out.data(),
                        r::exact_sum{});
  expect("a bound", sum);
  segmented_reduce_into(this->gpu, x.data(), at, deferred(number.data(), 4096), this->out.data(),
                        r::exact_sum{});
  expect("a number on the GPU", sum);
  segmented_reduce(checked(this->gpu, offsets.back()), x.data(), at, num, this->out.data(),
                   r::exact_sum{});
  expect("checked", sum);
  segmented_reduce_into(this->gpu, x.data(), at, num, this->out.data(), init, r::exact_sum{});
  expect("an initial value", [&](const T* first, const T* last) {
    return reduce(one, first, last, init, r::exact_sum{});
  });
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

}  // namespace
}  // namespace tilefold
