// SPDX-License-Identifier: Apache-2.0
//
// Segments without items have the extremes of CUB, of a type of the caller's.
#include <gtest/gtest.h>

#include "cub_extremes.cuh"

namespace tilefold::test {
namespace {

TEST(CudaCubExtremes, OfSegmentsWithoutItemsAreCubs) { expect_cubs_extremes<cents>(); }

}  // namespace
}  // namespace tilefold::test
