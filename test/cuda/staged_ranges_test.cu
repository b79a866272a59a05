// SPDX-License-Identifier: Apache-2.0
//
// Staged tiles of two ranges, and of one that begins off a tile: the host's bits.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/transform_reduce.hpp>

#include "staged.cuh"

namespace tilefold::test {

namespace {

TEST(CudaStagedTiles, TwoRanges) {
  const std::int64_t n = long_sizes().back();
  const auto x = make_items<float>(pattern::near_one, n, 4);
  const auto y = make_items<float>(pattern::mixed, n, 5);
  const gpu_array<float> first(x);
  const gpu_array<float> second(y);
  const auto pair = r::fuse(r::covariance{}, r::cosine{});
  EXPECT_EQ(bits_of(tilefold::transform_reduce(first.begin(), first.end(), second.begin(), pair)),
            bits_of(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), pair)));
}

// Runs of two words beside runs of sixteen.
TEST(CudaStagedTiles, TwoRangesOfDifferentWidths) {
  cuda_executor exec;
  for (const std::int64_t n : {long_sizes()[1], long_sizes()[5]}) {
    const auto x = make_items<std::uint8_t>(pattern::mixed, n + 1, 11);
    const auto y = make_items<double>(pattern::near_one, n, 12);
    const gpu_array<std::uint8_t> first(x);
    const gpu_array<double> second(y);
    const auto of = r::fuse(r::covariance{}, r::weighted_mean{});
    ASSERT_EQ(bits_of(tilefold::transform_reduce(exec, first.begin() + 1, first.end(),
                                                 second.begin(), of)),
              bits_of(tilefold::transform_reduce(x.begin() + 1, x.end(), y.begin(), of)))
        << n;
  }
}

TEST(CudaStagedTiles, NaNAndInfinities) {
  cuda_executor exec;
  const std::int64_t n = long_sizes().front() + 1;
  for (const float odd : {NAN, INFINITY}) {
    auto x = make_items<float>(pattern::near_one, n, 6);
    x[static_cast<std::size_t>(n / 3)] = odd;
    const gpu_array<float> device(x);
    const auto of = r::fuse(r::mean{}, r::variance{}, r::logsumexp{});
    EXPECT_EQ(bits_of(tilefold::reduce(exec, device.begin(), device.end(), of)),
              bits_of(tilefold::reduce(x, of)))
        << odd;
  }
}

TEST(CudaStagedTiles, SanitizeOneLongRange) {
  cuda_executor exec;
  const std::int64_t n = long_sizes().front() + 100;
  const auto x = make_items<float>(pattern::near_one, n, 7);
  const gpu_array<float> device(x);
  EXPECT_EQ(bits_of(tilefold::reduce(exec, device.begin() + 1, device.end(), r::variance{})),
            bits_of(tilefold::reduce(x.begin() + 1, x.end(), r::variance{})));
}

}  // namespace
}  // namespace tilefold::test
