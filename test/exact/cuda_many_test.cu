// SPDX-License-Identifier: Apache-2.0
//
// Exact means, norms, squares and sums in another type, many of floats at once on a GPU: by
// segment, by key, by column and by axis, against the host.
#include <random>

#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>
#include <tilefold/tilefold.cuh>

#include "../support/seed.hpp"
#include "cuda_forests.cuh"

namespace tilefold {
namespace {

namespace r = reducers;
using test::check_forests;

TEST(CudaExactMany, MeansOfSegments) {
  std::mt19937_64 random(test::seed());
  check_forests<float, float>(random, r::exact_mean{}, [](auto& forest) {
    ASSERT_NO_FATAL_FAILURE(forest.by_offsets());
    ASSERT_NO_FATAL_FAILURE(forest.of_one_length());
  });
}

TEST(CudaExactMany, NormsOfSegmentsOfOneLength) {
  std::mt19937_64 random(test::seed());
  check_forests<float, float>(random, r::exact_l2{}, [](auto& forest) { forest.of_one_length(); });
}

TEST(CudaExactMany, SquaresOfRuns) {
  std::mt19937_64 random(test::seed());
  check_forests<float, double>(random, r::exact_sum_of_squares<double>{},
                               [](auto& forest) { forest.by_key(); });
}

TEST(CudaExactMany, SquaresOfSegmentsAndAxes) {
  std::mt19937_64 random(test::seed());
  check_forests<float, float>(random, r::exact_sum_of_squares{}, [](auto& forest) {
    ASSERT_NO_FATAL_FAILURE(forest.by_offsets());
    ASSERT_NO_FATAL_FAILURE(forest.of_one_length());
    ASSERT_NO_FATAL_FAILURE(forest.by_axis());
  });
}

// A sum that is a double has bits that one that is a float rounds away.
TEST(CudaExactMany, SumsOfFloatsAsDoublesByColumn) {
  std::mt19937_64 random(test::seed());
  check_forests<float, double>(random, r::exact_sum<double>{},
                               [](auto& forest) { forest.by_column(); });
}

}  // namespace
}  // namespace tilefold
