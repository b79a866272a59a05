// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU, of half.
#include "cuda_suite.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, half);

}  // namespace
}  // namespace tilefold
