// SPDX-License-Identifier: Apache-2.0
//
// Staged segments of wide accumulators on a GPU.
#include <cstdint>

#include <gtest/gtest.h>

#include "cuda_staged.cuh"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

using folds = ::testing::Types<wide<std::uint32_t, among_equals_hashes>, wide<std::uint8_t>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Wide, StagedSegments, folds);

}  // namespace
}  // namespace tilefold::test
