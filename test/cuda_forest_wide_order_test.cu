// SPDX-License-Identifier: Apache-2.0
//
// The fold order of segments under accumulators of 24 bytes on a GPU: hashes that tell of the tree,
// of the order and of every item's index, over items of awkward sizes, against the host.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/device.cuh"

namespace tilefold::test {

TILEFOLD_HD inline std::uint64_t scrambled(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 32);
}

struct wide_hash {
  std::uint64_t hash;
  std::int64_t first, count;
};

// Not in the unnamed namespace: there, nvcc takes members that only a concept asks for as never
// referenced.
struct wide_hashes {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;

  template <class T>
  TILEFOLD_HD wide_hash lift(const T& item, std::int64_t index) const {
    unsigned char bytes[sizeof(T)];
    memcpy(bytes, &item, sizeof(T));
    std::uint64_t number = 0;
    for (const unsigned char byte : bytes) number = number * 257 + byte;
    return {scrambled(number + scrambled(static_cast<std::uint64_t>(index))), index, 1};
  }
  TILEFOLD_HD wide_hash combine(const wide_hash& a, const wide_hash& b) const {
    return {scrambled(3 * a.hash + scrambled(b.hash)), a.first, a.count + b.count};
  }
  TILEFOLD_HD wide_hash project(const wide_hash& a) const { return a; }
};

// The same, but nodes of equally many items need not be told apart by their order.
struct among_equals_hashes : wide_hashes {
  TILEFOLD_HD wide_hash combine(const wide_hash& a, const wide_hash& b) const {
    const bool equal = a.count == b.count && (a.count & (a.count - 1)) == 0;
    return equal ? of_equals(a, b) : wide_hashes::combine(a, b);
  }
  TILEFOLD_HD static wide_hash of_equals(const wide_hash& a, const wide_hash& b) {
    return {scrambled(a.hash ^ b.hash) + a.hash + b.hash, a.first < b.first ? a.first : b.first,
            a.count + b.count};
  }
};

}  // namespace tilefold::test

template <>
struct tilefold::detail::ways<tilefold::test::among_equals_hashes> {
  static constexpr bool commutative_among_equals = true;

  TILEFOLD_HD static test::wide_hash combine_equals(const test::among_equals_hashes&,
                                                    const test::wide_hash& a,
                                                    const test::wide_hash& b) {
    return test::among_equals_hashes::of_equals(a, b);
  }
};

namespace tilefold::test {
namespace {

struct three_bytes {
  std::uint8_t a, b, c;
};
struct three_halves {
  std::uint16_t a, b, c;
};

template <class T>
std::vector<T> scrambled_items(std::int64_t n) {
  std::vector<T> items(static_cast<std::size_t>(n));
  std::uint64_t i = 0;
  for (T& item : items) {
    const std::uint64_t number = scrambled(i++);
    std::memcpy(&item, &number, sizeof item);
  }
  return items;
}

const wide_hash initial{77, -1, 0};

// Segments [offset, next offset) of `items`, read from `first` on the GPU.
template <class T, class It, class Reducer>
void expect_host_bits(const std::vector<T>& items, It first, const Reducer& reducer,
                      const std::vector<std::int64_t>& offsets, bool of_one_length) {
  const auto num = static_cast<std::int64_t>(offsets.size()) - 1;
  cuda_executor exec;
  gpu_array<wide_hash> out(num);
  if (of_one_length) {
    segmented_reduce(exec, first + offsets[0], num, offsets[1] - offsets[0], out.data(), initial,
                     reducer);
  } else {
    const gpu_array<std::int64_t> device_offsets(offsets);
    segmented_reduce(exec, first, device_offsets.data(), num, out.data(), initial, reducer);
  }
  const auto got = out.to_host();
  for (std::size_t s = 0; s < got.size(); ++s) {
    const wide_hash expected = tilefold::reduce(items.data() + offsets[s],
                                                items.data() + offsets[s + 1], initial, reducer);
    ASSERT_EQ(std::memcmp(&got[s], &expected, sizeof expected), 0)
        << "segment " << s << " of " << offsets[s + 1] - offsets[s] << " items from " << offsets[s]
        << " on, " << got[s].count << " counted";
  }
}

template <class T, class It, class Reducer>
void expect_host_bits_of_all_lengths(const std::vector<T>& items, It first,
                                     const Reducer& reducer) {
  std::vector<std::int64_t> mixed{3};
  for (const std::int64_t length : {1,   3,   7,   8,   9,    12,   13,    16,    17,    31,
                                    255, 257, 511, 513, 1025, 2049, 16384, 16400, 65537, 131072}) {
    mixed.push_back(mixed.back() + length);
    for (const std::int64_t shift : {0, 1, 3}) {
      std::vector<std::int64_t> offsets;
      for (int s = 0; s <= (length < 2000 ? 40 : 2); ++s) offsets.push_back(shift + s * length);
      ASSERT_NO_FATAL_FAILURE(expect_host_bits(items, first, reducer, offsets, true));
    }
  }
  ASSERT_NO_FATAL_FAILURE(expect_host_bits(items, first, reducer, mixed, false));
  // Among many, which are folded in another way than few.
  mixed.resize(mixed.size() + 1024, mixed.back());
  ASSERT_NO_FATAL_FAILURE(expect_host_bits(items, first, reducer, mixed, false));
}

template <class T>
class CudaForestWideOrder : public ::testing::Test {};
using item_types = ::testing::Types<std::uint8_t, three_bytes, three_halves, float>;
TYPED_TEST_SUITE(CudaForestWideOrder, item_types);

TYPED_TEST(CudaForestWideOrder, IsTheHosts) {
  const auto items = scrambled_items<TypeParam>(300000);
  const gpu_array<TypeParam> array(items);
  const auto* const first = static_cast<const TypeParam*>(array.data());
  expect_host_bits_of_all_lengths(items, first, wide_hashes{});
}

TEST(CudaForestWideOrderOfWords, WhereEqualNodesAreJoinedInTheirOwnWay) {
  const auto items = scrambled_items<std::uint32_t>(300000);
  const gpu_array<std::uint32_t> array(items);
  const auto* const first = static_cast<const std::uint32_t*>(array.data());
  expect_host_bits_of_all_lengths(items, first, among_equals_hashes{});
}

struct one_more {
  TILEFOLD_HD std::uint32_t operator()(std::uint32_t x) const { return x + 1; }
};

TEST(CudaForestWideOrderOfWords, BehindAnIterator) {
  const auto items = scrambled_items<std::uint32_t>(300000);
  const gpu_array<std::uint32_t> array(items);
  std::vector<std::uint32_t> more;
  for (const std::uint32_t item : items) more.push_back(item + 1);
  const auto first =
      thrust::make_transform_iterator(static_cast<const std::uint32_t*>(array.data()), one_more{});
  expect_host_bits_of_all_lengths(more, first, wide_hashes{});
}

TEST(CudaForestWideOrderOfWords, InArraysOfTheirOwn) {
  const auto items = scrambled_items<std::uint32_t>(300000);
  const gpu_array<std::uint32_t> array(items);
  std::vector<const std::uint32_t*> arrays;
  std::vector<std::int64_t> lengths;
  for (const std::int64_t length : {5, 100, 513, 0, 3000, 17, 70001, 1}) {
    arrays.push_back(array.data() + 7 * length % 1000);
    lengths.push_back(length);
  }
  const gpu_array<const std::uint32_t*> device_arrays(arrays);
  const gpu_array<std::int64_t> device_lengths(lengths);
  gpu_array<wide_hash> out(8);
  batched_reduce(cuda_executor(), device_arrays.data(), device_lengths.data(), 8, out.data(),
                 initial, wide_hashes{});
  const auto got = out.to_host();
  for (std::size_t s = 0; s < got.size(); ++s) {
    const auto* const first = items.data() + 7 * lengths[s] % 1000;
    const wide_hash expected = tilefold::reduce(first, first + lengths[s], initial, wide_hashes{});
    EXPECT_EQ(std::memcmp(&got[s], &expected, sizeof expected), 0) << lengths[s];
  }
}

}  // namespace
}  // namespace tilefold::test
