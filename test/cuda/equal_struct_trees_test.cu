// SPDX-License-Identifier: Apache-2.0
//
// Structs by segment of one length, and under policies: the host's bits.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "staged_struct_trees.cuh"

namespace tilefold::test {
namespace {

// Trees of one length, by warps and by blocks.
TEST(CudaEqualStructTrees, HaveTheHostsBits) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  using item = words<std::uint64_t, 3>;
  const auto mix = if_empty(mix_words{}, item{});
  cuda_executor exec;
  for (const std::int64_t length : {65, 127, 129, 257, 1000, 1024, 4095, 16385, 100003}) {
    const std::int64_t trees = length > 10000 ? 20 : 1100;
    const auto items = mixed_structs<item>(trees * length);
    const gpu_array<item> device(items);
    const gpu_array<item> out(trees);
    std::vector<item> expected(static_cast<std::size_t>(trees));
    tilefold::segmented_reduce_into(host_executor{}, items.data(), trees, length, expected.data(),
                                    mix);
    tilefold::segmented_reduce_into(exec, device.data(), trees, length, out.data(), mix);
    expect_same_trees(out.to_host(), expected, std::to_string(length) + " items");
    if (HasFatalFailure()) return;
  }
}

// Blocks of other sizes, of which those of up to 128 threads stage slices.
TEST(CudaStructTreesByPolicies, HaveTheHostsBits) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  using item = words<std::uint64_t, 3>;
  cuda_executor exec;
  for (const std::size_t trees : {std::size_t{200}, std::size_t{1500}}) {
    const std::vector<std::int64_t> offsets = offsets_of<item>(trees);
    const auto items = mixed_structs<item>(offsets.back());
    const gpu_array<item> device(items);
    const item* const first = device.data();
    expect_the_hosts_bits(with_policy<tile_policy{32, 4}>(exec), items, first, offsets);
    expect_the_hosts_bits(with_policy<tile_policy{64, 8}>(exec), items, first, offsets);
    expect_the_hosts_bits(with_policy<tile_policy{256, 2}>(exec), items, first, offsets);
  }
}

TEST(CudaEqualStructTrees, SanitizeStages) {
  using item = words<std::uint32_t, 5>;
  cuda_executor exec;
  std::vector<std::int64_t> offsets{0};
  const std::vector<std::int64_t> few = short_lengths<item>();
  for (std::size_t t = 0; t < 1100; ++t) offsets.push_back(offsets.back() + few[t % few.size()]);
  const auto items = mixed_structs<item>(offsets.back());
  const gpu_array<item> device(items);
  expect_the_hosts_bits(exec, items, static_cast<const item*>(device.data()), offsets);
}

}  // namespace
}  // namespace tilefold::test
