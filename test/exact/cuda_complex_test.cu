// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of complex floats on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexFloats, SumsAndMeansAreThoseOfTheParts) {
  expect_sums_and_means_of_the_parts<float>();
}
TEST(CudaExactOfComplexFloats, ProductsAreThoseOfTheHost) { expect_products_of_the_host<float>(); }
TEST(CudaExactOfComplexFloats, ManySumsAreThoseOfTheHost) { expect_many_sums_of_the_host<float>(); }

}  // namespace
}  // namespace tilefold::test
