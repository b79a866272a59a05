// SPDX-License-Identifier: Apache-2.0
//
// Exact means, norms and sums of squares of halves by every verb that has many results on a GPU,
// against the host.
#include <gtest/gtest.h>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

namespace r = reducers;

TEST(CudaExactVerbsOfHalf, Means) { check_many<half, half>(r::exact_mean{}); }
TEST(CudaExactVerbsOfHalf, Norms) { check_many<half, half>(r::exact_l2{}); }
TEST(CudaExactVerbsOfHalf, SumsOfSquares) { check_many<half, half>(r::exact_sum_of_squares{}); }

}  // namespace
}  // namespace tilefold::test
