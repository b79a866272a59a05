// SPDX-License-Identifier: Apache-2.0
//
// The suite of reduce_by_key of structs, some to a program: the neighbour tree of every run, under
// an operator whose result shows every change of order. Runs around the ends of stretches, deals
// and the ring (value_ring.cuh); items wherever in 16 bytes they begin; so many items that a warp
// takes a span of a patch, and a patch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce_by_key.hpp>

#include "../support/device.cuh"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/runs.hpp"
#include "../support/seed.hpp"

namespace tilefold::test {

namespace gpu = detail::cuda;

template <int Bytes, int Align>
struct alignas(Align) item {
  std::uint32_t word[Bytes / 4];
};

// Neither commutative nor associative.
struct mix {
  template <int Bytes, int Align>
  TILEFOLD_HD item<Bytes, Align> operator()(const item<Bytes, Align>& a,
                                            const item<Bytes, Align>& b) const {
    constexpr int n = Bytes / 4;
    item<Bytes, Align> mixed;
    for (int i = 0; i < n; ++i) mixed.word[i] = 3u * a.word[i] + b.word[(i + 1) % n] + 1u;
    return mixed;
  }
};

template <class Item>
std::vector<Item> mixed_items(std::int64_t n) {
  std::vector<Item> items(static_cast<std::size_t>(n));
  std::uint64_t state = seed() + sizeof(Item);
  for (Item& x : items) {
    for (std::uint32_t& word : x.word) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      word = static_cast<std::uint32_t>(state >> 32);
    }
  }
  return items;
}

template <class Item>
bool same_bytes(const Item& a, const Item& b) {
  return std::memcmp(&a, &b, sizeof(Item)) == 0;
}

// Runs of these lengths, each with its number as its key. `on_gpu` holds `items`.
template <class Item, class Values>
void expect_trees(cuda_executor& exec, const std::vector<Item>& items, Values on_gpu,
                  const std::vector<std::int64_t>& lengths) {
  std::vector<int> keys;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    keys.insert(keys.end(), static_cast<std::size_t>(lengths[r]), static_cast<int>(r));
  }
  const auto n = static_cast<std::int64_t>(keys.size());
  const auto runs = static_cast<std::int64_t>(lengths.size());
  const gpu_array<int> device_keys(keys);
  const gpu_array<int> keys_out(runs);
  const gpu_array<Item> out(runs + 1);
  const gpu_array<std::int64_t> num_runs(1);
  must(cudaMemset(out.data(), 0xee, sizeof(Item) * static_cast<std::size_t>(runs + 1)));
  reduce_by_key_into(exec, device_keys.data(), device_keys.data() + n, on_gpu, keys_out.data(),
                     out.data(), num_runs.data(), mix{});
  exec.synchronize();
  ASSERT_EQ(num_runs.to_host()[0], runs) << n << " items";
  const std::vector<int> got_keys = keys_out.to_host();
  const std::vector<Item> got = out.to_host();
  std::int64_t begin = 0;
  for (std::int64_t r = 0; r < runs; ++r) {
    const std::int64_t length = lengths[static_cast<std::size_t>(r)];
    ASSERT_EQ(got_keys[static_cast<std::size_t>(r)], r) << "run " << r;
    const Item tree = tree_of_leaves<Item>(
        mix{}, [&](std::size_t i) { return items[i]; }, static_cast<std::size_t>(begin),
        static_cast<std::size_t>(length));
    ASSERT_TRUE(same_bytes(got[static_cast<std::size_t>(r)], tree))
        << "run " << r << " of " << runs << ", " << length << " items from " << begin << " of "
        << n;
    begin += length;
  }
  Item untouched;
  std::memset(&untouched, 0xee, sizeof untouched);
  EXPECT_TRUE(same_bytes(got[static_cast<std::size_t>(runs)], untouched)) << n << " items";
}

// Around a stretch, a deal, the ring, a span and the reach.
template <class Item>
std::vector<std::int64_t> lengths_at_ends() {
  constexpr int bytes = sizeof(Item);
  constexpr std::int64_t stretch = gpu::ring_stretch_items(bytes);
  constexpr std::int64_t deal = 32 * stretch;
  constexpr std::int64_t ring = gpu::value_ring<Item, stretch>::vectors * 16 / bytes;
  std::vector<std::int64_t> lengths{1, 2, 3};
  for (const std::int64_t end :
       {stretch, 2 * stretch, 4 * stretch, 16 * stretch, deal / 2, deal, 2 * deal, 3 * deal, ring,
        2 * ring, std::int64_t{512}, std::int64_t{1024}, std::int64_t{3072}}) {
    for (const std::int64_t near : {-1, 0, 1}) {
      if (end + near > 0) lengths.push_back(end + near);
    }
  }
  return lengths;
}

// Items in memory that ends with the last one, `off` bytes after a multiple of 16.
template <class Item>
class placed_items {
 public:
  placed_items(const std::vector<Item>& items, std::int64_t off)
      : memory_(off + static_cast<std::int64_t>(items.size() * sizeof(Item))),
        first_(reinterpret_cast<Item*>(memory_.data() + off)) {
    must(cudaMemcpy(first_, items.data(), items.size() * sizeof(Item), cudaMemcpyDefault));
  }
  const Item* data() const { return first_; }

 private:
  gpu_array<unsigned char> memory_;
  Item* first_;
};

template <class Item>
std::vector<std::int64_t> picked_lengths(std::int64_t n, std::uint64_t shape) {
  const std::vector<std::int64_t> ends = lengths_at_ends<Item>();
  return lengths_of(n, shape, [&](shape_stream& bits) {
    const auto small = static_cast<std::size_t>(bits() % ends.size());
    return ends[bits() % 4 == 0 ? small : small / 3];
  });
}

template <class Item>
class CudaByKeyOfStructs : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

template <class Item>
inline constexpr bool comes_through_ring =
    gpu::pays_to_fold_from_ring(sizeof(Item), alignof(Item), sizeof(Item));

TYPED_TEST_SUITE_P(CudaByKeyOfStructs);

TYPED_TEST_P(CudaByKeyOfStructs, RunsAroundEveryEnd) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  constexpr std::int64_t n = 20'000;
  const auto items = mixed_items<TypeParam>(n);
  for (std::int64_t off = 0; off < 16; off += alignof(TypeParam)) {
    SCOPED_TRACE(std::to_string(off) + " bytes after a multiple of 16");
    const placed_items<TypeParam> on_gpu(items, off);
    for (const std::int64_t length : lengths_at_ends<TypeParam>()) {
      // One block folds what is short; a first run of one item moves all ends.
      for (const std::int64_t all : {std::int64_t{2'900}, n}) {
        std::vector<std::int64_t> lengths =
            lengths_of(all, 1, [=](shape_stream&) { return length; });
        expect_trees(this->exec_, items, on_gpu.data(), lengths);
        if (this->HasFatalFailure()) return;
        lengths.insert(lengths.begin(), 1);
        if (--lengths.back() == 0) lengths.pop_back();
        expect_trees(this->exec_, items, on_gpu.data(), lengths);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST_P(CudaByKeyOfStructs, RunsOfMixedLengths) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  constexpr std::int64_t n = 60'000;
  const auto items = mixed_items<TypeParam>(n);
  shape_stream bits(seed());
  for (std::int64_t off = 0; off < 16; off += alignof(TypeParam)) {
    SCOPED_TRACE(std::to_string(off) + " bytes after a multiple of 16");
    const placed_items<TypeParam> on_gpu(items, off);
    for (int shape = 0; shape < 20; ++shape) {
      const std::uint64_t shape_seed = bits() >> 1;
      const auto all = static_cast<std::int64_t>(1 + bits() % n);
      expect_trees(this->exec_, items, on_gpu.data(), picked_lengths<TypeParam>(all, shape_seed));
      expect_trees(this->exec_, items, on_gpu.data(), random_lengths(all, shape_seed));
      if (this->HasFatalFailure()) FAIL() << "shape " << shape_seed << " of " << all;
    }
  }
}

// A warp of few patches takes a span, of many a patch.
TYPED_TEST_P(CudaByKeyOfStructs, FewAndManyPatches) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  int sms = 0;
  must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const std::int64_t resident =
      std::int64_t{sms} *
      gpu::min_resident_by_key_blocks(sizeof(TypeParam), comes_through_ring<TypeParam>);
  const std::int64_t most = resident * 3 / 4 * gpu::by_key_tile;
  const auto items = mixed_items<TypeParam>(most);
  for (std::size_t off = 0; off <= alignof(TypeParam) % 16; off += alignof(TypeParam)) {
    SCOPED_TRACE(std::to_string(off) + " bytes after a multiple of 16");
    const placed_items<TypeParam> on_gpu(items, static_cast<std::int64_t>(off));
    for (const std::int64_t blocks : {resident / 8, resident * 3 / 8, resident * 3 / 4}) {
      const std::int64_t n = blocks * gpu::by_key_tile - 77;
      expect_trees(this->exec_, items, on_gpu.data(), picked_lengths<TypeParam>(n, seed() + off));
      if (this->HasFatalFailure()) return;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaByKeyOfStructs, RunsAroundEveryEnd, RunsOfMixedLengths,
                            FewAndManyPatches);

template <class Item>
void fold_from_both_ends_of_memory() {
  cuda_executor exec;
  const auto items = mixed_items<Item>(12'345);
  const placed_items<Item> on_gpu(items, alignof(Item) % 16);
  expect_trees(exec, items, on_gpu.data(), picked_lengths<Item>(12'345, 1));
  expect_trees(exec, items, on_gpu.data(), random_lengths(2'345, 3));
}

}  // namespace tilefold::test
