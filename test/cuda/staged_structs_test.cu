// SPDX-License-Identifier: Apache-2.0
//
// Structs that are folded in staged tiles: the host's bits, under an operator whose result shows
// every change of order, at the ends of tiles, rows and runs, and at every alignment.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/transform_reduce.hpp>

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

// Lengths around the longest short range, and around tiles, rows and runs after it.
template <class Item>
std::vector<std::int64_t> lengths() {
  constexpr gpu::staged_shape shape = gpu::staged_structs_shape(item_bytes<Item>);
  const std::int64_t seam =
      gpu::most_short_items(gpu::short_policy_for(item_bytes<Item>), item_bytes<Item>);
  const std::int64_t tile = shape.policy().tile();
  const std::int64_t row = 32 * shape.run;
  const std::int64_t whole = (seam / tile + 2) * tile;
  return {seam,
          seam + 1,
          seam + 31,
          whole - 1,
          whole,
          whole + 1,
          whole + shape.run,
          whole + row - 1,
          whole + row + 1,
          whole + shape.rows * row + 1,
          whole + tile - shape.run,
          700 * tile + 12345};
}

template <class Item>
class CudaStagedStructs : public testing::Test {};

// Runs of 8 structs, of 4, of 4 since 2 are no whole chunks of 16 bytes, and of 2; up to 64 bytes
// and larger ones, whose blocks have 64 threads; few registers for a row and many.
using structs =
    testing::Types<words<std::uint32_t, 3>, words<std::uint32_t, 5>, words<std::uint32_t, 9>,
                   words<std::uint64_t, 8>, words<std::uint32_t, 18>, words<std::uint32_t, 32>>;
template <class Item>
constexpr int run_of = gpu::staged_structs_shape(item_bytes<Item>).run;
static_assert(run_of<words<std::uint32_t, 3>> == 8 && run_of<words<std::uint32_t, 5>> == 4 &&
              run_of<words<std::uint32_t, 9>> == 4 && run_of<words<std::uint64_t, 8>> == 2 &&
              run_of<words<std::uint32_t, 18>> == 2 && run_of<words<std::uint32_t, 32>> == 2);
TYPED_TEST_SUITE(CudaStagedStructs, structs);

TYPED_TEST(CudaStagedStructs, HaveTheHostsBits) {
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

// Items of which a copy of 16 bytes holds parts of two, and more bytes than a bank line's.
TEST(CudaStagedStructsAndMore, SanitizeCopies) {
  cuda_executor exec;
  const auto check = [&](auto items) {
    using item = typename decltype(items)::value_type;
    const gpu_array<item> device(items);
    ASSERT_EQ(bytes_of(tilefold::reduce(exec, device.begin(), device.end(), mix_words{})),
              bytes_of(tilefold::reduce(items, mix_words{})));
    ASSERT_EQ(
        bytes_of(tilefold::reduce(exec, device.begin() + 1, device.end(), mix_words{})),
        bytes_of(tilefold::reduce(items.data() + 1, items.data() + items.size(), mix_words{})));
  };
  check(mixed_structs<words<std::uint32_t, 3>>(lengths<words<std::uint32_t, 3>>()[3]));
  check(mixed_structs<words<std::uint32_t, 9>>(lengths<words<std::uint32_t, 9>>()[5]));
  check(mixed_structs<words<std::uint64_t, 8>>(lengths<words<std::uint64_t, 8>>()[7]));
  check(mixed_structs<words<std::uint32_t, 32>>(lengths<words<std::uint32_t, 32>>()[9]));
}

using twelve_words = words<std::uint32_t, 12>;
struct rotation {
  TILEFOLD_HD twelve_words operator()(const twelve_words& x) const {
    twelve_words result = x;
    for (int i = 0; i < 12; ++i) result.word[i] = x.word[(i + 5) % 12] * 7u;
    return result;
  }
};

struct unchanged {
  TILEFOLD_HD twelve_words operator()(const twelve_words& x) const { return x; }
};

// A public reducer over structs, and one with a function of each item.
TEST(CudaStagedStructsAndMore, ByReducersAndFunctions) {
  const auto items = mixed_structs<twelve_words>(lengths<twelve_words>()[9]);
  const gpu_array<twelve_words> device(items);
  cuda_executor exec;
  std::vector<twelve_words> lifted;
  for (const twelve_words& x : items) lifted.push_back(rotation{}(x));
  EXPECT_EQ(bytes_of(tilefold::transform_reduce(exec, device.begin(), device.end(), mix_words{},
                                                rotation{})),
            bytes_of(tilefold::reduce(lifted, mix_words{})));
  const auto mixing = reducers::make_reducer(rotation{}, mix_words{}, unchanged{});
  EXPECT_EQ(bytes_of(tilefold::reduce(exec, device.begin(), device.end(), mixing)),
            bytes_of(tilefold::reduce(lifted, mix_words{})));
}

}  // namespace
}  // namespace tilefold::test
