// SPDX-License-Identifier: Apache-2.0
//
// Adaptors as values of runs of keys: the bits that the host makes of the transformed items,
// whatever the alignment of each range.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>

#include "adaptors.cuh"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

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
