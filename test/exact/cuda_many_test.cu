// SPDX-License-Identifier: Apache-2.0
//
// Exact means of floats by segment, and sums of floats in another type by column on a GPU, against
// the host. (cuda_verbs_float_segments_test.cu has norms.)
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactMany, MeansOfSegments) { check_segments<float, float>(reducers::exact_mean{}); }

// A sum that is a double has bits that one that is a float rounds away.
TEST(CudaExactMany, SumsOfFloatsAsDoublesByColumn) {
  check_columns<float, double>(reducers::exact_sum<double>{});
}

}  // namespace
}  // namespace tilefold::test
