// SPDX-License-Identifier: Apache-2.0
//
// The heads of runs by themselves: which bit of which lane says that a run begins with which item,
// for keys of 1 to 16 bytes at every address, behind iterators, and under an equality that is not
// ==; in the patches in the middle and in those at the ends; and how many there are and where the
// last one is.
#include <tilefold/detail/cuda/keys/heads_kernel.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include "support/device.cuh"
#include "support/random.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {

/// A key of Bytes bytes; those that differ, differ in one of them.
template <int Bytes>
struct long_key {
  unsigned char byte[Bytes];

  TILEFOLD_HD friend bool operator==(const long_key& a, const long_key& b) {
    for (int i = 0; i < Bytes; ++i) {
      if (a.byte[i] != b.byte[i]) return false;
    }
    return true;
  }
};

struct same_key {
  template <class Key>
  TILEFOLD_HD bool operator()(const Key& a, const Key& b) const {
    return a == b;
  }
};

namespace {

namespace part = tilefold::detail::cuda;

struct found {
  int runs, end;
};

template <class Keys>
__global__ void find_heads(Keys keys, std::int64_t origin, part::head_bits* heads, found* counts) {
  const std::int64_t patch = blockIdx.x;
  const auto mine = part::head_finder<Keys>{keys}.of_patch(origin + patch * part::patch_items);
  heads[patch * 32 + threadIdx.x] = mine;
  const auto counted = part::count_heads(mine);
  if (threadIdx.x == 17) counts[patch] = {counted.runs, counted.end};  // it is in every lane
}

/// Holds what is found in `n` keys that `first` leads to on the GPU against `heads`, the items with
/// which runs begin. The first patch begins with item `origin` <= 0.
template <class Keys, class Equal>
void expect_heads(Keys first, std::int64_t n, Equal equal, std::int64_t origin,
                  const std::vector<std::int64_t>& heads) {
  const detail::keys_in_runs<Keys, Equal> input{first, equal, n};
  const std::int64_t patches = (n - origin + part::patch_items - 1) / part::patch_items;
  gpu_array<part::head_bits> words(32 * patches);
  gpu_array<found> counts(patches);
  find_heads<<<static_cast<unsigned>(patches), 32>>>(input, origin, words.data(), counts.data());
  must(cudaGetLastError());
  const auto got = words.to_host();
  const auto got_counts = counts.to_host();
  std::vector<part::head_bits> expected(got.size(), 0);
  std::vector<found> expected_counts(got_counts.size(), {0, 0});
  for (const std::int64_t head : heads) {
    // Bit 16 p + i of lane l: item 512 p + 16 l + i of the patch.
    const std::int64_t at = head - origin;
    const auto patch = static_cast<std::size_t>(at / 2048);
    const std::int64_t in_patch = at % 2048;
    const auto lane = static_cast<std::size_t>(in_patch % 512 / 16);
    expected[32 * patch + lane] |= part::head_bits{1} << (in_patch / 512 * 16 + in_patch % 16);
    ++expected_counts[patch].runs;
    expected_counts[patch].end = static_cast<int>(in_patch) + 1;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], expected[i]) << "patch " << i / 32 << ", lane " << i % 32;
  }
  for (std::size_t p = 0; p < got_counts.size(); ++p) {
    ASSERT_EQ(got_counts[p].runs, expected_counts[p].runs) << "patch " << p;
    ASSERT_EQ(got_counts[p].end, expected_counts[p].end) << "patch " << p;
  }
}

/// Lengths of runs that make n items together, short and long by turns.
std::vector<std::int64_t> some_lengths(std::int64_t n, std::uint64_t number) {
  shape_stream bits(seed() + number);
  const std::uint64_t longest = std::uint64_t{1} << bits() % 12;
  return lengths_of(n, bits(), [=](shape_stream& more) {
    return static_cast<std::int64_t>(1 + more() % longest);
  });
}

std::vector<std::int64_t> some_sizes() {
  return {1,   2,   3,   4,   5,    15,   16,   17,   127,  128,
          129, 511, 512, 513, 2047, 2048, 2049, 4096, 6000, 20000};
}

/// Keys that are alike in runs of `lengths`, as items of type Key.
template <class Key>
std::vector<Key> keys_of(const std::vector<std::int64_t>& lengths) {
  std::vector<Key> keys;
  for (std::size_t run = 0; run < lengths.size(); ++run) {
    Key key;
    std::memset(&key, 0x5a, sizeof(Key));
    auto* const bytes = reinterpret_cast<unsigned char*>(&key);
    bytes[run / 2 % sizeof(Key)] = static_cast<unsigned char>(run % 2 == 0 ? 0x5a : run / 2 % 7);
    keys.insert(keys.end(), static_cast<std::size_t>(lengths[run]), key);
  }
  return keys;
}

template <class Key>
void expect_heads_of_keys() {
  SCOPED_TRACE(::testing::Message() << "keys of " << sizeof(Key) << " bytes");
  for (const std::int64_t n : some_sizes()) {
    for (std::int64_t shift = 0; shift < 4; ++shift) {
      const auto lengths = some_lengths(n, static_cast<std::uint64_t>(4 * n + shift));
      const auto keys = keys_of<Key>(lengths);
      std::vector<std::int64_t> heads;
      std::int64_t at = 0;
      for (const std::int64_t length : lengths) {
        heads.push_back(at);
        at += length;
      }
      gpu_array<Key> array(n + 4);
      array.assign(keys.data(), n, shift);
      const Key* const first = array.data() + shift;
      // Four keys from the first patch's begin on lie at a multiple of their size.
      ASSERT_NO_FATAL_FAILURE(expect_heads(first, n, same_key{}, -shift, heads))
          << n << " keys, " << shift << " items past an aligned address";
    }
  }
}

TEST(KeyHeads, OfBytes) { expect_heads_of_keys<std::uint8_t>(); }
TEST(KeyHeads, OfShorts) { expect_heads_of_keys<std::uint16_t>(); }
TEST(KeyHeads, OfWords) { expect_heads_of_keys<std::uint32_t>(); }
TEST(KeyHeads, OfDoubleWords) { expect_heads_of_keys<std::uint64_t>(); }
TEST(KeyHeads, OfKeysThatAreLoadedOneByOne) {
  expect_heads_of_keys<long_key<3>>();
  expect_heads_of_keys<long_key<16>>();
}

// Neither symmetric nor transitive, and behind an iterator: neighbours are compared, in their
// order.
struct less_one {
  TILEFOLD_HD int operator()(int key) const { return key - 1; }
};

TEST(KeyHeads, UnderAnotherEquality) {
  for (const std::int64_t n : some_sizes()) {
    shape_stream bits(seed());
    std::vector<int> keys;
    for (std::int64_t j = 0; j < n; ++j) keys.push_back(static_cast<int>(bits() % 40));
    const gpu_array<int> array(keys);
    const int* const first = array.data();
    const auto heads = heads_of(keys, ascends_gently{});
    ASSERT_NO_FATAL_FAILURE(expect_heads(first, n, ascends_gently{}, 0, heads)) << n;
    const auto behind = thrust::make_transform_iterator(first, less_one{});
    ASSERT_NO_FATAL_FAILURE(expect_heads(behind, n, ascends_gently{}, -3, heads)) << n;
  }
}

}  // namespace
}  // namespace tilefold::test
