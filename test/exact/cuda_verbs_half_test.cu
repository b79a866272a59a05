// SPDX-License-Identifier: Apache-2.0
//
// Exact means of halves by every verb that has many results on a GPU,
// against the host. Means, norms and sums of squares differ in what an item is lifted to and in the
// result alone: each type of items has one of them here, and all of them over ranges
// (cuda_suite.cuh).
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfHalf, Means) { check_many<half, half>(reducers::exact_mean{}); }

}  // namespace
}  // namespace tilefold::test
