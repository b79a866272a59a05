// SPDX-License-Identifier: Apache-2.0
//
// The example of docs/axes.md, as it stands there, and that it gives what reduce() gives.
#include <cstdint>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/device.cuh"

namespace {

// ---- docs/axes.md

template <class T, std::size_t Rank>
using dense = cuda::std::mdspan<T, cuda::std::dextents<std::int64_t, Rank>>;

namespace r = tilefold::reducers;
using summary = decltype(tilefold::reduce(std::vector<float>(), r::fuse(r::mean{}, r::variance{})));

void fold_pixels(tilefold::cuda_executor& gpu, const float* data, float* sums, float* largest,
                 summary* summaries) {
  // images x rows x columns x channels, in device memory
  dense<const float, 4> pixels(data, 8, 120, 160, 3);

  dense<float, 1> per_channel(sums, 3);
  tilefold::axis_reduce(pixels, per_channel, 0, 1, 2);  // axes 0, 1 and 2 are gone

  dense<float, 4> kept(largest, 8, 1, 1, 3);  // ... or stay with extent 1
  tilefold::axis_reduce(pixels, kept, 1, 2, tilefold::maximum{});

  dense<summary, 1> stats(summaries, 3);
  tilefold::axis_reduce(gpu, pixels, stats, tilefold::axes{0, 1, 2},
                        r::fuse(r::mean{}, r::variance{}));
}

// ---- and what comes of it

TEST(AxesExample, GivesWhatReduceGives) {
  constexpr std::int64_t pixels_of_image = 120 * 160;
  std::vector<float> items;
  for (std::int64_t i = 0; i < 8 * pixels_of_image * 3; ++i) {
    items.push_back(static_cast<float>(i * 7919 % 1009) * 0.37f);
  }
  const tilefold::test::gpu_array<float> data(items);
  const tilefold::test::gpu_array<float> sums(3), largest(24);
  const tilefold::test::gpu_array<summary> summaries(3);
  tilefold::cuda_executor gpu;
  fold_pixels(gpu, data.data(), sums.data(), largest.data(), summaries.data());
  for (int channel = 0; channel < 3; ++channel) {
    std::vector<float> of_channel;
    for (std::size_t i = 0; i < 8 * pixels_of_image; ++i) {
      of_channel.push_back(items[i * 3 + static_cast<std::size_t>(channel)]);
    }
    EXPECT_EQ(sums.to_host()[channel], tilefold::reduce(of_channel));
    const auto [mean, variance] = tilefold::reduce(of_channel, r::fuse(r::mean{}, r::variance{}));
    const auto [got_mean, got_variance] = summaries.to_host()[channel];
    EXPECT_EQ(got_mean, mean);
    EXPECT_EQ(got_variance, variance);
    const auto image = of_channel.begin() + 5 * pixels_of_image;
    EXPECT_EQ(largest.to_host()[5 * 3 + channel],
              tilefold::reduce(image, image + pixels_of_image, tilefold::maximum{}));
  }
}

}  // namespace
