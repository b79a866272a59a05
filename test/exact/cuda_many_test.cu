// SPDX-License-Identifier: Apache-2.0
//
// Exact means, norms, squares and sums in another type, many at once on a GPU: by segment, by key
// and by column, against accumulators on the host.
#include <thrust/device_vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>
#include <tilefold/tilefold.cuh>

#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;

constexpr std::size_t num_items = 40000;
constexpr float nothing = 7;

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

template <class T>
T mean_of(const std::vector<T>& items) {
  exact_accumulator<T> sum;
  for (const T x : items) sum.add(x);
  return sum.mean(static_cast<std::int64_t>(items.size()));
}

/// Of every kind of items, `first` of them on the GPU, and they themselves.
template <class T>
void for_each_kind(std::mt19937_64& random,
                   const std::function<void(const T* first, const std::vector<T>& items)>& expect) {
  for (int kind = 0; kind < test::num_forest_kinds; ++kind) {
    SCOPED_TRACE("kind " + std::to_string(kind));
    const auto items = test::forest_items<T>(kind, num_items, random);
    const thrust::device_vector<T> x(items);
    expect(x.data().get(), items);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// From none to 2 `mean` items a segment.
std::vector<int> bounds_of(int mean, std::mt19937_64& random) {
  const int end = static_cast<int>(num_items);
  std::vector<int> bounds{0};
  while (bounds.back() < end) {
    const int length = static_cast<int>(random() % static_cast<unsigned>(2 * mean + 1));
    bounds.push_back(std::min(end, bounds.back() + length));
  }
  return bounds;
}

/// expected(items of a segment) is what `out` has of each.
template <class T, class Result, class Expected>
void expect_segments(const std::vector<T>& items, const std::vector<int>& bounds,
                     const thrust::device_vector<Result>& out, const Expected& expected) {
  std::vector<Result> got(bounds.size() - 1);
  thrust::copy(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(got.size()), got.begin());
  for (std::size_t s = 0; s < got.size(); ++s) {
    const std::vector<T> mine(items.begin() + bounds[s], items.begin() + bounds[s + 1]);
    ASSERT_EQ(bytes_of(got[s]), bytes_of(expected(mine)))
        << "[" << bounds[s] << ", " << bounds[s + 1] << ")";
  }
}

TEST(CudaExactMany, MeansOfSegments) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for_each_kind<float>(random, [&](const float* first, const std::vector<float>& items) {
    for (const int mean : {1, 4, 30, 400, 3000}) {
      SCOPED_TRACE("of " + std::to_string(mean) + " on the average");
      const auto bounds = bounds_of(mean, random);
      const thrust::device_vector<int> offsets(bounds);
      thrust::device_vector<float> out(bounds.size() - 1);
      segmented_reduce_into(gpu, first, offsets.data().get(),
                            static_cast<std::int64_t>(bounds.size()) - 1, out.data().get(),
                            if_empty(r::exact_mean{}, nothing));
      ASSERT_NO_FATAL_FAILURE(expect_segments(
          items, bounds, out,
          [](const std::vector<float>& mine) { return mine.empty() ? nothing : mean_of(mine); }));
    }
  });
}

TEST(CudaExactMany, NormsOfSegmentsOfOneLength) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for_each_kind<float>(random, [&](const float* first, const std::vector<float>& items) {
    thrust::device_vector<float> out(num_items);
    for (const int length : {1, 16, 17, 64, 512, 1024, 1500, 9000}) {
      SCOPED_TRACE("of " + std::to_string(length));
      std::vector<int> bounds{0};
      while (bounds.back() + length <= static_cast<int>(num_items)) {
        bounds.push_back(bounds.back() + length);
      }
      segmented_reduce_into(gpu, first, static_cast<std::int64_t>(bounds.size()) - 1,
                            static_cast<std::int64_t>(length), out.data().get(), r::exact_l2{});
      ASSERT_NO_FATAL_FAILURE(
          expect_segments(items, bounds, out, [](const std::vector<float>& mine) {
            return tilefold::reduce(mine.begin(), mine.end(), r::exact_l2{});
          }));
    }
  });
}

TEST(CudaExactMany, SquaresOfRuns) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for_each_kind<float>(random, [&](const float* first, const std::vector<float>& items) {
    thrust::device_vector<double> out(num_items);
    thrust::device_vector<int> keys_out(num_items);
    for (const int mean : {2, 16, 700}) {
      SCOPED_TRACE("of " + std::to_string(mean) + " on the average");
      auto bounds = bounds_of(mean, random);
      bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
      std::vector<int> keys(num_items);
      for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
      }
      const thrust::device_vector<int> k(keys);
      ASSERT_EQ(
          reduce_by_key(gpu, k.data().get(), k.data().get() + num_items, first,
                        keys_out.data().get(), out.data().get(), r::exact_sum_of_squares<double>{}),
          static_cast<std::int64_t>(bounds.size()) - 1);
      ASSERT_NO_FATAL_FAILURE(
          expect_segments(items, bounds, out, [](const std::vector<float>& mine) {
            return tilefold::reduce(mine.begin(), mine.end(), r::exact_sum_of_squares<double>{});
          }));
    }
  });
}

// A sum that is a double has bits that one that is a float rounds away.
TEST(CudaExactMany, SumsOfFloatsAsDoublesByColumn) {
  namespace mds = cuda::std;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for_each_kind<float>(random, [&](const float* first, const std::vector<float>& items) {
    for (const std::size_t columns : {1u, 3u, 32u, 100u, 3000u}) {
      SCOPED_TRACE(std::to_string(columns) + " columns");
      const std::size_t rows = num_items / columns;
      thrust::device_vector<double> out(columns);
      axis_reduce(gpu,
                  mds::mdspan<const float, mds::dextents<std::size_t, 2>>(first, rows, columns),
                  mds::mdspan<double, mds::dextents<std::size_t, 1>>(out.data().get(), columns), 0,
                  r::exact_sum<double>{});
      std::vector<float> by_column;
      std::vector<int> bounds{0};
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t i = 0; i < rows; ++i) by_column.push_back(items[i * columns + c]);
        bounds.push_back(static_cast<int>(by_column.size()));
      }
      ASSERT_NO_FATAL_FAILURE(
          expect_segments(by_column, bounds, out, [](const std::vector<float>& mine) {
            exact_accumulator<float> sum;
            for (const float x : mine) sum.add(x);
            return sum.value<double>();
          }));
    }
  });
}

}  // namespace
}  // namespace tilefold
