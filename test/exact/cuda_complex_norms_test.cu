// SPDX-License-Identifier: Apache-2.0
//
// Exact products of complex floats on a GPU, and means and norms of ranges of complex doubles. A
// norm is a root of the sum of squares.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

// Of floats: of doubles a GPU has none.
TEST(CudaExactOfComplexFloats, DotsAreThoseOfTheHost) {
  cuda_executor gpu;
  for_each_complex_range<float>(
      [&](const auto& x, const auto& y, const auto& x_on_gpu, const auto& y_on_gpu) {
        EXPECT_EQ(bytes_of(transform_reduce(gpu, x_on_gpu.begin(), x_on_gpu.end(), y_on_gpu.begin(),
                                            r::exact_dot{})),
                  bytes_of(transform_reduce(host_executor(), x.data(), x.data() + x.size(),
                                            y.data(), r::exact_dot{})));
      });
}
TEST(CudaExactOfComplexFloats, NormsAreThoseOfTheHost) {
  expect_lengths_of_the_host<float>(r::exact_l2{});
}

TEST(CudaExactOfComplexDoubles, MeansAreThoseOfTheParts) {
  expect_ranges_of_the_parts<double, means>();
}
TEST(CudaExactOfComplexDoubles, NormsAreThoseOfTheHost) {
  expect_lengths_of_the_host<double>(r::exact_l2{});
}

}  // namespace
}  // namespace tilefold::test
