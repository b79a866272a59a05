// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact sums on a GPU by the verbs that have many results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_suite.cuh"
#include "many_items.hpp"

namespace tilefold {
namespace {

template <class T>
class CudaExactVerbs : public testing::Test {};
TYPED_TEST_SUITE_P(CudaExactVerbs);

TYPED_TEST_P(CudaExactVerbs, InEveryVerb) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const std::size_t n = 60000;
  const auto items = any_items<T>(test::num_exact_kinds, n, random);
  const test::gpu_array<T> x(items);
  using result = exact_result_of<T>;
  std::vector<int> bounds{0};
  while (bounds.back() < static_cast<int>(n)) {
    const int length = static_cast<int>(random() % (random() % 8 == 0 ? 9000 : 40));
    bounds.push_back(std::min(static_cast<int>(n), bounds.back() + length));
  }
  const auto segments = static_cast<std::int64_t>(bounds.size()) - 1;
  const test::gpu_array<int> offsets(bounds);
  test::gpu_array<result> sums(static_cast<std::size_t>(segments));
  segmented_reduce_into(gpu, x.data(), offsets.data(), segments, sums.data(), exact_sum_of<T>{});
  const auto got_sums = sums.to_host();
  for (std::size_t s = 0; s < static_cast<std::size_t>(segments); ++s) {
    const auto begin = static_cast<std::size_t>(bounds[s]);
    const auto end = static_cast<std::size_t>(bounds[s + 1]);
    ASSERT_EQ(bytes_of(got_sums[s]),
              bytes_of(sum_of(items, begin, end).template value<exact_result_of<T>>()))
        << s;
  }
  const std::size_t rows = 300, columns = 200;
  test::gpu_array<result> of_rows(rows);
  segmented_reduce_into(gpu, x.data(), static_cast<std::int64_t>(rows),
                        static_cast<std::int64_t>(columns), of_rows.data(), exact_sum_of<T>{});
  const auto got_of_rows = of_rows.to_host();
  for (std::size_t s = 0; s < rows; ++s) {
    ASSERT_EQ(
        bytes_of(got_of_rows[s]),
        bytes_of(
            sum_of(items, s * columns, (s + 1) * columns).template value<exact_result_of<T>>()))
        << s;
  }
  std::vector<int> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<int>(i / 37);
  const test::gpu_array<int> k(keys);
  test::gpu_array<int> keys_out(n);
  test::gpu_array<result> by_key(n);
  const std::int64_t runs = reduce_by_key(gpu, k.data(), k.data() + n, x.data(), keys_out.data(),
                                          by_key.data(), exact_sum_of<T>{});
  ASSERT_EQ(runs, static_cast<std::int64_t>((n + 36) / 37));
  const auto got_by_key = by_key.to_host();
  for (std::size_t s = 0; s < static_cast<std::size_t>(runs); ++s) {
    ASSERT_EQ(
        bytes_of(got_by_key[s]),
        bytes_of(
            sum_of(items, 37 * s, std::min(n, 37 * s + 37)).template value<exact_result_of<T>>()))
        << s;
  }
  const auto both = reduce(gpu, x.data(), x.data() + n, r::fuse(exact_sum_of<T>{}, r::count{}));
  ASSERT_EQ(bytes_of(both.template get<0>()),
            bytes_of(sum_of(items, 0, n).template value<exact_result_of<T>>()));
  ASSERT_EQ(both.template get<1>(), static_cast<std::int64_t>(n));
}

// Trees for lanes, for warps, for blocks; of one length and of many; runs and columns.
TYPED_TEST_P(CudaExactVerbs, ManySumsAreThoseOfTheHost) {
  using T = TypeParam;
  using result = exact_result_of<T>;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const std::size_t n = 40000;
  test::gpu_array<result> out(n);
  std::vector<result> got(n);
  const auto expect_sums = [&](const std::vector<T>& items, const std::vector<int>& bounds) {
    got = out.to_host(bounds.size() - 1);
    for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
      const auto begin = static_cast<std::size_t>(bounds[s]);
      const auto end = static_cast<std::size_t>(bounds[s + 1]);
      ASSERT_EQ(bytes_of(got[s]),
                bytes_of(sum_of(items, begin, end).template value<exact_result_of<T>>()))
          << "[" << begin << ", " << end << ")";
    }
  };
  for (int kind = 0; kind < test::num_forest_kinds; ++kind) {
    SCOPED_TRACE("kind " + std::to_string(kind));
    const auto items = forest_items<T>(kind, n, random);
    const std::size_t offset = random() % 4;
    test::gpu_array<T> x(n + offset);
    x.assign(items.data(), static_cast<std::int64_t>(n), static_cast<std::int64_t>(offset));
    const T* const first = x.data() + offset;
    for (const int length : {1, 15, 16, 17, 64, 100, 257, 512, 513, 1024, 1500, 9000, 20000}) {
      SCOPED_TRACE("of " + std::to_string(length));
      std::vector<int> bounds{0};
      while (bounds.back() + length <= static_cast<int>(n)) {
        bounds.push_back(bounds.back() + length);
      }
      const auto trees = static_cast<std::int64_t>(bounds.size()) - 1;
      segmented_reduce_into(gpu, first, trees, static_cast<std::int64_t>(length), out.data(),
                            exact_sum_of<T>{});
      ASSERT_NO_FATAL_FAILURE(expect_sums(items, bounds));
    }
    for (const int mean : {4, 30, 400, 3000}) {
      SCOPED_TRACE("of " + std::to_string(mean) + " on the average");
      std::vector<int> bounds{0};
      while (bounds.back() < static_cast<int>(n)) {
        const int length = static_cast<int>(random() % static_cast<unsigned>(2 * mean));
        bounds.push_back(std::min(static_cast<int>(n), bounds.back() + length));
      }
      const test::gpu_array<int> offsets(bounds);
      segmented_reduce_into(gpu, first, offsets.data(),
                            static_cast<std::int64_t>(bounds.size()) - 1, out.data(),
                            exact_sum_of<T>{});
      ASSERT_NO_FATAL_FAILURE(expect_sums(items, bounds));
      std::vector<int> keys(n);
      bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
      for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
      }
      const test::gpu_array<int> k(keys);
      test::gpu_array<int> keys_out(n);
      ASSERT_EQ(reduce_by_key(gpu, k.data(), k.data() + n, first, keys_out.data(), out.data(),
                              exact_sum_of<T>{}),
                static_cast<std::int64_t>(bounds.size()) - 1);
      ASSERT_NO_FATAL_FAILURE(expect_sums(items, bounds));
    }
    for (const std::size_t columns : {1u, 3u, 32u, 100u}) {
      namespace mds = cuda::std;
      const std::size_t rows = n / columns;
      SCOPED_TRACE(std::to_string(columns) + " columns");
      axis_reduce(gpu, mds::mdspan<const T, mds::dextents<std::size_t, 2>>(first, rows, columns),
                  mds::mdspan<result, mds::dextents<std::size_t, 1>>(out.data(), columns), 0,
                  exact_sum_of<T>{});
      got = out.to_host(columns);
      for (std::size_t c = 0; c < columns; ++c) {
        exact_accumulator<T> sum;
        for (std::size_t i = 0; i < rows; ++i) sum.add(items[i * columns + c]);
        ASSERT_EQ(bytes_of(got[c]), bytes_of(sum.template value<exact_result_of<T>>())) << c;
      }
    }
  }
}

// A quarter of a million of each type: each on the host, on the GPU, and shuffled.
TYPED_TEST_P(CudaExactVerbs, AQuarterOfAMillionMultisets) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    std::mt19937_64 random(test::seed());
    cuda_executor gpu;
    constexpr int count = 250'000;
    std::vector<T> items;
    std::vector<int> bounds{0};
    std::vector<int> keys;
    for (int m = 0; m < count; ++m) {
      const auto kind = static_cast<test::exact_kind>(m % test::num_exact_kinds);
      const auto more = test::random_multiset<T>(kind, 1 + static_cast<int>(random() % 6), random);
      items.insert(items.end(), more.begin(), more.end());
      keys.resize(items.size(), m);
      bounds.push_back(static_cast<int>(items.size()));
    }
    std::vector<T> expected(count);
    for (std::size_t m = 0; m < expected.size(); ++m) {
      expected[m] = sum_of(items, static_cast<std::size_t>(bounds[m]),
                           static_cast<std::size_t>(bounds[m + 1]))
                        .template value<exact_result_of<T>>();
      std::shuffle(items.begin() + bounds[m], items.begin() + bounds[m + 1], random);
    }
    const test::gpu_array<T> x(items);
    const test::gpu_array<int> offsets(bounds);
    const test::gpu_array<int> k(keys);
    test::gpu_array<int> keys_out(count);
    test::gpu_array<T> sums(count);
    const auto expect_sums = [&](const char* verb) {
      const auto got = sums.to_host();
      for (std::size_t m = 0; m < got.size(); ++m) {
        ASSERT_EQ(bytes_of(got[m]), bytes_of(expected[m])) << m << ", " << verb;
      }
    };
    segmented_reduce_into(gpu, x.data(), offsets.data(), std::int64_t{count}, sums.data(),
                          exact_sum_of<T>{});
    ASSERT_NO_FATAL_FAILURE(expect_sums("by segment"));
    ASSERT_EQ(reduce_by_key(gpu, k.data(), k.data() + k.size(), x.data(), keys_out.data(),
                            sums.data(), exact_sum_of<T>{}),
              count);
    ASSERT_NO_FATAL_FAILURE(expect_sums("by key"));
  }
}

// For compute-sanitizer, which takes its time: each kernel once or twice, at the ends of memory:
// segments for lanes, warps and blocks; runs and columns.
TYPED_TEST_P(CudaExactVerbs, SanitizeVerbs) {
  using T = TypeParam;
  using result = exact_result_of<T>;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const std::size_t n = 30000;
  const auto items = any_items<T>(test::num_exact_kinds, n, random);
  const test::gpu_array<T> x(items);
  test::gpu_array<result> out(n);
  const auto expect = [&](const std::vector<int>& bounds, const char* what) {
    const auto got = out.to_host(bounds.size() - 1);
    for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
      ASSERT_EQ(bytes_of(got[s]), bytes_of(sum_of(items, static_cast<std::size_t>(bounds[s]),
                                                  static_cast<std::size_t>(bounds[s + 1]))
                                               .template value<exact_result_of<T>>()))
          << what << ", " << s;
    }
  };
  for (const int length : {50, 1500, 29999}) {
    std::vector<int> bounds{0};
    while (bounds.back() + length <= static_cast<int>(n)) bounds.push_back(bounds.back() + length);
    segmented_reduce_into(gpu, x.data(), static_cast<std::int64_t>(bounds.size()) - 1,
                          static_cast<std::int64_t>(length), out.data(), exact_sum_of<T>{});
    expect(bounds, "of one length");
  }
  std::vector<int> bounds{0, 0};
  for (int i = 0; bounds.back() < static_cast<int>(n); ++i) {
    const int length = i % 40 == 7 ? 9000 : i % 10 == 3 ? 700 : static_cast<int>(random() % 90);
    bounds.push_back(std::min(static_cast<int>(n), bounds.back() + length));
  }
  const test::gpu_array<int> offsets(bounds);
  segmented_reduce_into(gpu, x.data(), offsets.data(), static_cast<std::int64_t>(bounds.size()) - 1,
                        out.data(), exact_sum_of<T>{});
  expect(bounds, "by offsets");
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::vector<int> keys(n);
  for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
    std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
  }
  const test::gpu_array<int> k(keys);
  test::gpu_array<int> keys_out(n);
  ASSERT_EQ(reduce_by_key(gpu, k.data(), k.data() + n, x.data(), keys_out.data(), out.data(),
                          exact_sum_of<T>{}),
            static_cast<std::int64_t>(bounds.size()) - 1);
  expect(bounds, "by key");
}

REGISTER_TYPED_TEST_SUITE_P(CudaExactVerbs, InEveryVerb, ManySumsAreThoseOfTheHost,
                            AQuarterOfAMillionMultisets, SanitizeVerbs);

}  // namespace
}  // namespace tilefold
