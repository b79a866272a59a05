// SPDX-License-Identifier: Apache-2.0
//
// Exact means, norms and sums of squares of floats by every verb that has many results on a GPU,
// against the host.
#include <gtest/gtest.h>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

namespace r = reducers;

TEST(CudaExactVerbsOfFloat, Means) { check_many<float, float>(r::exact_mean{}); }
TEST(CudaExactVerbsOfFloat, Norms) { check_many<float, float>(r::exact_l2{}); }
TEST(CudaExactVerbsOfFloat, SumsOfSquares) { check_many<float, float>(r::exact_sum_of_squares{}); }

}  // namespace
}  // namespace tilefold::test
