// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact products of ranges on a GPU, of double.
#include "cuda_suite_of_products.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, double);

}  // namespace
}  // namespace tilefold
