// SPDX-License-Identifier: Apache-2.0
//
// Reducers whose accumulators are large for their items, over ranges long enough for staged tiles:
// the host's bits at the ends of tiles, stripes and cells, at every alignment, and at the lengths
// where another kernel's ranges end. (staged_items_test.cu has other items, staged_ranges_test.cu
// two ranges.)
#include <cstdint>

#include <gtest/gtest.h>

#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "staged.cuh"

namespace tilefold::test {

namespace {

TEST(CudaStagedTiles, FusedStatistics) {
  expect_host_bits<float>("fuse",
                          r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{}));
}

TEST(CudaStagedTiles, BytesAndDoublesAndIndices) {
  expect_host_bits<std::uint8_t>("variance", r::variance{});
  expect_host_bits<double>("kurtosis", r::kurtosis{});
  expect_host_bits<float>("arg_min and mean", r::fuse(r::mean{}, r::arg_min{}));
}

TEST(CudaStagedTiles, SeamOfShortRanges) {
  expect_host_bits<float>("mean", r::mean{}, seam_sizes(4));
  expect_host_bits<float>("fuse", r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{}),
                          seam_sizes(4));
  expect_host_bits<half>("variance", r::variance{}, seam_sizes(2));
  expect_host_bits<double>("mean", r::mean{}, seam_sizes(8));
  expect_host_bits<std::uint8_t>("variance", r::variance{}, seam_sizes(1));
  // Of more than 32 bytes: the tile kernel serves these lengths.
  expect_host_bits<double>("kurtosis", r::kurtosis{}, seam_sizes(8));
}

}  // namespace
}  // namespace tilefold::test
