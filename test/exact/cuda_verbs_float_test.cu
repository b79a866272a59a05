// SPDX-License-Identifier: Apache-2.0
//
// Exact norms of floats by segment, by key, by column and by axis on a GPU, and sums by column,
// against the host. Means, norms and sums of squares differ in what an item is lifted to and in the
// result alone: most types of items have one of them by a verb, and all of them over ranges
// (cuda_suite_of_*.cuh).
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfFloat, NormsOfSegments) { check_segments<float, float>(reducers::exact_l2{}); }
TEST(CudaExactVerbsOfFloat, NormsOfColumns) { check_columns<float, float>(reducers::exact_l2{}); }
TEST(CudaExactVerbsOfFloat, NormsOfAxes) { check_axes<float, float>(reducers::exact_l2{}); }

// A result that is a double has bits that one that is a float rounds away.
TEST(CudaExactVerbsOfFloat, NormsOfRunsAsDoubles) {
  check_runs<float, double>(reducers::exact_l2<double>{});
}
TEST(CudaExactVerbsOfFloat, SumsOfColumnsAsDoubles) {
  check_columns<float, double>(reducers::exact_sum<double>{});
}

}  // namespace
}  // namespace tilefold::test
