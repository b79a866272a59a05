// SPDX-License-Identifier: Apache-2.0
//
// The worked example examples/weighted_histogram.hpp on a GPU: the bits of the host.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>

#include "../../examples/weighted_histogram.hpp"
#include "support/device.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

TEST(CudaWeightedHistogram, HasTheBitsOfTheHost) {
  constexpr std::int64_t num_bins = 40;
  shape_stream bits(seed());
  std::vector<float> values;
  while (values.size() < 1000000) values.push_back(static_cast<float>(bits() % 12000) / 1000 - 1);
  const auto n = static_cast<std::int64_t>(values.size());
  const auto weights = mixed_floats(n, seed());
  std::vector<weighted_histogram::bin> expected(num_bins);
  host_executor host;
  weighted_histogram::fill(host, values.data(), weights.data(), n, 0.0f, 0.25f, num_bins,
                           expected.data());
  const gpu_array<float> device_values(values), device_weights(weights);
  gpu_array<weighted_histogram::bin> out(num_bins);
  cuda_executor gpu;
  weighted_histogram::fill(gpu, device_values.data(), device_weights.data(), n, 0.0f, 0.25f,
                           num_bins, out.data());
  gpu.synchronize();
  const auto got = out.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].count, expected[i].count) << i;
    EXPECT_EQ(got[i].weight, expected[i].weight) << i;
    EXPECT_EQ(got[i].error, expected[i].error) << i;
  }
}

}  // namespace
}  // namespace tilefold::test
