// SPDX-License-Identifier: Apache-2.0
//
// Segments without items have the extremes of CUB, of types of 16 bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <gtest/gtest.h>

#include "cub_extremes.cuh"

namespace tilefold::test {
namespace {

TEST(CudaCubExtremes, OfSegmentsOfHalvesWithoutItemsAreCubs) {
  expect_cubs_extremes<__half>();
  expect_cubs_extremes<__nv_bfloat16>();
}

}  // namespace
}  // namespace tilefold::test
