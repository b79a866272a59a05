// SPDX-License-Identifier: Apache-2.0
//
// Adaptors in reductions of one range, and as values of runs of keys: through transform and zip
// iterators over device memory, the bits that the host makes of the transformed items, whatever the
// alignment of each range.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "adaptors.cuh"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

auto statistics() {
  namespace r = tilefold::reducers;
  return r::fuse(r::mean{}, r::variance{}, r::max{});
}

TEST_F(CudaAdaptors, OneRange) {
  for (const int late : {0, 1, 2, 3, 5}) {
    const auto check = [&](const std::string& name, auto first, const auto& items) {
      for (const std::int64_t n : {std::int64_t{100}, most - 16}) {
        SCOPED_TRACE(name + ", " + std::to_string(n) + " items");
        const float* const expected = items.data();
        EXPECT_TRUE(
            same_bits(reduce(gpu_, first, first + n), reduce(host_, expected, expected + n)));
        const auto got = reduce(gpu_, first, first + n, statistics());
        const auto right = reduce(host_, expected, expected + n, statistics());
        EXPECT_TRUE(same_bits(get<0>(got), get<0>(right)));
        EXPECT_TRUE(same_bits(get<1>(got), get<1>(right)));
        EXPECT_TRUE(same_bits(get<2>(got), get<2>(right)));
      }
    };
    for_each_adaptor(late, check);
    for_adaptor(
        "floats", late, thrust::make_transform_iterator(floats_.device.data() + late, scaled{0.3f}),
        [&](std::size_t i) { return 0.3f * floats_.host[static_cast<std::size_t>(late) + i]; },
        check);
  }
}

TEST_F(CudaAdaptors, ValuesByKey) {
  shape_stream bits(seed());
  SCOPED_TRACE("TILEFOLD_TEST_SEED=" + std::to_string(seed()));
  for (const int late : {0, 1, 3}) {
    for (const std::int64_t longest : {6, 40, 5000}) {
      std::vector<int> keys;
      while (keys.size() < static_cast<std::size_t>(most) - 16) {
        const auto length = 1 + bits() % static_cast<std::uint64_t>(longest);
        keys.insert(keys.end(), length, keys.empty() ? 0 : keys.back() + 1);
      }
      keys.resize(static_cast<std::size_t>(most) - 16);
      const gpu_array<int> device_keys(keys);
      const auto n = static_cast<std::int64_t>(keys.size());
      for_each_adaptor(late, [&](const std::string& name, auto first, const auto& items) {
        SCOPED_TRACE(name + ", runs of up to " + std::to_string(longest));
        std::vector<int> keys_out(keys.size());
        std::vector<float> expected(keys.size());
        std::int64_t runs = 0;
        reduce_by_key_into(host_, keys.data(), keys.data() + n, items.data(), keys_out.data(),
                           expected.data(), &runs);
        gpu_array<int> device_keys_out(n);
        gpu_array<float> out(n);
        gpu_array<std::int64_t> device_runs(1);
        reduce_by_key_into(gpu_, device_keys.data(), device_keys.data() + n, first,
                           device_keys_out.data(), out.data(), device_runs.data());
        gpu_.synchronize();
        ASSERT_EQ(device_runs.to_host()[0], runs);
        const std::vector<float> got = out.to_host();
        for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
          ASSERT_TRUE(same_bits(got[i], expected[i])) << "run " << i;
        }
      });
    }
  }
}

}  // namespace
}  // namespace tilefold::test
