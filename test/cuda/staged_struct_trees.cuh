// SPDX-License-Identifier: Apache-2.0
//
// Structs by segment, whose longer trees are staged: items and lengths, and what compares with the
// host's bits, under an operator whose result shows every change of order. (A suite by offsets and
// one of equal lengths are in struct_trees_by_offsets.cuh and struct_trees_of_one_length.cuh.)
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../conformance/cases.hpp"
#include "../support/device.cuh"
#include "../support/seed.hpp"

namespace tilefold::test {

namespace gpu = detail::cuda;

template <class Item>
std::vector<Item> mixed_structs(std::int64_t n) {
  std::vector<Item> items(static_cast<std::size_t>(n));
  std::uint64_t state = seed() + sizeof(Item);
  for (Item& item : items) {
    for (auto& word : item.word) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      word = static_cast<std::remove_reference_t<decltype(word)>>(state >> 33);
    }
  }
  return items;
}

// Around the longest tree that lanes fold, around stripes, and around the longest tree of a warp.
template <class Item>
std::vector<std::int64_t> short_lengths() {
  constexpr int bytes = sizeof(Item);
  // Where structs are not staged, any.
  const std::int64_t cell = detail::larger(gpu::tree_cell_of_structs(bytes), 1);
  const std::int64_t stripe = 32 * cell;
  const std::int64_t dealt = 32 * gpu::stretch_items_for(bytes);
  return {1,
          0,
          2,
          cell,
          cell + 1,
          dealt,
          dealt + 1,
          stripe - 1,
          stripe,
          stripe + 1,
          2 * stripe - 1,
          2 * stripe,
          2 * stripe + 1,
          3 * stripe + cell - 1,
          7 * stripe + 5,
          8 * stripe - 1,
          0,
          9 * stripe + cell};
}

inline std::vector<std::int64_t> long_lengths() {
  return {1023, 1024, 1025, 4095, 4096, 4097, 16383, 16384, 16385, 50001, 131072, 200003};
}

/// `trees` lengths, long ones among the first ones.
template <class Item>
std::vector<std::int64_t> offsets_of(std::size_t trees) {
  const std::vector<std::int64_t> few = short_lengths<Item>();
  const std::vector<std::int64_t> many = long_lengths();
  std::vector<std::int64_t> offsets{0};
  for (std::size_t t = 0; t < trees; ++t) {
    const bool is_long = t % 7 == 3 && t / 7 < many.size();
    offsets.push_back(offsets.back() + (is_long ? many[t / 7] : few[t % few.size()]));
  }
  return offsets;
}

template <class Item>
bool same_bytes(const Item& a, const Item& b) {
  return std::memcmp(&a, &b, sizeof(Item)) == 0;
}

template <class Item>
void expect_same_trees(const std::vector<Item>& got, const std::vector<Item>& expected,
                       const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t t = 0; t < expected.size(); ++t) {
    ASSERT_TRUE(same_bytes(got[t], expected[t])) << "tree " << t << " of " << what;
  }
}

template <class Item, class Executor>
void expect_the_hosts_bits(Executor&& exec, const std::vector<Item>& items, const Item* on_gpu,
                           const std::vector<std::int64_t>& offsets) {
  const auto trees = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto mix = if_empty(mix_words{}, Item{});
  std::vector<Item> expected(static_cast<std::size_t>(trees));
  tilefold::segmented_reduce_into(host_executor{}, items.data(), offsets.data(), trees,
                                  expected.data(), mix);
  const gpu_array<std::int64_t> bounds(offsets);
  const gpu_array<Item> out(trees);
  tilefold::segmented_reduce_into(exec, on_gpu, bounds.data(), trees, out.data(), mix);
  const std::vector<Item> got = out.to_host();
  for (std::size_t t = 0; t < expected.size(); ++t) {
    ASSERT_TRUE(same_bytes(got[t], expected[t]))
        << "tree " << t << " of " << trees << ", " << offsets[t + 1] - offsets[t] << " items";
  }
}

}  // namespace tilefold::test
