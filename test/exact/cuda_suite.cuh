// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU, for each type in a program of its own: reducers against
// accumulators on the host, which others compare with MPFR: kinds of data on which sums go wrong,
// sizes around chunks and blocks, alignments, verbs, orders. (cuda_policies_test.cu has policies.)
#pragma once

#include <thrust/device_vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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
#include <tilefold/transform_reduce.hpp>

#include "../support/seed.hpp"
#include "many_items.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::any_items;
using test::forest_items;
using test::items_of;

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

template <class T>
exact_accumulator<T> sum_of(const std::vector<T>& items, std::size_t begin, std::size_t end) {
  exact_accumulator<T> sum;
  for (std::size_t i = begin; i < end; ++i) sum.add(items[i]);
  return sum;
}

template <class T>
class CudaExact : public testing::Test {};
TYPED_TEST_SUITE_P(CudaExact);

TYPED_TEST_P(CudaExact, SumsAreThoseOfTheHost) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    for (const std::size_t n :
         {1u, 2u, 31u, 255u, 256u, 257u, 1023u, 1024u, 1025u, 8191u, 8192u, 8193u, 65537u, 100003u,
          131072u, 131073u, 1u << 20, (1u << 22) + 77}) {
      if (n > 200000 && kind != 0 && kind < test::num_exact_kinds) continue;
      const std::size_t offset = random() % 8;
      const auto items = any_items<T>(kind, n + offset, random);
      const thrust::device_vector<T> x(items);
      const T* const first = x.data().get() + offset;
      const auto expected = sum_of(items, offset, n + offset);
      SCOPED_TRACE(std::to_string(kind) + ", " + std::to_string(n) + ", " + std::to_string(offset));
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_sum{})),
                bytes_of(expected.value()));
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_sum<double>{})),
                bytes_of(expected.template value<double>()));
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_mean{})),
                bytes_of(expected.mean(static_cast<std::int64_t>(n))));
    }
  }
}

TYPED_TEST_P(CudaExact, ProductsAreThoseOfTheHost) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    for (const std::size_t n : {1u, 255u, 1025u, 8193u, 50001u}) {
      const auto items = any_items<T>(kind, n + 3, random);
      const thrust::device_vector<T> x(items);
      const T* const first = x.data().get();
      const auto begin = items.begin();
      const auto end = begin + static_cast<std::ptrdiff_t>(n);
      SCOPED_TRACE(std::to_string(kind) + ", " + std::to_string(n));
      ASSERT_EQ(bytes_of(transform_reduce(gpu, first, first + n, first + 3, r::exact_dot{})),
                bytes_of(tilefold::transform_reduce(begin, end, begin + 3, r::exact_dot{})));
      ASSERT_EQ(bytes_of(reduce(gpu, first + 1, first + n + 1, r::exact_l2{})),
                bytes_of(tilefold::reduce(begin + 1, end + 1, r::exact_l2{})));
      ASSERT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_sum_of_squares<double>{})),
                bytes_of(tilefold::reduce(begin, end, r::exact_sum_of_squares<double>{})));
    }
  }
}

/// Stretches whose exponents spread over few or many, at the least, the largest or between; with
/// zeros, and stretches of zeros alone. Not `mixed`: of one spread and place.
template <class T>
std::vector<T> stretches(std::size_t n, bool mixed, std::mt19937_64& random) {
  constexpr int exponents = test::float_layout<T>::exponents;
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(bound));
  };
  std::vector<T> items;
  while (items.size() < n) {
    constexpr int spreads[] = {1, 2, 8, 16, 20, 23, 24, 39, 40, 41, 42, 79, 80, 81, 120, exponents};
    const int spread = std::min(exponents, spreads[below(16)]);
    const int place = below(4);
    const int lowest = place == 0   ? 0
                       : place == 1 ? exponents - spread
                                    : below(exponents - spread + 1);
    const int zeros = below(8) == 0 ? 1 : 64;  // one item in so many
    const bool of_minus = below(2) == 0;
    const std::size_t length = mixed ? static_cast<std::size_t>(1 + below(20000)) : n;
    for (std::size_t i = 0; i < length; ++i) {
      const bool zero = below(zeros) == 0;
      items.push_back(test::float_of<T>(zero ? of_minus : below(2) == 0,
                                        zero ? 0 : lowest + below(spread), zero ? 0 : random()));
    }
  }
  items.resize(n);
  return items;
}

/// a, then what `of` makes of each of its items, then `last`.
template <class T, class Of>
std::vector<T> twice(const std::vector<T>& a, Of of, T last) {
  std::vector<T> result = a;
  for (const T x : a) result.push_back(of(x));
  result.push_back(last);
  return result;
}

// Chunks of long ranges are added in one way or another, by how far their items spread. Where all
// cancels but the last item, nothing large hides what is lost below it.
TYPED_TEST_P(CudaExact, LongRangesOfEverySpread) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    std::mt19937_64 random(test::seed());
    cuda_executor gpu;
    const auto itself = [](T x) { return x; };
    const int rounds = sizeof(T) == 8 ? 3 : 6;  // the host is slow over doubles far apart
    for (int round = 0; round < rounds; ++round) {
      const std::size_t half_n = (std::size_t{1} << 21) + 777;
      const auto a = stretches<T>(half_n, round < 2, random);
      const auto b = stretches<T>(half_n, round < 2, random);
      const T tiny = test::float_of<T>(false, 0, 1 + random() % 2);
      const auto x = twice(a, test::negated<T>, tiny);
      const auto y = twice(b, itself, tiny);
      const thrust::device_vector<T> on_gpu(x);
      const thrust::device_vector<T> other_on_gpu(y);
      const T* const first = on_gpu.data().get();
      const T* const other = other_on_gpu.data().get();
      const auto n = static_cast<std::ptrdiff_t>(x.size());
      SCOPED_TRACE(round);
      EXPECT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_sum{})), bytes_of(tiny));
      EXPECT_EQ(bytes_of(reduce(gpu, first + 1, first + n, r::exact_sum<double>{})),
                bytes_of(tilefold::reduce(x.begin() + 1, x.end(), r::exact_sum<double>{})));
      EXPECT_EQ(bytes_of(reduce(gpu, first, first + n, r::exact_sum_of_squares<double>{})),
                bytes_of(tilefold::reduce(x.begin(), x.end(), r::exact_sum_of_squares<double>{})));
      EXPECT_EQ(bytes_of(transform_reduce(gpu, first, first + n, other, r::exact_dot<double>{})),
                bytes_of(tilefold::transform_reduce(x.end() - 1, x.end(), y.end() - 1,
                                                    r::exact_dot<double>{})));
      EXPECT_EQ(
          bytes_of(transform_reduce(gpu, first, first + n - 1, other + 1, r::exact_dot<double>{})),
          bytes_of(tilefold::transform_reduce(x.begin(), x.end() - 1, y.begin() + 1,
                                              r::exact_dot<double>{})));
    }
  }
}

TYPED_TEST_P(CudaExact, InEveryVerb) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const std::size_t n = 60000;
  const auto items = any_items<T>(test::num_exact_kinds, n, random);
  const thrust::device_vector<T> x(items);
  using result = typename detail::exact_result<T>::type;
  std::vector<int> bounds{0};
  while (bounds.back() < static_cast<int>(n)) {
    const int length = static_cast<int>(random() % (random() % 8 == 0 ? 9000 : 40));
    bounds.push_back(std::min(static_cast<int>(n), bounds.back() + length));
  }
  const auto segments = static_cast<std::int64_t>(bounds.size()) - 1;
  const thrust::device_vector<int> offsets(bounds);
  thrust::device_vector<result> sums(static_cast<std::size_t>(segments));
  segmented_reduce_into(gpu, x.data().get(), offsets.data().get(), segments, sums.data().get(),
                        r::exact_sum{});
  for (std::size_t s = 0; s < static_cast<std::size_t>(segments); ++s) {
    const auto begin = static_cast<std::size_t>(bounds[s]);
    const auto end = static_cast<std::size_t>(bounds[s + 1]);
    const result got = sums[s];
    ASSERT_EQ(bytes_of(got), bytes_of(sum_of(items, begin, end).value())) << s;
  }
  const std::size_t rows = 300, columns = 200;
  thrust::device_vector<result> of_rows(rows);
  segmented_reduce_into(gpu, x.data().get(), static_cast<std::int64_t>(rows),
                        static_cast<std::int64_t>(columns), of_rows.data().get(), r::exact_sum{});
  for (std::size_t s = 0; s < rows; ++s) {
    const result got = of_rows[s];
    ASSERT_EQ(bytes_of(got), bytes_of(sum_of(items, s * columns, (s + 1) * columns).value())) << s;
  }
  std::vector<int> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<int>(i / 37);
  const thrust::device_vector<int> k(keys);
  thrust::device_vector<int> keys_out(n);
  thrust::device_vector<result> by_key(n);
  const std::int64_t runs =
      reduce_by_key(gpu, k.data().get(), k.data().get() + n, x.data().get(), keys_out.data().get(),
                    by_key.data().get(), r::exact_sum{});
  ASSERT_EQ(runs, static_cast<std::int64_t>((n + 36) / 37));
  for (std::size_t s = 0; s < static_cast<std::size_t>(runs); ++s) {
    const result got = by_key[s];
    ASSERT_EQ(bytes_of(got), bytes_of(sum_of(items, 37 * s, std::min(n, 37 * s + 37)).value()))
        << s;
  }
  const auto both =
      reduce(gpu, x.data().get(), x.data().get() + n, r::fuse(r::exact_sum{}, r::count{}));
  ASSERT_EQ(bytes_of(both.template get<0>()), bytes_of(sum_of(items, 0, n).value()));
  ASSERT_EQ(both.template get<1>(), static_cast<std::int64_t>(n));
}

// Trees for lanes, for warps, for blocks; of one length and of many; runs and columns.
TYPED_TEST_P(CudaExact, ManySumsAreThoseOfTheHost) {
  using T = TypeParam;
  using result = typename detail::exact_result<T>::type;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const std::size_t n = 40000;
  thrust::device_vector<result> out(n);
  std::vector<result> got(n);
  const auto expect_sums = [&](const std::vector<T>& items, const std::vector<int>& bounds) {
    thrust::copy(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(bounds.size() - 1),
                 got.begin());
    for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
      const auto begin = static_cast<std::size_t>(bounds[s]);
      const auto end = static_cast<std::size_t>(bounds[s + 1]);
      ASSERT_EQ(bytes_of(got[s]), bytes_of(sum_of(items, begin, end).value()))
          << "[" << begin << ", " << end << ")";
    }
  };
  for (int kind = 0; kind < test::num_forest_kinds; ++kind) {
    SCOPED_TRACE("kind " + std::to_string(kind));
    const auto items = forest_items<T>(kind, n, random);
    const std::size_t offset = random() % 4;
    thrust::device_vector<T> x(n + offset);
    thrust::copy(items.begin(), items.end(), x.begin() + static_cast<std::ptrdiff_t>(offset));
    const T* const first = x.data().get() + offset;
    for (const int length : {1, 15, 16, 17, 64, 100, 257, 512, 513, 1024, 1500, 9000, 20000}) {
      SCOPED_TRACE("of " + std::to_string(length));
      std::vector<int> bounds{0};
      while (bounds.back() + length <= static_cast<int>(n)) {
        bounds.push_back(bounds.back() + length);
      }
      const auto trees = static_cast<std::int64_t>(bounds.size()) - 1;
      segmented_reduce_into(gpu, first, trees, static_cast<std::int64_t>(length), out.data().get(),
                            r::exact_sum{});
      ASSERT_NO_FATAL_FAILURE(expect_sums(items, bounds));
    }
    for (const int mean : {4, 30, 400, 3000}) {
      SCOPED_TRACE("of " + std::to_string(mean) + " on the average");
      std::vector<int> bounds{0};
      while (bounds.back() < static_cast<int>(n)) {
        const int length = static_cast<int>(random() % static_cast<unsigned>(2 * mean));
        bounds.push_back(std::min(static_cast<int>(n), bounds.back() + length));
      }
      const thrust::device_vector<int> offsets(bounds);
      segmented_reduce_into(gpu, first, offsets.data().get(),
                            static_cast<std::int64_t>(bounds.size()) - 1, out.data().get(),
                            r::exact_sum{});
      ASSERT_NO_FATAL_FAILURE(expect_sums(items, bounds));
      std::vector<int> keys(n);
      bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
      for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
        std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
      }
      const thrust::device_vector<int> k(keys);
      thrust::device_vector<int> keys_out(n);
      ASSERT_EQ(reduce_by_key(gpu, k.data().get(), k.data().get() + n, first, keys_out.data().get(),
                              out.data().get(), r::exact_sum{}),
                static_cast<std::int64_t>(bounds.size()) - 1);
      ASSERT_NO_FATAL_FAILURE(expect_sums(items, bounds));
    }
    for (const std::size_t columns : {1u, 3u, 32u, 100u}) {
      namespace mds = cuda::std;
      const std::size_t rows = n / columns;
      SCOPED_TRACE(std::to_string(columns) + " columns");
      axis_reduce(gpu, mds::mdspan<const T, mds::dextents<std::size_t, 2>>(first, rows, columns),
                  mds::mdspan<result, mds::dextents<std::size_t, 1>>(out.data().get(), columns), 0,
                  r::exact_sum{});
      thrust::copy(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(columns), got.begin());
      for (std::size_t c = 0; c < columns; ++c) {
        exact_accumulator<T> sum;
        for (std::size_t i = 0; i < rows; ++i) sum.add(items[i * columns + c]);
        ASSERT_EQ(bytes_of(got[c]), bytes_of(sum.value())) << c;
      }
    }
  }
}

// With the three other types a million: each on the host, on the GPU, and shuffled.
TYPED_TEST_P(CudaExact, AQuarterOfAMillionMultisets) {
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
                        .value();
      std::shuffle(items.begin() + bounds[m], items.begin() + bounds[m + 1], random);
    }
    const thrust::device_vector<T> x(items);
    const thrust::device_vector<int> offsets(bounds);
    const thrust::device_vector<int> k(keys);
    thrust::device_vector<int> keys_out(count);
    thrust::device_vector<T> sums(count);
    const auto expect_sums = [&](const char* verb) {
      std::vector<T> got(count);
      thrust::copy(sums.begin(), sums.end(), got.begin());
      for (std::size_t m = 0; m < got.size(); ++m) {
        ASSERT_EQ(bytes_of(got[m]), bytes_of(expected[m])) << m << ", " << verb;
      }
    };
    segmented_reduce_into(gpu, x.data().get(), offsets.data().get(), std::int64_t{count},
                          sums.data().get(), r::exact_sum{});
    ASSERT_NO_FATAL_FAILURE(expect_sums("by segment"));
    ASSERT_EQ(reduce_by_key(gpu, k.data().get(), k.data().get() + k.size(), x.data().get(),
                            keys_out.data().get(), sums.data().get(), r::exact_sum{}),
              count);
    ASSERT_NO_FATAL_FAILURE(expect_sums("by key"));
  }
}

// Among numbers, and alone: chunks of nothing else are noted in another way.
TYPED_TEST_P(CudaExact, OfWhatIsNotFinite) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    cuda_executor gpu;
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const std::size_t n : {1u, 1000u, 5000u, 100000u}) {
      for (const float fill : {0.0f, -0.0f, 1.5f, infinity, -infinity, nan}) {
        for (const float one : {0.0f, -0.0f, 2.0f, infinity, -infinity, nan, -nan}) {
          std::vector<T> items(n, static_cast<T>(fill));
          items[n / 2] = static_cast<T>(one);
          const thrust::device_vector<T> x(items);
          const T got = reduce(gpu, x.data().get(), x.data().get() + n, r::exact_sum{});
          ASSERT_EQ(bytes_of(got), bytes_of(sum_of(items, 0, n).value()))
              << n << " of " << fill << " and a " << one;
        }
      }
    }
  }
}

// An infinity wins over a sum that overflows, and over one that did on the way.
TYPED_TEST_P(CudaExact, InfinitiesBesideTheLargestNumbers) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    cuda_executor gpu;
    const T largest =
        test::float_of<T>(false, test::float_layout<T>::exponents - 1, ~std::uint64_t{0});
    const T infinity = static_cast<T>(std::numeric_limits<float>::infinity());
    for (const T size : {largest, test::negated(largest)}) {
      for (const std::size_t n : {3u, 1000u, 5000u, 100000u}) {
        for (const T one : {test::negated(size), infinity, test::negated(infinity)}) {
          std::vector<T> items(n, size);
          items[n / 2] = one;
          const thrust::device_vector<T> x(items);
          ASSERT_EQ(bytes_of(reduce(gpu, x.data().get(), x.data().get() + n, r::exact_sum{})),
                    bytes_of(sum_of(items, 0, n).value()))
              << n;
        }
      }
    }
  }
}

// Equal items in any order, in short ranges and long ones.
TYPED_TEST_P(CudaExact, RangesInAnyOrder) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {200u, 5000u, 20000u, 100000u, (1u << 22) + 77}) {
    auto items = any_items<T>(test::num_exact_kinds, n, random);
    const auto expected = bytes_of(sum_of(items, 0, n).value());
    for (int round = 0; round < 3; ++round) {
      std::shuffle(items.begin(), items.end(), random);
      const thrust::device_vector<T> x(items);
      ASSERT_EQ(bytes_of(reduce(gpu, x.data().get(), x.data().get() + n, r::exact_sum{})), expected)
          << n << ", " << round;
    }
  }
}

// For compute-sanitizer, which takes its time: each kernel once or twice, at the ends of memory. A
// block's range, a cluster's, a grid's, a long one; segments for lanes, warps and blocks; runs and
// columns.
TYPED_TEST_P(CudaExact, SanitizeVerbs) {
  using T = TypeParam;
  using result = typename detail::exact_result<T>::type;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {1001u, 20001u, 140001u, (1u << 22) + 77}) {
    const auto items = any_items<T>(test::num_exact_kinds, n, random);
    const thrust::device_vector<T> x(items);
    EXPECT_EQ(bytes_of(reduce(gpu, x.data().get() + 1, x.data().get() + n, r::exact_sum{})),
              bytes_of(sum_of(items, 1, n).value()))
        << n;
    EXPECT_EQ(bytes_of(reduce(gpu, x.data().get(), x.data().get() + n, r::exact_l2{})),
              bytes_of(tilefold::reduce(items, r::exact_l2{})))
        << n;
  }
  const std::size_t n = 30000;
  const auto items = any_items<T>(test::num_exact_kinds, n, random);
  const thrust::device_vector<T> x(items);
  thrust::device_vector<result> out(n);
  const auto expect = [&](const std::vector<int>& bounds, const char* what) {
    for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
      const result got = out[s];
      ASSERT_EQ(bytes_of(got), bytes_of(sum_of(items, static_cast<std::size_t>(bounds[s]),
                                               static_cast<std::size_t>(bounds[s + 1]))
                                            .value()))
          << what << ", " << s;
    }
  };
  for (const int length : {50, 1500, 29999}) {
    std::vector<int> bounds{0};
    while (bounds.back() + length <= static_cast<int>(n)) bounds.push_back(bounds.back() + length);
    segmented_reduce_into(gpu, x.data().get(), static_cast<std::int64_t>(bounds.size()) - 1,
                          static_cast<std::int64_t>(length), out.data().get(), r::exact_sum{});
    expect(bounds, "of one length");
  }
  std::vector<int> bounds{0, 0};
  for (int i = 0; bounds.back() < static_cast<int>(n); ++i) {
    const int length = i % 40 == 7 ? 9000 : i % 10 == 3 ? 700 : static_cast<int>(random() % 90);
    bounds.push_back(std::min(static_cast<int>(n), bounds.back() + length));
  }
  const thrust::device_vector<int> offsets(bounds);
  segmented_reduce_into(gpu, x.data().get(), offsets.data().get(),
                        static_cast<std::int64_t>(bounds.size()) - 1, out.data().get(),
                        r::exact_sum{});
  expect(bounds, "by offsets");
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::vector<int> keys(n);
  for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
    std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
  }
  const thrust::device_vector<int> k(keys);
  thrust::device_vector<int> keys_out(n);
  ASSERT_EQ(reduce_by_key(gpu, k.data().get(), k.data().get() + n, x.data().get(),
                          keys_out.data().get(), out.data().get(), r::exact_sum{}),
            static_cast<std::int64_t>(bounds.size()) - 1);
  expect(bounds, "by key");
}

REGISTER_TYPED_TEST_SUITE_P(CudaExact, SumsAreThoseOfTheHost, ProductsAreThoseOfTheHost,
                            LongRangesOfEverySpread, InEveryVerb, ManySumsAreThoseOfTheHost,
                            AQuarterOfAMillionMultisets, OfWhatIsNotFinite,
                            InfinitiesBesideTheLargestNumbers, RangesInAnyOrder, SanitizeVerbs);

}  // namespace
}  // namespace tilefold
