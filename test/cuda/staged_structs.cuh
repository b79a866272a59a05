// SPDX-License-Identifier: Apache-2.0
//
// The suite of structs that are folded in staged tiles, some structs to a program: the host's bits,
// under an operator whose result shows every change of order, at the ends of tiles, stripes and
// cells, and at every alignment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "conformance/cases.hpp"
#include "support/device.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace gpu = detail::cuda;

template <class Item>
constexpr int item_bytes = sizeof(Item);

template <class Item>
std::string bytes_of(const Item& item) {
  return {reinterpret_cast<const char*>(&item), sizeof(Item)};
}

template <class Item>
std::vector<Item> mixed_structs(std::int64_t n) {
  std::vector<Item> items(static_cast<std::size_t>(n));
  std::uint64_t state = seed() + item_bytes<Item>;
  for (Item& item : items) {
    for (auto& word : item.word) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      word = static_cast<std::remove_reference_t<decltype(word)>>(state >> 33);
    }
  }
  return items;
}

// Lengths around the longest short range, and around tiles, stripes and cells after it.
template <class Item>
std::vector<std::int64_t> lengths() {
  constexpr gpu::staged_shape shape = gpu::staged_structs_shape(item_bytes<Item>);
  const std::int64_t seam =
      gpu::most_short_range_items(gpu::short_policy_for(item_bytes<Item>), item_bytes<Item>);
  const std::int64_t tile = shape.policy().tile();
  const std::int64_t stripe = 32 * shape.cell;
  const std::int64_t whole = (seam / tile + 2) * tile;
  return {seam,
          seam + 1,
          seam + 31,
          whole - 1,
          whole,
          whole + 1,
          whole + shape.cell,
          whole + stripe - 1,
          whole + stripe + 1,
          whole + shape.stripes * stripe + 1,
          whole + tile - shape.cell,
          700 * tile + 12345};
}

template <class Item>
class CudaStagedStructs : public testing::Test {};
TYPED_TEST_SUITE_P(CudaStagedStructs);

TYPED_TEST_P(CudaStagedStructs, HaveTheHostsBits) {
  static_assert(gpu::pays_to_stage_structs(item_bytes<TypeParam>, item_bytes<TypeParam>));
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const std::vector<std::int64_t> all = lengths<TypeParam>();
  const std::int64_t most = all.back();
  const auto items = mixed_structs<TypeParam>(most);
  // Items begin at a multiple of 16 bytes, and as far off as their alignment allows.
  const gpu_array<unsigned char> memory((most + 1) * item_bytes<TypeParam>);
  cuda_executor exec;
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{alignof(TypeParam)}}) {
    auto* const first = reinterpret_cast<TypeParam*>(memory.data() + offset);
    must(cudaMemcpy(first, items.data(), items.size() * sizeof(TypeParam), cudaMemcpyDefault));
    for (const std::int64_t n : all) {
      ASSERT_EQ(bytes_of(tilefold::reduce(exec, first, first + n, mix_words{})),
                bytes_of(tilefold::reduce(items.data(), items.data() + n, mix_words{})))
          << "n = " << n << ", " << offset << " bytes after a multiple of 16";
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaStagedStructs, HaveTheHostsBits);

template <class Item>
constexpr int cell_of = gpu::staged_structs_shape(item_bytes<Item>).cell;

/// For compute-sanitizer: at a multiple of 16 bytes, and an item after it.
template <class Item>
void expect_same_from_both(const std::vector<Item>& items) {
  cuda_executor exec;
  const gpu_array<Item> device(items);
  ASSERT_EQ(bytes_of(tilefold::reduce(exec, device.begin(), device.end(), mix_words{})),
            bytes_of(tilefold::reduce(items, mix_words{})));
  ASSERT_EQ(bytes_of(tilefold::reduce(exec, device.begin() + 1, device.end(), mix_words{})),
            bytes_of(tilefold::reduce(items.data() + 1, items.data() + items.size(), mix_words{})));
}

}  // namespace
}  // namespace tilefold::test
