// SPDX-License-Identifier: Apache-2.0
//
// The suites of exact reducers of ranges on a GPU, of float.
#include "cuda_suite_of_products.cuh"
#include "cuda_suite_of_sums.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, float);
INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, float);

}  // namespace
}  // namespace tilefold
