// SPDX-License-Identifier: Apache-2.0
//
// Exact norms of floats as doubles by key on a GPU, against the host.
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactManyNorms, OfRunsOfFloatsAsDoubles) {
  check_runs<float, double>(reducers::exact_l2<double>{});
}

}  // namespace
}  // namespace tilefold::test
