// SPDX-License-Identifier: Apache-2.0
//
// Exact means of floats, and squares and sums in another type, many at once on a GPU: by segment,
// by key and by column, against the host. (cuda_verbs_float_test.cu has norms.)
#include <random>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reducers/exact.hpp>

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

TEST(CudaExactMany, SquaresOfRuns) {
  std::mt19937_64 random(test::seed());
  check_forests<float, double>(random, r::exact_sum_of_squares<double>{},
                               [](auto& forest) { forest.by_key(); });
}

// A sum that is a double has bits that one that is a float rounds away.
TEST(CudaExactMany, SumsOfFloatsAsDoublesByColumn) {
  std::mt19937_64 random(test::seed());
  check_forests<float, double>(random, r::exact_sum<double>{},
                               [](auto& forest) { forest.by_column(); });
}

}  // namespace
}  // namespace tilefold
