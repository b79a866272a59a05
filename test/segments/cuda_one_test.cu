// SPDX-License-Identifier: Apache-2.0
//
// One segment alone, which up to a block's items goes the way of a range: the host's bits, with
// initial values, other results and policies, too.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/if_empty.hpp>
#include <tilefold/tilefold.cuh>

#include "../conformance/cases.hpp"
#include "../support/device.cuh"
#include "../support/seed.hpp"

namespace tilefold::test {
namespace {

// Around the longest range of one warp, of one block without a cluster, and of one block.
const std::vector<std::int64_t> lengths{1,    2,     31,    32,    33,    511,   512,
                                        1000, 2047,  2048,  2049,  8191,  8192,  8193,
                                        9999, 16383, 16384, 16385, 32768, 32769, 70001};

template <class Item>
std::vector<Item> mixed(std::int64_t n) {
  std::vector<Item> items(static_cast<std::size_t>(n));
  std::uint64_t state = seed();
  for (Item& item : items) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::uint32_t>(state >> 33);
    if constexpr (std::is_same_v<Item, words<std::uint32_t, 1>>) {
      item.word[0] = bits;
    } else {
      item = static_cast<Item>((static_cast<float>(bits) - 0x1p30f) * 0x1p-24f);
    }
  }
  return items;
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

TEST(OneSegment, OfAnOperatorThatShowsItsOrder) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  using item = words<std::uint32_t, 1>;
  const auto items = mixed<item>(lengths.back() + 3);
  const gpu_array<item> device(items);
  const gpu_array<item> out(1);
  const auto mix = if_empty(mix_words{}, item{});
  const item initial{{0x9e3779b9u}};
  cuda_executor gpu;
  for (const std::int64_t n : lengths) {
    for (const int off : {0, 3}) {
      item expected[3];
      tilefold::segmented_reduce_into(host_executor{}, items.data() + off, 1, n, &expected[0], mix);
      tilefold::segmented_reduce_into(host_executor{}, items.data() + off, 1, n, &expected[1],
                                      initial, mix_words{});
      expected[2] = tilefold::reduce(items.data() + off, items.data() + off + n, mix_words{});
      ASSERT_TRUE(same_bytes(expected[0], expected[2]));
      tilefold::segmented_reduce_into(gpu, device.data() + off, 1, n, out.data(), mix);
      EXPECT_TRUE(same_bytes(out.to_host()[0], expected[0])) << n << " items from " << off;
      tilefold::segmented_reduce_into(gpu, device.data() + off, 1, n, out.data(), initial,
                                      mix_words{});
      EXPECT_TRUE(same_bytes(out.to_host()[0], expected[1])) << n << " items from " << off;
      tilefold::segmented_reduce_into(with_policy<tile_policy{128, 4}>(gpu), device.data() + off, 1,
                                      n, out.data(), mix);
      EXPECT_TRUE(same_bytes(out.to_host()[0], expected[0])) << n << " items from " << off;
    }
  }
}

TEST(OneSegment, OfHalvesIntoFloatsAndHalves) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto items = mixed<__half>(lengths.back());
  const gpu_array<__half> device(items);
  const gpu_array<float> sum(1);
  const gpu_array<__half> narrow(1);
  cuda_executor gpu;
  for (const std::int64_t n : lengths) {
    float expected = 0;
    __half expected_narrow{};
    tilefold::segmented_reduce_into<float>(host_executor{}, items.data(), 1, n, &expected);
    tilefold::segmented_reduce_into<float>(host_executor{}, items.data(), 1, n, &expected_narrow);
    tilefold::segmented_reduce_into<float>(gpu, device.data(), 1, n, sum.data());
    tilefold::segmented_reduce_into<float>(gpu, device.data(), 1, n, narrow.data());
    EXPECT_TRUE(same_bytes(sum.to_host()[0], expected)) << n << " items";
    EXPECT_TRUE(same_bytes(narrow.to_host()[0], expected_narrow)) << n << " items";
  }
}

}  // namespace
}  // namespace tilefold::test
