// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key of very many keys: more than 32 bits count, more groups than threads, and Thrust's
// runs and sums of integers.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <thrust/execution_policy.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>

#include "support/device.cuh"
#include "support/random.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

class CudaByKeyLarge : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

struct thousands {
  TILEFOLD_HD std::int64_t operator()(std::int64_t i) const { return i >> 20; }
};
struct low_byte {
  TILEFOLD_HD std::uint64_t operator()(std::int64_t i) const { return i & 255; }
};

// Computed keys and values, more than 2^32 of them.
TEST_F(CudaByKeyLarge, MoreItemsThan32BitsCount) {
  const std::int64_t n = (std::int64_t{1} << 32) + 12345;
  const auto counting = thrust::make_counting_iterator(std::int64_t{0});
  const auto keys = thrust::make_transform_iterator(counting, thousands{});
  const auto values = thrust::make_transform_iterator(counting, low_byte{});
  gpu_array<std::int64_t> keys_out(4097);
  gpu_array<std::uint64_t> values_out(4097);
  EXPECT_EQ(reduce_by_key(exec_, keys, keys + n, values, keys_out.data(), values_out.data()), 4097);
  const auto got_keys = keys_out.to_host();
  const auto got = values_out.to_host();
  for (std::size_t r = 0; r < 4096; ++r) {
    ASSERT_EQ(got_keys[r], static_cast<std::int64_t>(r));
    ASSERT_EQ(got[r], 4096u * (255 * 256 / 2)) << r;
  }
  EXPECT_EQ(got_keys[4096], 4096);
}

struct fifths {
  TILEFOLD_HD std::int32_t operator()(std::int64_t i) const {
    return static_cast<std::int32_t>(i / 5);
  }
};

// So many groups, and patches in each, that threads add up several counts.
TEST_F(CudaByKeyLarge, ManyGroupsOfManyPatches) {
  const std::int64_t n = (std::int64_t{1} << 27) + 12346;
  const auto keys =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), fifths{});
  const auto ones = thrust::make_constant_iterator(std::uint8_t{1});
  const std::int64_t runs = n / 5 + 1;
  gpu_array<std::int32_t> keys_out(runs);
  gpu_array<std::uint8_t> out(runs);
  ASSERT_EQ(reduce_by_key<std::uint8_t>(exec_, keys, keys + n, ones, keys_out.data(), out.data()),
            runs);
  const auto got_keys = keys_out.to_host();
  const auto got = out.to_host();
  for (std::int64_t r = 0; r < runs; ++r) {
    const auto at = static_cast<std::size_t>(r);
    ASSERT_EQ(got_keys[at], r);
    ASSERT_EQ(got[at], r + 1 < runs ? 5 : n % 5) << r;
  }
}

TEST_F(CudaByKeyLarge, IntegersLikeThrust) {
  for (const bool long_runs : {false, true}) {
    const auto lengths = lengths_of(1 << 24, seed(), [=](auto& bits) {
      return static_cast<std::int64_t>(bits() % (long_runs ? 20000 : 6));
    });
    // thrust keeps the last key of a run, so they are all the same.
    auto host_keys = keys_of_runs(lengths, 1);
    for (int& key : host_keys) key /= 10;
    shape_stream bits(seed());
    std::vector<std::int32_t> host_items(host_keys.size());
    for (auto& x : host_items) x = static_cast<std::int32_t>(bits());
    const gpu_array<int> keys(host_keys);
    const gpu_array<std::int32_t> items(host_items);
    gpu_array<int> keys_out(keys.size()), thrust_keys(keys.size());
    gpu_array<std::int32_t> out(keys.size()), thrust_out(keys.size());
    const std::int64_t runs =
        reduce_by_key(exec_, keys.begin(), keys.end(), items.data(), keys_out.data(), out.data());
    const auto ends = thrust::reduce_by_key(thrust::device, keys.begin(), keys.end(), items.data(),
                                            thrust_keys.data(), thrust_out.data());
    ASSERT_EQ(runs, ends.first - thrust_keys.data());
    const auto a = keys_out.to_host(), b = thrust_keys.to_host();
    const auto x = out.to_host(), y = thrust_out.to_host();
    EXPECT_TRUE(std::equal(a.begin(), a.begin() + runs, b.begin()));
    EXPECT_TRUE(std::equal(x.begin(), x.begin() + runs, y.begin()));
  }
}

}  // namespace
}  // namespace tilefold::test
