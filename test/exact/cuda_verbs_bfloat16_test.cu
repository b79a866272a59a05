// SPDX-License-Identifier: Apache-2.0
//
// Exact means, norms and sums of squares of bfloat16 by every verb that has many results on a GPU,
// against the host.
#include <gtest/gtest.h>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

namespace r = reducers;

TEST(CudaExactVerbsOfBfloat16, Means) { check_many<bfloat16, bfloat16>(r::exact_mean{}); }
TEST(CudaExactVerbsOfBfloat16, Norms) { check_many<bfloat16, bfloat16>(r::exact_l2{}); }
TEST(CudaExactVerbsOfBfloat16, SumsOfSquares) {
  check_many<bfloat16, bfloat16>(r::exact_sum_of_squares{});
}

}  // namespace
}  // namespace tilefold::test
