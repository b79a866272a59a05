// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU by verbs of many results, of half; and means by key. (Means
// of segments are of floats in cuda_halfway_test.cu.)
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"
#include "cuda_suite_of_verbs.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExactVerbs, half);

TEST(CudaExactVerbsOfHalf, MeansOfRuns) { test::check_runs<half, half>(reducers::exact_mean{}); }

}  // namespace
}  // namespace tilefold
