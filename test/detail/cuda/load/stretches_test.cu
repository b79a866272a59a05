// SPDX-License-Identifier: Apache-2.0
//
// A lane's stretch of items by itself: for items of 1 to 32 bytes, every place in a vector of 16
// bytes at which it can begin, every count, in the middle of memory and at its ends; each lane with
// a place and a count of its own. Then once more without its first four items.
#include <tilefold/detail/cuda/load/stretches.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <thrust/iterator/counting_iterator.h>

#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {

template <int Bytes, int Alignment>
struct alignas(Alignment) bytes_of {
  unsigned char byte[Bytes];

  friend bool operator==(const bytes_of&, const bytes_of&) = default;
};

namespace {

template <class It, int Items>
using stretch = tilefold::detail::cuda::lane_stretch<It, Items, false>;

/// What a lane is asked for: items [first, first + count), and whether 16 bytes more are there.
struct request {
  int first;
  int count;
  bool inner;
};

/// out[lane of all][j]: item j of the lane's stretch; then, if Drop, dropped[...] without the first
/// Drop of them.
template <int Items, int Drop, class It, class T>
__global__ void load_stretches(It items, const request* requests, T* out, T* dropped) {
  const auto lane = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const request mine = requests[lane];
  stretch<It, Items> loaded;
  loaded.load(items, mine.first, mine.count, mine.inner);
  loaded.settle();
  // Indices of registers are constants.
#pragma unroll
  for (int j = 0; j < Items; ++j) {
    if (j < mine.count) out[lane * Items + j] = loaded.get(j);
  }
  if constexpr (Drop > 0) {
    loaded.template drop<Drop>(mine.count);
#pragma unroll
    for (int j = 0; j + Drop < Items; ++j) {
      if (j + Drop < mine.count) dropped[lane * Items + j] = loaded.get(j);
    }
  }
}

/// Checks that each request of `requests` brings its items out of `items`, which `first` leads to
/// on the GPU; what lies behind a count stays unwritten.
template <int Items, int Drop, class It, class T>
void expect_items(It first, const std::vector<T>& items, std::vector<request> requests) {
  while (requests.size() % 32 != 0) requests.push_back({0, 0, false});
  const auto lanes = static_cast<int>(requests.size());
  const gpu_array<request> device_requests(requests);
  const std::vector<T> unwritten(requests.size() * Items);
  gpu_array<T> out(unwritten), dropped(unwritten);
  load_stretches<Items, Drop>
      <<<lanes / 32, 32>>>(first, device_requests.data(), out.data(), dropped.data());
  must(cudaGetLastError());
  const auto got = out.to_host(), got_dropped = dropped.to_host();
  for (std::size_t lane = 0; lane < requests.size(); ++lane) {
    const request& asked = requests[lane];
    for (int j = 0; j < asked.count; ++j) {
      const auto at = lane * Items + static_cast<std::size_t>(j);
      const T& expected = items[static_cast<std::size_t>(asked.first + j)];
      ASSERT_TRUE(got[at] == expected)
          << "item " << j << " of " << asked.count << " from " << asked.first << " on, lane "
          << lane % 32 << (asked.inner ? ", inner" : "");
      if (Drop == 0 || j < Drop) continue;
      ASSERT_TRUE(got_dropped[at - Drop] == expected)
          << "item " << j << " of " << asked.count << " from " << asked.first << " on, lane "
          << lane % 32 << ", after " << Drop << " dropped";
    }
  }
}

template <class T>
std::vector<T> distinct_items(std::int64_t n) {
  bit_stream bits(seed());
  std::vector<T> items(static_cast<std::size_t>(n));
  for (T& item : items) {
    unsigned char bytes[sizeof(T)];
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(bits.next());
    std::memcpy(&item, bytes, sizeof(T));
  }
  return items;
}

/// Every first item that begins at another place of a vector, every count, inner and not: in an
/// order in which neighbouring lanes differ, and one in which those of a warp begin alike.
template <int Items>
std::vector<request> all_requests(int margin, int places) {
  std::vector<request> requests;
  for (int place = 0; place < places; ++place) {
    for (int count = 0; count <= Items; ++count) {
      for (const bool inner : {true, false}) requests.push_back({margin + place, count, inner});
    }
    while (requests.size() % 32 != 0) requests.push_back({margin + place, Items, true});
  }
  const std::size_t alike = requests.size();
  for (std::size_t i = 0; i < alike; ++i) requests.push_back(requests[i * 37 % alike]);
  return requests;
}

template <class T, int Items, int Drop>
void expect_every_place() {
  SCOPED_TRACE(::testing::Message() << Items << " items of " << sizeof(T) << " bytes");
  const int margin = (16 + static_cast<int>(sizeof(T)) - 1) / static_cast<int>(sizeof(T));
  const int places = 16;
  const auto items = distinct_items<T>(2 * margin + places + Items);
  const auto requests = all_requests<Items>(margin, places);
  const std::size_t bytes = items.size() * sizeof(T);
  const gpu_array<char> memory(static_cast<std::int64_t>(bytes) + 16);
  for (std::size_t shift = 0; shift < sizeof(T) && shift < 16; shift += alignof(T)) {
    must(cudaMemcpy(memory.data() + shift, items.data(), bytes, cudaMemcpyDefault));
    ASSERT_NO_FATAL_FAILURE((expect_items<Items, Drop>(
        reinterpret_cast<const T*>(memory.data() + shift), items, requests)))
        << "from " << shift << " bytes past an aligned address on";
  }
}

TEST(LaneStretch, OfBytesAtEveryPlace) {
  expect_every_place<bytes_of<1, 1>, 16, 4>();
  expect_every_place<bytes_of<2, 1>, 8, 4>();
  expect_every_place<bytes_of<2, 2>, 16, 4>();
  expect_every_place<bytes_of<3, 1>, 16, 4>();
  expect_every_place<bytes_of<5, 1>, 4, 0>();  // no whole vectors: item by item
}
TEST(LaneStretch, OfWordsAtEveryPlace) {
  expect_every_place<bytes_of<4, 4>, 16, 4>();
  expect_every_place<bytes_of<4, 1>, 4, 0>();
  expect_every_place<bytes_of<6, 2>, 8, 4>();
  expect_every_place<bytes_of<8, 8>, 8, 4>();
  expect_every_place<bytes_of<8, 4>, 8, 4>();
  expect_every_place<bytes_of<12, 4>, 4, 0>();
}
TEST(LaneStretch, OfVectorsAtEveryPlace) {
  expect_every_place<bytes_of<16, 16>, 4, 0>();
  expect_every_place<bytes_of<16, 8>, 4, 0>();
  expect_every_place<bytes_of<24, 8>, 2, 0>();
  expect_every_place<bytes_of<32, 16>, 2, 0>();
}

TEST(LaneStretch, OfAnIteratorThatIsNoPointer) {
  std::vector<std::uint32_t> items;
  for (std::uint32_t i = 0; i < 64; ++i) items.push_back(i + 100);
  expect_items<16, 4>(thrust::counting_iterator<std::uint32_t>(100), items,
                      all_requests<16>(1, 16));
}

// Whole arrays and no more, from the first item to the last: nothing before or behind is read.
template <class T, int Items>
void expect_ends_of_memory() {
  for (int n = 1; n <= 2 * Items; ++n) {
    const auto items = distinct_items<T>(n);
    const gpu_array<T> array(items);
    std::vector<request> requests;
    for (int first = 0; first < n; ++first) {
      const int count = n - first < Items ? n - first : Items;
      const auto begin = static_cast<int>(sizeof(T)) * first;
      const auto behind = static_cast<int>(sizeof(T)) * (n - first - count);
      requests.push_back({first, count, begin >= 16 && behind >= 16});
      requests.push_back({first, count, false});
    }
    ASSERT_NO_FATAL_FAILURE(
        (expect_items<Items, 0>(static_cast<const T*>(array.data()), items, requests)));
  }
}

TEST(SanitizeLaneStretch, EndsOfMemory) {
  expect_ends_of_memory<bytes_of<1, 1>, 16>();
  expect_ends_of_memory<bytes_of<2, 2>, 16>();
  expect_ends_of_memory<bytes_of<4, 4>, 16>();
  expect_ends_of_memory<bytes_of<8, 8>, 8>();
  expect_ends_of_memory<bytes_of<12, 4>, 4>();
}

}  // namespace
}  // namespace tilefold::test
