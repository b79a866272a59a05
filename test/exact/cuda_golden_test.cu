// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU against committed results, which were made without the library; whole
// ranges, at every alignment that their places give them.
#include <thrust/device_vector.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>
#include <tilefold/tilefold.cuh>

#include "exact_golden.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

template <class T>
class CudaExactGolden : public testing::Test {};
using floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(CudaExactGolden, floats);

template <class T, class Reduce>
std::vector<T> results_of(const std::vector<std::vector<T>>& sets, const Reduce& reduce_one) {
  std::vector<T> items;
  for (const auto& set : sets) items.insert(items.end(), set.begin(), set.end());
  const thrust::device_vector<T> x(items.begin(), items.end());
  const thrust::device_vector<T> reversed(std::vector<T>(items.rbegin(), items.rend()));
  const T* first = x.data().get();
  const T* end_of_reversed = reversed.data().get() + items.size();
  std::vector<T> results;
  for (const auto& set : sets) {
    const auto n = static_cast<std::ptrdiff_t>(set.size());
    end_of_reversed -= n;
    results.push_back(reduce_one(first, first + n, end_of_reversed));
    first += n;
  }
  return results;
}

TYPED_TEST(CudaExactGolden, BitsAreTheCommittedOnes) {
  using T = TypeParam;
  cuda_executor gpu;
  test::exact_golden::expect_all<T>(
      [&](const std::string& reducer, const std::vector<std::vector<T>>& sets) {
        return results_of(sets, [&](const T* first, const T* last, const T* reversed) -> T {
          if (reducer == "sum") return reduce(gpu, first, last, r::exact_sum{});
          if (reducer == "mean") return reduce(gpu, first, last, r::exact_mean{});
          if (reducer == "sum_of_squares")
            return reduce(gpu, first, last, r::exact_sum_of_squares{});
          if (reducer == "l2") return reduce(gpu, first, last, r::exact_l2{});
          return transform_reduce(gpu, first, last, reversed, r::exact_dot{});
        });
      });
}

TEST(CudaExactGoldenDots, CancelAlmostEverything) {
  cuda_executor gpu;
  const auto dot = [&](const auto& x, const auto& y) {
    const thrust::device_vector<std::decay_t<decltype(x[0])>> dx(x), dy(y);
    const auto* const first = dx.data().get();
    return transform_reduce(gpu, first, first + x.size(), dy.data().get(), r::exact_dot{});
  };
  test::exact_golden::expect_dots<float>(dot);
  test::exact_golden::expect_dots<double>(dot);
}

}  // namespace
}  // namespace tilefold
