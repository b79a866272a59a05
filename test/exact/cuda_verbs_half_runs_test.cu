// SPDX-License-Identifier: Apache-2.0
//
// Exact means of halves by key on a GPU, against the host. Means,
// norms and sums of squares differ in what an item is lifted to and in the result alone: most
// types of items have one of them by a verb, and all of them over ranges (cuda_suite_of_*.cuh).
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfHalf, MeansOfRuns) { check_runs<half, half>(reducers::exact_mean{}); }

}  // namespace
}  // namespace tilefold::test
