// SPDX-License-Identifier: Apache-2.0
//
// Reducers on a GPU that a user derives with another combine, fused with others and over segments,
// and with another lift.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/top_k.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/items.hpp"
#include "../support/seed.hpp"
#include "cuda_derived.cuh"
#include "derived.hpp"

namespace tilefold::test {
namespace {

TEST_F(CudaDerived, WithAnotherCombine) {
  expect_the_right("mean", r::mean{});
  expect_the_right("min", r::min{});
  expect_the_right("count_if", r::count_if{positive{}});
  expect_the_right("arg_max", r::arg_max{});
}

TEST_F(CudaDerived, FusedWithOthers) {
  expect_host_bits("fuse", r::fuse(of_squares<r::mean>{}, r::variance{}, of_squares<r::max<>>{}));
}

TEST_F(CudaDerived, OverSegments) {
  const auto x = make_items<float>(pattern::mixed, 20011, seed());
  const std::vector<std::int64_t> offsets{0, 0, 5, 1000, 20011};
  const gpu_array<float> items(x);
  const gpu_array<std::int64_t> device_offsets(offsets);
  const gpu_array<float> out(4);
  tilefold::segmented_reduce(exec_, items.data(), device_offsets.data(), 4, out.data(),
                             of_squares<r::sum>{});
  std::vector<float> expected(4);
  tilefold::segmented_reduce(x.begin(), offsets.begin(), 4, expected.begin(), of_squares<r::sum>{});
  const auto got = out.to_host();
  for (std::size_t s = 0; s < 4; ++s) EXPECT_EQ(bits_of(got[s]), bits_of(expected[s])) << s;
}

// The squares are products before a sum.
TEST_F(CudaDerived, WithAnotherLift) {
  expect_squares("sum", r::sum{});
  expect_squares("variance", r::variance{});
  expect_squares("logsumexp", r::logsumexp{});
  expect_squares("any", r::any{positive{}});
  expect_squares("arg_minmax", r::arg_minmax{});
  expect_squares("top_k", r::top_k<3>{});
}

}  // namespace
}  // namespace tilefold::test
