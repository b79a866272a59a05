// SPDX-License-Identifier: Apache-2.0
//
// Staged segments of statistics of halves on a GPU.
#include <gtest/gtest.h>

#include "cuda_staged.cuh"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(OfHalves, StagedSegments, statistics_of<half>);

}  // namespace
}  // namespace tilefold::test
