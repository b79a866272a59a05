// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU by verbs of many results, of half.
#include "cuda_suite_of_verbs.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactVerbs, half);

}  // namespace
}  // namespace tilefold
