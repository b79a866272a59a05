// SPDX-License-Identifier: Apache-2.0
//
// Exact products of complex doubles on a GPU.
#include "cuda_complex.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactOfComplexDoubles, ProductsAreThoseOfTheHost) {
  expect_products_of_the_host<double>();
}

}  // namespace
}  // namespace tilefold::test
