// SPDX-License-Identifier: Apache-2.0
//
// Exact norms of floats as doubles, many at once on a GPU: by segment, by key and by axis, against
// the host.
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

TEST(CudaExactManyNorms, OfFloatsAsDoubles) {
  std::mt19937_64 random(test::seed());
  check_forests<float, double>(random, r::exact_l2<double>{}, [](auto& forest) {
    ASSERT_NO_FATAL_FAILURE(forest.by_offsets());
    ASSERT_NO_FATAL_FAILURE(forest.by_key());
    ASSERT_NO_FATAL_FAILURE(forest.by_axis());
  });
}

}  // namespace
}  // namespace tilefold
