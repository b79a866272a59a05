// SPDX-License-Identifier: Apache-2.0
//
// Exact sums and means of ranges of doubles on a GPU: the suite, and committed results.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <thrust/iterator/constant_iterator.h>

#include "../support/device.cuh"
#include "cuda_golden.cuh"
#include "cuda_suite_of_sums.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, double);

// The largest numbers below powers of two round up to them when they are cut: they fill the
// integers that gather digits as fast as any, and all lanes' at once.
TEST(CudaExactDoubles, ThatRoundUpWhenTheyAreCut) {
  cuda_executor exec;
  constexpr std::int64_t n = std::int64_t{1} << 28;
  for (int exponent = -60; exponent <= 60; ++exponent) {
    const double x = std::nextafter(std::ldexp(1.0, exponent), 0.0);
    for (const double item : {x, -x}) {
      const auto first = thrust::make_constant_iterator(item);
      ASSERT_EQ(tilefold::reduce(exec, first, first + n, reducers::exact_sum{}),
                std::ldexp(item, 28))
          << "2^" << exponent;
    }
  }
}

// Short ranges are added in running sums if their exponents are near each other: what is farther
// below must not be lost. All but the smallest item cancels.
TEST(CudaExactDoubles, ShortRangesOfEverySpread) {
  std::mt19937_64 random(test::seed());
  cuda_executor exec;
  for (const int top : {-1021, -897, -896, -300, 0, 1016, 1017, 1018, 1022}) {
    for (int spread = 40; spread <= 50; ++spread) {
      const int bottom = std::max(top - spread, -1022);
      // The lowest bit is set, so that none may be lost.
      const auto odd = [&](int exponent) {
        return std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12 | 1), -52), exponent);
      };
      const double least = odd(bottom);
      for (const double smallest : {least, -least, std::numeric_limits<double>::denorm_min()}) {
        std::vector<double> items;
        for (int i = 0; i < 60; ++i) {
          items.push_back(odd(top));
          items.push_back(-items.back());
        }
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(random() % items.size()),
                     smallest);
        const test::gpu_array<double> x(items);
        const double* const first = x.data();
        ASSERT_EQ(tilefold::reduce(exec, first, first + items.size(), reducers::exact_sum{}),
                  smallest)
            << "2^" << top << ", 2^" << bottom;
      }
    }
  }
}

}  // namespace
}  // namespace tilefold

// Against committed results.
namespace tilefold::test {
namespace {

TEST(CudaExactGoldenOfDoubles, SumsAndMeansAreTheCommittedOnes) {
  expect_committed_sums_and_means<double>();
}

}  // namespace
}  // namespace tilefold::test
