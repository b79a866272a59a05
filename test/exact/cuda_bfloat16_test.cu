// SPDX-License-Identifier: Apache-2.0
//
// The suites of exact reducers of ranges on a GPU, of bfloat16.
#include "cuda_suite_of_products.cuh"
#include "cuda_suite_of_sums.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, bfloat16);
INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, bfloat16);

}  // namespace
}  // namespace tilefold
