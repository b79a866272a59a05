// SPDX-License-Identifier: Apache-2.0
//
// Many sizes and types in a row by one CUDA executor.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/core/fold_executor.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/conformance.hpp"
#include "executor.hpp"
#include "support/device.cuh"
#include "support/device_order.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

static_assert(detail::fold_executor<cuda_executor>);

// Tickets that one launch left behind would break a later one.
TEST(CudaExecutor, ServesAnySizesAndTypesInARow) {
  const auto floats = mixed(200003);
  const auto halves = make_items<half>(pattern::mixed, 200003);
  gpu_array<float> float_array(floats);
  gpu_array<half> half_array(halves);
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 200003; ++i) words.push_back(i);
  gpu_array<std::uint32_t> word_array(words);

  std::vector<std::int64_t> sizes;
  shape_stream random(seed());
  for (int i = 0; i < 400; ++i) {
    sizes.push_back(1 + static_cast<std::int64_t>(random() % (i % 3 == 0 ? 200003 : 5000)));
  }
  std::vector<std::int64_t> sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  const auto position = [&](std::int64_t n) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), n) -
                                    sorted.begin());
  };
  const auto float_sums = prefix_folds(
      reference::plus{}, [&](std::int64_t i) { return floats[static_cast<std::size_t>(i)]; },
      sorted);
  const auto half_sums = prefix_folds(
      reference::plus{},
      [&](std::int64_t i) { return static_cast<float>(halves[static_cast<std::size_t>(i)]); },
      sorted);
  const auto hashes = prefix_folds(node_hash{}, leaf_hash, sorted);

  cuda_executor exec;
  const auto small_tiles = with_policy<tile_policy{32, 1}>(exec);
  gpu_array<float> float_out(400);
  gpu_array<float> half_out(400);
  gpu_array<lifted_hash> hash_out(400);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    reduce_into(exec, float_array.data(), float_array.data() + sizes[i], float_out.data() + i);
    reduce_into(small_tiles, word_array.data(), word_array.data() + sizes[i], hash_out.data() + i,
                lifted_node_hash{});
    reduce_into(exec, half_array.data(), half_array.data() + sizes[i], half_out.data() + i);
  }
  exec.synchronize();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t at = position(sizes[i]);
    ASSERT_TRUE(same_bits(float_out.to_host()[i], float_sums[at])) << "n = " << sizes[i];
    ASSERT_TRUE(same_bits(half_out.to_host()[i], half_sums[at])) << "n = " << sizes[i];
    ASSERT_EQ(hash_out.to_host()[i], hashes[at]) << "n = " << sizes[i];
  }
}

struct wide_sums {
  std::uint64_t part[48];  // more than executors have room for at first
};

struct widen {
  __host__ __device__ wide_sums operator()(std::uint32_t x) const {
    wide_sums wide;
    for (std::uint32_t k = 0; k < 48; ++k) wide.part[k] = std::uint64_t{x} + k;
    return wide;
  }
};

struct add_wide {
  __host__ __device__ wide_sums operator()(const wide_sums& a, const wide_sums& b) const {
    wide_sums sum;
    for (int k = 0; k < 48; ++k) sum.part[k] = a.part[k] + b.part[k];
    return sum;
  }
};

// Results of several sizes share the memory in which they are waited for.
TEST(CudaExecutor, ReturnsAnySizesAndTypesInARow) {
  const auto items = mixed(3000000);
  const gpu_array<float> array(items);
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 5000; ++i) words.push_back(i);
  const gpu_array<std::uint32_t> word_array(words);
  std::vector<std::int64_t> sizes;
  shape_stream random(seed());
  for (int i = 0; i < 300; ++i) {
    sizes.push_back(1 + static_cast<std::int64_t>(random() % (i % 3 == 0 ? 3000000 : 5000)));
  }
  std::vector<std::int64_t> sorted = sizes;
  std::sort(sorted.begin(), sorted.end());
  const auto sums = prefix_folds(
      reference::plus{}, [&](std::int64_t i) { return items[static_cast<std::size_t>(i)]; },
      sorted);
  cuda_executor exec;
  for (const std::int64_t n : sizes) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), n) - sorted.begin();
    ASSERT_TRUE(
        same_bits(reduce(exec, array.data(), array.data() + n), sums[static_cast<std::size_t>(at)]))
        << "n = " << n;
    const auto m = static_cast<std::uint64_t>(n % 5000 + 1);
    const wide_sums wide = transform_reduce(exec, word_array.data(), word_array.data() + m,
                                            wide_sums{}, add_wide{}, widen{});
    for (std::uint64_t k = 0; k < 48; ++k) {
      ASSERT_EQ(wide.part[k], m * (m - 1) / 2 + m * k) << "n = " << m;
    }
  }
}

}  // namespace
}  // namespace tilefold::test
