// SPDX-License-Identifier: Apache-2.0
//
// The fold order on a GPU for items of other sizes and alignments than bytes and words, wherever
// they start.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "support/device_order.cuh"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

// An item whose every word shows in its hash.
template <class Word, int N>
struct hashed_item {
  Word word[N];
  TILEFOLD_HD operator lifted_hash() const {
    tree_hash hash{0, 0};
    for (int i = 0; i < N; ++i) {
      hash = {mixed_bits(hash.low + word[i]), mixed_bits(hash.high ^ word[i])};
    }
    return hash;
  }
};

template <class Item>
struct item_bits;
template <class Word, int N>
struct item_bits<hashed_item<Word, N>> {
  using word = Word;
  static constexpr int count = N;
};

template <class Item>
Item item_at(std::int64_t i) {
  using bits = item_bits<Item>;
  Item item;
  for (int k = 0; k < bits::count; ++k) {
    item.word[k] = static_cast<typename bits::word>(
        mixed_bits(static_cast<std::uint64_t>(i) * 64 + static_cast<std::uint64_t>(k)));
  }
  return item;
}

const std::vector<std::int64_t>& sizes() {
  static const std::vector<std::int64_t> all = landmark_sizes(16, 60, seed());
  return all;
}

template <class Item>
class CudaOrderOfItems : public ::testing::Test {
 protected:
  template <tile_policy Policy>
  void check(int shift) {
    const std::int64_t n = sizes().back();
    std::vector<Item> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(item_at<Item>(i));
    gpu_array<Item> array(n + shift);
    array.assign(items.data(), n, shift);
    const auto expected = prefix_folds(
        node_hash{}, [](std::int64_t i) -> tree_hash { return lifted_hash(item_at<Item>(i)); },
        sizes());
    cuda_executor base;
    const auto exec = with_policy<Policy>(base);
    EXPECT_TRUE(
        same_folds(device_folds(base, exec, array.data() + shift, sizes(), lifted_node_hash{}),
                   expected, sizes()))
        << "shift = " << shift << " items";
  }
};

using item_types = ::testing::Types<hashed_item<std::uint16_t, 1>, hashed_item<std::uint8_t, 3>,
                                    hashed_item<std::uint8_t, 4>, hashed_item<std::uint16_t, 3>,
                                    hashed_item<std::uint64_t, 1>, hashed_item<std::uint32_t, 3>,
                                    hashed_item<std::uint64_t, 2>, hashed_item<std::uint64_t, 3>,
                                    hashed_item<std::uint8_t, 31>, hashed_item<std::uint64_t, 8>>;
TYPED_TEST_SUITE(CudaOrderOfItems, item_types);

TYPED_TEST(CudaOrderOfItems, IsTheOraclesWhereverTheyStart) {
  // Packets of several items where those fit into 64 bytes.
  constexpr int vt = sizeof(TypeParam) <= 16 ? 16 : 4;
  for (int shift = 0; shift < 8; ++shift) this->template check<tile_policy{64, vt}>(shift);
  for (int shift = 0; shift < 8; ++shift) this->template check<tile_policy{256, 2}>(shift);
}

}  // namespace
}  // namespace tilefold::test
