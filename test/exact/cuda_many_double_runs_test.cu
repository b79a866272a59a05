// SPDX-License-Identifier: Apache-2.0
//
// Exact means of doubles by key on a GPU, against the host.
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactManyDoubles, MeansOfRuns) { check_runs<double, double>(reducers::exact_mean{}); }

}  // namespace
}  // namespace tilefold::test
