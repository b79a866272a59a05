// SPDX-License-Identifier: Apache-2.0
//
// Exact sums, means and products of integers of 64 bits on a GPU: in 128 bits inside (products:
// 192), so that a result of an integer type is the sum modulo 2^64, and one of a floating type is
// rounded once; and sums that say whether 64 bits hold them. The oracle of sums is an integer of
// 128 bits; of means, roots and products as doubles the host, which others test.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/checked_sum.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::gpu_array;
__extension__ using signed_128 = __int128;
__extension__ using unsigned_128 = unsigned __int128;

template <class T>
using wide = std::conditional_t<std::is_signed_v<T>, signed_128, unsigned_128>;

template <class T>
wide<T> sum_of(const T* first, std::int64_t n) {
  wide<T> sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += first[i];
  return sum;
}

template <class T>
bool is_verdict(const r::checked_value<T>& found, wide<T> sum) {
  return found.value == static_cast<T>(sum) &&
         found.fits == (sum == static_cast<wide<T>>(found.value));
}

/// The compiler rounds integers of 128 bits once, too.
template <class T>
double as_double(wide<T> sum) {
  return static_cast<double>(sum);
}

/// Any numbers; the largest, whose sums take 80 bits and more; both ends in turn, which cancel; and
/// numbers whose sum lies beside the middle of two doubles.
template <class T>
std::vector<T> integers(int kind, std::size_t n, std::mt19937_64& random) {
  constexpr T most = std::numeric_limits<T>::max();
  constexpr T least = std::numeric_limits<T>::min();
  std::vector<T> items;
  for (std::size_t i = 0; i < n; ++i) {
    switch (kind) {
      case 0:
        items.push_back(static_cast<T>(random()));
        break;
      case 1:
        items.push_back(most);
        break;
      case 2:
        items.push_back(i % 2 == 0 ? most : least);
        break;
      default:
        // 2^62 and 2^9, half a unit of a double there, and now and then 1.
        items.push_back(i == 0   ? static_cast<T>(std::uint64_t{1} << 62)
                        : i == 1 ? T{512}
                                 : static_cast<T>(i == 2 && n % 3 != 0));
    }
  }
  std::shuffle(items.begin(), items.end(), random);
  return items;
}
constexpr int num_kinds = 4;

template <class T>
class CudaExactIntegers : public testing::Test {};
using wide_types = testing::Types<std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(CudaExactIntegers, wide_types);

TYPED_TEST(CudaExactIntegers, SumsAndMeansOfRanges) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const host_executor host;
  for (int kind = 0; kind < num_kinds; ++kind) {
    for (const std::int64_t n : {1, 2, 3, 1000, 100'003, (1 << 22) + 77}) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", " << n);
      const auto items = integers<T>(kind, static_cast<std::size_t>(n), random);
      const gpu_array<T> on_gpu(items);
      const T* const first = on_gpu.data();
      const wide<T> sum = sum_of(items.data(), n);
      EXPECT_EQ(reduce(gpu, first, first + n, r::exact_sum<double>{}), as_double<T>(sum));
      EXPECT_TRUE(is_verdict<T>(reduce(gpu, first, first + n, r::checked_sum<T>{}), sum));
      EXPECT_EQ(reduce(gpu, first, first + n, r::exact_mean{}),
                tilefold::reduce(host, items, r::exact_mean{}));
      if (kind == 1) {
        EXPECT_EQ(reduce(gpu, first, first + n, r::exact_mean{}),
                  static_cast<double>(std::numeric_limits<T>::max()));
      }
    }
  }
}

TYPED_TEST(CudaExactIntegers, Products) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const host_executor host;
  for (int kind = 0; kind < num_kinds; ++kind) {
    for (const std::int64_t n : {1, 1000, 100'003}) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", " << n);
      const auto x = integers<T>(kind, static_cast<std::size_t>(n), random);
      const auto y = integers<T>(0, static_cast<std::size_t>(n), random);
      const gpu_array<T> x_on_gpu(x), y_on_gpu(y);
      const T* const first = x_on_gpu.data();
      EXPECT_EQ(
          transform_reduce(gpu, first, first + n, y_on_gpu.data(), r::exact_dot<double>{}),
          tilefold::transform_reduce(host, x.begin(), x.end(), y.begin(), r::exact_dot<double>{}));
      EXPECT_EQ(reduce(gpu, first, first + n, r::exact_sum_of_squares<double>{}),
                tilefold::reduce(host, x, r::exact_sum_of_squares<double>{}));
      EXPECT_EQ(reduce(gpu, first, first + n, r::exact_l2{}),
                tilefold::reduce(host, x, r::exact_l2{}));
      if (kind == 1) {
        // n squares of 2^64 - 1 or 2^63 - 1: far beyond 128 bits, and next to n 2^128 or n 2^126.
        const double size = std::ldexp(static_cast<double>(n), std::is_signed_v<T> ? 126 : 128);
        EXPECT_EQ(reduce(gpu, first, first + n, r::exact_sum_of_squares<double>{}), size);
      }
    }
  }
}

// Sums in a double of one type and verdicts of the other: a tree of either does not ask whether
// there is a sign.
template <class T>
struct many_sums;
template <>
struct many_sums<std::int64_t> {
  using reducer = r::exact_sum<double>;
  using result = double;
  static bool is_right(double got, signed_128 sum) { return got == as_double<std::int64_t>(sum); }
};
template <>
struct many_sums<std::uint64_t> {
  using reducer = r::checked_sum<std::uint64_t>;
  using result = r::checked_value<std::uint64_t>;
  static bool is_right(const result& got, unsigned_128 sum) {
    return is_verdict<std::uint64_t>(got, sum);
  }
};

TYPED_TEST(CudaExactIntegers, ManySums) {
  using T = TypeParam;
  using many = many_sums<T>;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  constexpr std::int64_t n = 40'000;
  for (int kind = 0; kind < num_kinds - 1; ++kind) {
    const auto items = integers<T>(kind, n, random);
    const gpu_array<T> on_gpu(items);
    for (const std::int64_t length : {1, 7, 64, 1000, 9000}) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", of " << length);
      const std::int64_t segments = n / length;
      const gpu_array<typename many::result> sums(segments), sums_by_key(segments);
      segmented_reduce_into(gpu, on_gpu.data(), segments, length, sums.data(),
                            typename many::reducer{});
      std::vector<int> keys;
      for (std::int64_t i = 0; i < segments * length; ++i) {
        keys.push_back(static_cast<int>(i / length));
      }
      const gpu_array<int> k(keys), keys_out(segments);
      ASSERT_EQ(reduce_by_key(gpu, k.begin(), k.end(), on_gpu.data(), keys_out.data(),
                              sums_by_key.data(), typename many::reducer{}),
                segments);
      const auto got = sums.to_host();
      const auto got_by_key = sums_by_key.to_host();
      for (std::int64_t s = 0; s < segments; ++s) {
        const wide<T> sum = sum_of(items.data() + s * length, length);
        ASSERT_TRUE(many::is_right(got[static_cast<std::size_t>(s)], sum)) << s;
        ASSERT_TRUE(many::is_right(got_by_key[static_cast<std::size_t>(s)], sum)) << s;
      }
    }
  }
}

}  // namespace
}  // namespace tilefold
