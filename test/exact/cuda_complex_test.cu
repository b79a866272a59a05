// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of complex numbers on a GPU: sums and means against accumulators of their parts,
// products against the host, which others compare with MPFR.
#include <thrust/complex.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;

template <class T>
using complex = thrust::complex<T>;

template <class T>
std::vector<complex<T>> complex_items(int kind, std::size_t n, std::mt19937_64& random) {
  const auto re = test::any_items<T>(kind, n, random);
  const auto im = test::any_items<T>(kind, n, random);
  std::vector<complex<T>> items;
  for (std::size_t i = 0; i < n; ++i) items.emplace_back(re[i], im[i]);
  return items;
}

template <class T>
class CudaExactOfComplex : public testing::Test {};
using parts = testing::Types<float>;
TYPED_TEST_SUITE(CudaExactOfComplex, parts);

TYPED_TEST(CudaExactOfComplex, SumsAndMeansAreThoseOfTheParts) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    const std::size_t n = 20'000;
    const auto items = complex_items<T>(kind, n, random);
    const gpu_array<complex<T>> x(items);
    const auto expect = [&](complex<T> sum, complex<T> mean, std::size_t begin, std::size_t count) {
      exact_accumulator<T> re, im;
      for (std::size_t i = begin; i < begin + count; ++i) {
        re.add(items[i].real());
        im.add(items[i].imag());
      }
      const auto c = static_cast<std::int64_t>(count);
      ASSERT_EQ(bytes_of(sum), bytes_of(complex<T>(re.value(), im.value())))
          << "kind " << kind << ", " << begin;
      ASSERT_EQ(bytes_of(mean), bytes_of(complex<T>(re.mean(c), im.mean(c))))
          << "kind " << kind << ", " << begin;
    };
    ASSERT_NO_FATAL_FAILURE(expect(reduce(gpu, x.begin(), x.end(), r::exact_sum{}),
                                   reduce(gpu, x.begin(), x.end(), r::exact_mean{}), 0, n));
    const gpu_array<complex<T>> sums(200), means(200);
    segmented_reduce(gpu, x.data(), 200, 100, sums.data(), r::exact_sum{});
    segmented_reduce(gpu, x.data(), 200, 100, means.data(),
                     if_empty(r::exact_mean{}, complex<T>{}));
    const auto got_sums = sums.to_host();
    const auto got_means = means.to_host();
    for (std::size_t s = 0; s < 200; ++s) {
      ASSERT_NO_FATAL_FAILURE(expect(got_sums[s], got_means[s], 100 * s, 100));
    }
  }
}

TYPED_TEST(CudaExactOfComplex, ProductsAreThoseOfTheHost) {
  using T = TypeParam;
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const host_executor host;
  for (int kind = 0; kind <= test::num_exact_kinds; ++kind) {
    for (const std::size_t n : {1u, 100u, 30'001u}) {
      SCOPED_TRACE(testing::Message() << "kind " << kind << ", " << n);
      const auto x = complex_items<T>(kind, n, random);
      const auto y = complex_items<T>(kind, n, random);
      const gpu_array<complex<T>> x_on_gpu(x), y_on_gpu(y);
      const auto* const first = x.data();
      EXPECT_EQ(bytes_of(transform_reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), y_on_gpu.begin(),
                                          r::exact_dot{})),
                bytes_of(transform_reduce(host, first, first + n, y.data(), r::exact_dot{})));
      EXPECT_EQ(bytes_of(reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), r::exact_l2{})),
                bytes_of(reduce(host, first, first + n, r::exact_l2{})));
      EXPECT_EQ(bytes_of(reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), r::exact_sum_of_squares{})),
                bytes_of(reduce(host, first, first + n, r::exact_sum_of_squares{})));
    }
  }
}

}  // namespace
}  // namespace tilefold
