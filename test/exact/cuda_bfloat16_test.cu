// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU, of bfloat16.
#include "cuda_suite.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, bfloat16);

}  // namespace
}  // namespace tilefold
