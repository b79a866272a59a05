// SPDX-License-Identifier: Apache-2.0
//
// The suites of exact reducers on a GPU, of int32.
#include <cstdint>

#include "cuda_suite_of_products.cuh"
#include "cuda_suite_of_sums.cuh"
#include "cuda_suite_of_verbs.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactProducts, std::int32_t);
INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, std::int32_t);
INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactVerbs, std::int32_t);

}  // namespace
}  // namespace tilefold
