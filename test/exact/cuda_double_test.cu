// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU, of double.
#include <cmath>
#include <cstdint>

#include <thrust/iterator/constant_iterator.h>

#include "cuda_suite.cuh"

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

}  // namespace
}  // namespace tilefold
