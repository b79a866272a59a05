// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU fused with each other and with others: each part has the bits of the
// host.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;

const auto fused = r::fuse(r::exact_mean{}, r::max{}, r::exact_l2<double>{}, r::exact_sum{});
using fused_result = decltype(tilefold::reduce(host_executor(1), std::vector<float>(), fused));

/// Each part against the reducer alone.
void expect_fused(const fused_result& got, const std::vector<float>& items) {
  const host_executor one(1);
  EXPECT_EQ(bytes_of(got.get<0>()), bytes_of(tilefold::reduce(one, items, r::exact_mean{})));
  EXPECT_EQ(bytes_of(got.get<1>()), bytes_of(tilefold::reduce(one, items, r::max{})));
  EXPECT_EQ(bytes_of(got.get<2>()), bytes_of(tilefold::reduce(one, items, r::exact_l2<double>{})));
  EXPECT_EQ(bytes_of(got.get<3>()), bytes_of(tilefold::reduce(one, items, r::exact_sum{})));
}

TEST(CudaExactFused, OfRanges) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  for (const std::size_t n : {1u, 100u, 8193u, 100'003u, 1'000'003u}) {
    for (const int kind : {0, 2, test::num_exact_kinds}) {
      SCOPED_TRACE(testing::Message() << n << ", kind " << kind);
      const auto items = test::items_of<float>(kind, n, random);
      const gpu_array<float> on_gpu(items);
      expect_fused(reduce(gpu, on_gpu.begin(), on_gpu.end(), fused), items);
    }
  }
}

TEST(CudaExactFused, OfSegmentsAndRuns) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  constexpr std::size_t n = 30'000;
  const auto items = test::items_of<float>(test::num_exact_kinds, n, random);
  const gpu_array<float> on_gpu(items);
  std::vector<int> bounds{0};
  while (bounds.back() < static_cast<int>(n)) {
    const int length = 1 + static_cast<int>(random() % (random() % 8 == 0 ? 4000 : 50));
    bounds.push_back(std::min(static_cast<int>(n), bounds.back() + length));
  }
  const auto segments = static_cast<std::int64_t>(bounds.size()) - 1;
  std::vector<int> keys(n);
  for (std::size_t s = 0; s + 1 < bounds.size(); ++s) {
    std::fill(keys.begin() + bounds[s], keys.begin() + bounds[s + 1], static_cast<int>(s));
  }
  const gpu_array<int> offsets(bounds), k(keys), keys_out(segments);
  const gpu_array<fused_result> by_segment(segments), by_key(segments);
  segmented_reduce(gpu, on_gpu.data(), offsets.data(), segments, by_segment.data(),
                   if_empty(fused, fused_result{}));
  ASSERT_EQ(
      reduce_by_key(gpu, k.begin(), k.end(), on_gpu.data(), keys_out.data(), by_key.data(), fused),
      segments);
  const auto of_segments = by_segment.to_host();
  const auto of_runs = by_key.to_host();
  for (std::size_t s = 0; s < of_segments.size(); ++s) {
    SCOPED_TRACE(s);
    const std::vector<float> mine(items.begin() + bounds[s], items.begin() + bounds[s + 1]);
    expect_fused(of_segments[s], mine);
    expect_fused(of_runs[s], mine);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tilefold
