// SPDX-License-Identifier: Apache-2.0
//
// Exact norms of floats by segment, by column and by axis on a GPU, against the host. Means,
// norms and sums of squares differ in what an item is lifted to and in the result alone: most
// types of items have one of them by a verb, and all of them over ranges (cuda_suite_of_*.cuh).
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfFloat, NormsOfSegments) { check_segments<float, float>(reducers::exact_l2{}); }
TEST(CudaExactVerbsOfFloat, NormsOfColumns) { check_columns<float, float>(reducers::exact_l2{}); }
TEST(CudaExactVerbsOfFloat, NormsOfAxes) { check_axes<float, float>(reducers::exact_l2{}); }

}  // namespace
}  // namespace tilefold::test
