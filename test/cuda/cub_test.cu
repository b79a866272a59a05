// SPDX-License-Identifier: Apache-2.0
//
// Against CUB on the same GPU: equal where order cannot matter, and sums of floats within the
// pairwise bound of a double reference, as CUB's own are.
#include <cmath>
#include <cstdint>
#include <vector>

#include <cub/device/device_reduce.cuh>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

// What call(temporary, bytes, out) leaves in out.
template <class Result, class Call>
Result from_cub(Call call) {
  gpu_array<Result> out(1);
  std::size_t bytes = 0;
  must(call(static_cast<void*>(nullptr), bytes, out.data()));
  gpu_array<char> temporary(static_cast<std::int64_t>(bytes) + 1);
  must(call(static_cast<void*>(temporary.data()), bytes, out.data()));
  return out.to_host()[0];
}

template <class T>
class CudaAgainstCub : public ::testing::Test {
 protected:
  static std::vector<std::int64_t> sizes() { return {1, 2, 1000, 65537, 1 << 20, 10000019}; }

  template <class Check>
  void for_sizes(pattern p, Check check) {
    const auto items = make_items<T>(p, sizes().back(), seed());
    const gpu_array<T> array(items);
    for (const std::int64_t n : sizes()) {
      SCOPED_TRACE(n);
      check(array.data(), n, items);
    }
  }

  cuda_executor executor_;
};

using exact_types = ::testing::Types<std::int32_t, std::uint64_t>;
TYPED_TEST_SUITE(CudaAgainstCub, exact_types);

TYPED_TEST(CudaAgainstCub, SumsOfIntegersAreEqual) {
  using T = TypeParam;
  this->for_sizes(pattern::mixed, [&](const T* first, std::int64_t n, const auto&) {
    const T expected = from_cub<T>([&](void* temporary, std::size_t& bytes, T* out) {
      return cub::DeviceReduce::Sum(temporary, bytes, first, out, n);
    });
    EXPECT_EQ(reduce(this->executor_, first, first + n), expected);
  });
}

TYPED_TEST(CudaAgainstCub, ExtremesOfIntegersAreEqual) {
  using T = TypeParam;
  this->for_sizes(pattern::mixed, [&](const T* first, std::int64_t n, const auto&) {
    EXPECT_EQ(reduce(this->executor_, first, first + n, minimum{}),
              from_cub<T>([&](void* temporary, std::size_t& bytes, T* out) {
                return cub::DeviceReduce::Min(temporary, bytes, first, out, n);
              }));
    EXPECT_EQ(reduce(this->executor_, first, first + n, maximum{}),
              from_cub<T>([&](void* temporary, std::size_t& bytes, T* out) {
                return cub::DeviceReduce::Max(temporary, bytes, first, out, n);
              }));
  });
}

template <class T>
class CudaFloatsAgainstCub : public CudaAgainstCub<T> {};
using float_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaFloatsAgainstCub, float_types);

TYPED_TEST(CudaFloatsAgainstCub, ExtremesAreEqual) {
  using T = TypeParam;
  this->for_sizes(pattern::mixed, [&](const T* first, std::int64_t n, const auto&) {
    EXPECT_TRUE(same_bits<T>(reduce(this->executor_, first, first + n, minimum{}),
                             from_cub<T>([&](void* temporary, std::size_t& bytes, T* out) {
                               return cub::DeviceReduce::Min(temporary, bytes, first, out, n);
                             })));
  });
}

// |error| <= d u sum|x| / (1 - d u), d = ceil(log2 n): the pairwise bound. CUB adds up to 2^5 or so
// items one after the other in a thread first, hence its wider one.
TYPED_TEST(CudaFloatsAgainstCub, SumsKeepThePairwiseBound) {
  using T = TypeParam;
  const long double unit = std::is_same_v<T, float> ? 0x1p-24L : 0x1p-53L;
  this->for_sizes(pattern::mixed, [&](const T* first, std::int64_t n, const auto& items) {
    long double sum = 0;
    long double magnitude = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      sum += items[static_cast<std::size_t>(i)];
      magnitude += std::fabs(static_cast<long double>(items[static_cast<std::size_t>(i)]));
    }
    const long double depth = std::ceil(std::log2(static_cast<long double>(n)));
    const long double bound = depth * unit / (1 - depth * unit) * magnitude;
    const T ours = reduce(this->executor_, first, first + n);
    EXPECT_LE(std::fabs(static_cast<long double>(ours) - sum), bound);
    const T cubs = from_cub<T>([&](void* temporary, std::size_t& bytes, T* out) {
      return cub::DeviceReduce::Sum(temporary, bytes, first, out, n);
    });
    const long double wide = (depth + 64) * unit * magnitude;
    EXPECT_LE(std::fabs(static_cast<long double>(ours) - static_cast<long double>(cubs)),
              bound + wide);
  });
}

}  // namespace
}  // namespace tilefold::test
