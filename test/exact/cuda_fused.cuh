// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU fused with each other and with others: each part has the bits of the
// host. Runs are in a program of their own: nvcc takes its time for each verb.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;

inline const auto fused = r::fuse(r::exact_mean{}, r::max{}, r::exact_l2<double>{}, r::exact_sum{});
using fused_result = decltype(tilefold::reduce(host_executor(1), std::vector<float>(), fused));

/// Each part against the reducer alone.
inline void expect_fused(const fused_result& got, const std::vector<float>& items) {
  const host_executor one(1);
  EXPECT_EQ(bytes_of(got.get<0>()), bytes_of(tilefold::reduce(one, items, r::exact_mean{})));
  EXPECT_EQ(bytes_of(got.get<1>()), bytes_of(tilefold::reduce(one, items, r::max{})));
  EXPECT_EQ(bytes_of(got.get<2>()), bytes_of(tilefold::reduce(one, items, r::exact_l2<double>{})));
  EXPECT_EQ(bytes_of(got.get<3>()), bytes_of(tilefold::reduce(one, items, r::exact_sum{})));
}

/// Random items, and segments of which one in eight is long.
struct fused_segments {
  fused_segments() {
    while (bounds.back() < static_cast<int>(items.size())) {
      const int length = 1 + static_cast<int>(random() % (random() % 8 == 0 ? 4000 : 50));
      bounds.push_back(std::min(static_cast<int>(items.size()), bounds.back() + length));
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(bounds.size()) - 1; }

  void expect(const std::vector<fused_result>& got) const {
    for (std::size_t s = 0; s < got.size(); ++s) {
      SCOPED_TRACE(s);
      expect_fused(got[s], {items.begin() + bounds[s], items.begin() + bounds[s + 1]});
      if (testing::Test::HasFailure()) return;
    }
  }

  std::mt19937_64 random{test::seed()};
  std::vector<float> items = test::items_of<float>(test::num_exact_kinds, 30'000, random);
  std::vector<int> bounds{0};
};

}  // namespace
}  // namespace tilefold
