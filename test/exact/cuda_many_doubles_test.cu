// SPDX-License-Identifier: Apache-2.0
//
// Exact means of doubles, many at once on a GPU: by segment, by key and by column, against the
// host.
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

TEST(CudaExactManyDoubles, Means) {
  std::mt19937_64 random(test::seed());
  check_forests<double, double>(random, r::exact_mean{}, [](auto& forest) {
    ASSERT_NO_FATAL_FAILURE(forest.by_key());
    ASSERT_NO_FATAL_FAILURE(forest.by_column());
  });
}

}  // namespace
}  // namespace tilefold
