// SPDX-License-Identifier: Apache-2.0
//
// The fold order of forests on a GPU: every segment's value spells the neighbour tree of that
// segment alone, whatever its length, place and neighbours.
#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <thrust/iterator/counting_iterator.h>

#include <gtest/gtest.h>

#include "support/device_order.cuh"
#include "support/index_forest.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {

// A number that tells of items and of their places in their segment.
struct weighted_by_place {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;
  static constexpr bool commutative = true;

  TILEFOLD_HD std::uint64_t lift(std::uint32_t item, std::int64_t place) const {
    return (item + 1ull) * 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(2 * place + 1);
  }
  TILEFOLD_HD std::uint64_t combine(std::uint64_t a, std::uint64_t b) const { return a + b; }
  TILEFOLD_HD std::uint64_t project(std::uint64_t a) const { return a; }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return 0;
  }
};

namespace {

template <class Offset, class Exec, class It>
std::vector<lifted_hash> folded(cuda_executor& base, Exec&& exec, It first, const segments& all) {
  std::vector<Offset> begins, ends;
  for (const auto& [begin, end] : all) {
    begins.push_back(static_cast<Offset>(begin));
    ends.push_back(static_cast<Offset>(end));
  }
  const gpu_array<Offset> device_begins(begins), device_ends(ends);
  gpu_array<lifted_hash> out(static_cast<std::int64_t>(all.size()));
  must(cudaMemset(out.data(), 0xee, all.size() * sizeof(lifted_hash)));
  segmented_reduce_into(exec, first, device_begins.data(), device_ends.data(), all.size(),
                        out.data(), initial, lifted_node_hash{});
  base.synchronize();
  return out.to_host();
}

// Segments that lie in a row, by their offsets.
template <class Offset, class Exec, class It>
std::vector<lifted_hash> folded_in_a_row(cuda_executor& base, Exec&& exec, It first,
                                         const segments& all) {
  std::vector<Offset> offsets{static_cast<Offset>(all.front().first)};
  for (const auto& [begin, end] : all) offsets.push_back(static_cast<Offset>(end));
  const gpu_array<Offset> device_offsets(offsets);
  gpu_array<lifted_hash> out(static_cast<std::int64_t>(all.size()));
  must(cudaMemset(out.data(), 0xee, all.size() * sizeof(lifted_hash)));
  segmented_reduce_into(exec, first, device_offsets.data(), all.size(), out.data(), initial,
                        lifted_node_hash{});
  base.synchronize();
  return out.to_host();
}

class CudaForest : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

TEST_F(CudaForest, EveryLengthUpTo300AndAroundPowersOfTwo) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n <= 300; ++n) lengths.push_back(n);
  for (const std::int64_t n : landmark_sizes(17, 40, seed())) lengths.push_back(n);
  // Few, and among many empty ones.
  for (const std::size_t empty : {0, 1024}) {
    lengths.resize(lengths.size() + empty, 0);
    const segments all = in_a_row(lengths);
    const index_items items(all.back().second);
    const auto expected = trees_of(all);
    for (int shift = 0; shift < 4; ++shift) {
      EXPECT_TRUE(
          same_trees(folded<std::int64_t>(exec_, exec_, items.at(shift), all), expected, all))
          << all.size() << " segments, shift " << shift;
      EXPECT_TRUE(same_trees(folded_in_a_row<std::int64_t>(exec_, exec_, items.at(shift), all),
                             expected, all))
          << all.size() << " segments by offsets, shift " << shift;
    }
    EXPECT_TRUE(same_trees(
        folded<std::int32_t>(exec_, with_policy<tile_policy{64, 4}>(exec_), items.at(1), all),
        expected, all))
        << all.size() << " segments";
  }
}

// Enough segments for batches of 32, and long ones among them.
TEST_F(CudaForest, ManySegmentsOfRandomShapes) {
  std::mt19937_64 bits(seed());
  for (const int longest_level : {1, 2, 3, 4, 5, 6, 8}) {
    std::vector<std::int64_t> lengths;
    std::int64_t total = 0;
    while (static_cast<std::int64_t>(lengths.size()) < 300000 && total < 3000000) {
      std::int64_t length = static_cast<std::int64_t>(bits() % (std::uint64_t{1} << longest_level));
      if (bits() % 5 == 0) length = 0;
      if (bits() % 50000 == 0) length = 100000 + static_cast<std::int64_t>(bits() % 100000);
      if (bits() % 5000 == 0) length = static_cast<std::int64_t>(bits() % 20000);
      lengths.push_back(length);
      total += length;
    }
    const segments all = in_a_row(lengths);
    const index_items items(all.back().second);
    const auto expected = trees_of(all);
    EXPECT_TRUE(same_trees(folded<std::int64_t>(exec_, exec_, items.at(0), all), expected, all))
        << "lengths below 2^" << longest_level;
    EXPECT_TRUE(
        same_trees(folded_in_a_row<std::uint32_t>(exec_, exec_, items.at(3), all), expected, all))
        << "by offsets, lengths below 2^" << longest_level;
  }
}

TEST_F(CudaForest, GapsOverlapsAndAnyOrder) {
  std::mt19937_64 bits(seed());
  const std::int64_t n = 1 << 18;
  const index_items items(n);
  for (const std::size_t count : {1, 2, 31, 33, 1000, 40000}) {
    segments all;
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = static_cast<std::int64_t>(bits() % n);
      const std::int64_t longest = std::min<std::int64_t>(n - begin, count < 40 ? n : 200);
      const auto length = static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(longest));
      all.emplace_back(begin, begin + length);
    }
    all.emplace_back(5, 5);
    EXPECT_TRUE(
        same_trees(folded<std::int64_t>(exec_, exec_, items.at(2), all), trees_of(all), all))
        << count << " segments";
  }
}

// More units than there are slots for their values: the rest is folded tree by tree, or units are
// larger where segments are few.
TEST_F(CudaForest, MoreLongSegmentsThanTheQueueHolds) {
  const std::int64_t n = 200000;
  const index_items items(n);
  for (const int count : {1000, 6000}) {
    segments all;
    for (int i = 0; i < count; ++i) all.emplace_back(i % 64, n - i % 32);
    std::vector<lifted_hash> expected;
    segments distinct(all.begin(), all.begin() + 64);
    const auto trees = trees_of(distinct);
    for (std::size_t i = 0; i < all.size(); ++i) expected.push_back(trees[i % 64]);
    for (int again = 0; again < 2; ++again) {
      EXPECT_TRUE(same_trees(folded<std::int64_t>(exec_, exec_, items.at(1), all), expected, all))
          << count << " segments";
    }
  }
}

// Around the number of segments that one launch folds, with a long one at either end.
TEST_F(CudaForest, AboutAsManyAsCountAsFew) {
  for (const std::size_t count : {1, 2, 511, 512, 513, 1023, 1024, 1025}) {
    std::vector<std::int64_t> lengths(count, 3);
    lengths.front() = 70000;
    lengths.back() = 40001;
    const segments all = in_a_row(lengths);
    const index_items items(all.back().second);
    EXPECT_TRUE(same_trees(folded_in_a_row<std::int64_t>(exec_, exec_, items.at(1), all),
                           trees_of(all), all))
        << count << " segments";
  }
}

TEST_F(CudaForest, EqualLengths) {
  const std::int64_t n = 1 << 20;
  const index_items items(n);
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 0; length <= 140; ++length) lengths.push_back(length);
  for (const std::int64_t length :
       {255,  256,  257,  511,  512,   513,   1000,  1024,  1025,   2048,   4095,
        4096, 8191, 8192, 8193, 16384, 16385, 40000, 65536, 100001, 1 << 20}) {
    lengths.push_back(length);
  }
  for (const std::int64_t length : lengths) {
    for (const std::int64_t most : {3, 100, 20000}) {
      const std::int64_t count = std::min(most, length == 0 ? most : n / length);
      segments all;
      for (std::int64_t i = 0; i < count; ++i) all.emplace_back(i * length, (i + 1) * length);
      const auto expected = trees_of(all);
      for (const int shift : {0, 1}) {
        gpu_array<lifted_hash> out(count);
        must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(count) * sizeof(lifted_hash)));
        segmented_reduce_into(exec_, items.at(shift), count, length, out.data(), initial,
                              lifted_node_hash{});
        exec_.synchronize();
        ASSERT_TRUE(same_trees(out.to_host(), expected, all))
            << "length " << length << ", shift " << shift;
      }
    }
  }
}

TEST_F(CudaForest, IteratorsThatAreNoPointers) {
  std::mt19937_64 bits(seed());
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 5000; ++i) lengths.push_back(static_cast<std::int64_t>(bits() % 100));
  lengths.push_back(50000);
  const segments all = in_a_row(lengths);
  const auto first = thrust::make_counting_iterator(std::uint32_t{0});
  EXPECT_TRUE(same_trees(folded<std::int64_t>(exec_, exec_, first, all), trees_of(all), all));
}

// Items of 2 and 3 bytes that may begin anywhere.
struct odd_pair {
  unsigned char byte[2];
};
struct odd_triple {
  unsigned char byte[3];
};

/// A number that no two items share, so that lost and swapped bytes show.
template <class T>
struct number_of {
  TILEFOLD_HD std::uint64_t operator()(const T& item) const {
    unsigned char bytes[sizeof(T)];
    memcpy(bytes, &item, sizeof(T));
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) sum = sum * 263 + bytes[i] + 1;
    return sum;
  }
};
struct same_number {
  TILEFOLD_HD std::uint64_t operator()(std::uint64_t x) const { return x; }
};

// Narrow items at every address that they may have.
template <class T>
void items_at_every_address(cuda_executor& exec) {
  std::mt19937_64 bits(seed());
  std::vector<T> items(30000);
  for (T& item : items) {
    const std::uint64_t random = bits();
    memcpy(&item, &random, sizeof(T));
  }
  segments all =
      in_a_row({0, 1, 2, 3, 4, 5, 7, 31, 64, 100, 1000, 20, 9, 65, 33, 0, 17, 1, 1, 20000});
  const auto num_in_a_row = static_cast<std::int64_t>(all.size());
  std::vector<std::int64_t> offsets{0};
  for (const auto& [begin, end] : all) offsets.push_back(end);
  const gpu_array<std::int64_t> device_offsets(offsets);
  for (int i = 0; i < 2000; ++i) {
    const auto begin = static_cast<std::int64_t>(bits() % 29000);
    all.emplace_back(begin, begin + static_cast<std::int64_t>(bits() % 40));
  }
  std::vector<std::int64_t> begins, ends;
  for (const auto& [begin, end] : all) {
    begins.push_back(begin);
    ends.push_back(end);
  }
  const gpu_array<std::int64_t> device_begins(begins), device_ends(ends);
  const auto sum = reducers::make_reducer(number_of<T>{}, plus{}, same_number{});
  const gpu_array<char> memory(static_cast<std::int64_t>(sizeof(T)) * 30000 + 16);
  for (std::size_t shift = 0; shift < 8; shift += alignof(T)) {
    auto* const first = reinterpret_cast<T*>(memory.data() + shift);
    must(cudaMemcpy(first, items.data(), items.size() * sizeof(T), cudaMemcpyDefault));
    gpu_array<std::uint64_t> out(static_cast<std::int64_t>(all.size()));
    segmented_reduce(exec, static_cast<const T*>(first), device_begins.data(), device_ends.data(),
                     all.size(), out.data(), std::uint64_t{0}, sum);
    const auto got = out.to_host();
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::uint64_t expected = 0;
      for (std::int64_t k = all[i].first; k < all[i].second; ++k) {
        expected += number_of<T>{}(items[static_cast<std::size_t>(k)]);
      }
      ASSERT_EQ(got[i], expected) << "segment " << i << ", shift " << shift;
    }
    // Those in a row once more, by their offsets.
    gpu_array<std::uint64_t> by_offsets(num_in_a_row);
    segmented_reduce(exec, static_cast<const T*>(first), device_offsets.data(), num_in_a_row,
                     by_offsets.data(), std::uint64_t{0}, sum);
    const auto same = by_offsets.to_host();
    for (std::size_t i = 0; i < same.size(); ++i) {
      ASSERT_EQ(same[i], got[i]) << "segment " << i << " by offsets, shift " << shift;
    }
  }
}

TEST_F(CudaForest, Bytes) { items_at_every_address<std::uint8_t>(exec_); }
TEST_F(CudaForest, PairsOfBytes) { items_at_every_address<odd_pair>(exec_); }
TEST_F(CudaForest, ThreeBytes) { items_at_every_address<odd_triple>(exec_); }
TEST_F(CudaForest, WordsOfTwoBytes) { items_at_every_address<std::uint16_t>(exec_); }

TEST_F(CudaForest, WaitsForNothingInsideACapture) {
  const segments all = in_a_row(std::vector<std::int64_t>(10, 100));
  const index_items items(1000);
  gpu_array<lifted_hash> out(10);
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(
      segmented_reduce(exec_, items.at(1), 10, 100, out.data(), initial, lifted_node_hash{}),
      capture_error);
  segmented_reduce_into(exec_, items.at(1), 10, 100, out.data(), initial, lifted_node_hash{});
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  must(cudaGraphLaunch(launchable, exec_.stream()));
  exec_.synchronize();
  EXPECT_TRUE(same_trees(out.to_host(), trees_of(all), all));
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

// The same segment at every offset, alone and among others, has one value: that of reduce().
TEST_F(CudaForest, PlaceAndBatchDoNotMatter) {
  std::mt19937_64 bits(seed());
  std::vector<float> items(5000);
  for (float& x : items) x = static_cast<float>(static_cast<double>(bits()) * 1e-15 - 9000.0);
  const gpu_array<float> array(20000);
  for (const std::int64_t length : {1, 7, 31, 64, 100, 129, 1000, 4999}) {
    for (int offset = 0; offset < 128; offset += (length > 200 ? 17 : 1)) {
      must(cudaMemcpy(array.data() + offset, items.data(),
                      static_cast<std::size_t>(length) * sizeof(float), cudaMemcpyDefault));
      const float* const first = array.data() + offset;
      const float expected = reduce(exec_, first, first + length);
      for (const int batch : {1, 5, 4096}) {
        std::vector<std::int64_t> begins(static_cast<std::size_t>(batch)), ends;
        for (std::size_t i = 0; i < begins.size(); ++i) {
          begins[i] = static_cast<std::int64_t>(bits() % 100);
          ends.push_back(begins[i] + static_cast<std::int64_t>(bits() % 2000));
        }
        const std::size_t chosen = bits() % begins.size();
        begins[chosen] = offset;
        ends[chosen] = offset + length;
        const gpu_array<std::int64_t> device_begins(begins), device_ends(ends);
        gpu_array<float> out(batch);
        segmented_reduce(exec_, array.data(), device_begins.data(), device_ends.data(), batch,
                         out.data());
        const float got = out.to_host()[chosen];
        ASSERT_EQ(__builtin_bit_cast(std::uint32_t, got),
                  __builtin_bit_cast(std::uint32_t, expected))
            << "length " << length << ", offset " << offset << ", batch " << batch;
      }
    }
  }
}

// Batches of every size from 1 to 4096. The same row stands at 128 places of an array, at every
// offset modulo 128, and here and there in each batch of segments; and is every row of a matrix.
class EveryBatch : public CudaForest {
 protected:
  static constexpr std::int64_t most = 4096;
  static constexpr std::int64_t copies = 128;
  static constexpr std::int64_t spacing = 1129;  // odd: copy k stands at another offset modulo 128
  static constexpr std::int64_t results = most * (most + 1) / 2;

  EveryBatch() : out_(results) {}

  // Segments of which one in 128, number 0 first, is the row.
  void make_segments(std::int64_t length) {
    begins_.clear();
    ends_.clear();
    for (std::int64_t i = 0; i < 2 * most + copies; ++i) {
      const bool is_row = i % copies == 0;
      const std::int64_t begin =
          is_row ? i / copies * 37 % copies * spacing : static_cast<std::int64_t>(bits_() % 100000);
      begins_.push_back(static_cast<std::int32_t>(begin));
      ends_.push_back(static_cast<std::int32_t>(
          begin + (is_row ? length : static_cast<std::int64_t>(bits_() % 300))));
    }
  }
  // Where the segments of a batch begin, so that the first row among them is one of its first.
  static std::int64_t start_of(std::int64_t batch) {
    return copies * (batch % 31 + 1) - batch * 7919 % std::min(batch, copies);
  }
  static bool has_bits(float got, float expected) {
    return __builtin_bit_cast(std::uint32_t, got) == __builtin_bit_cast(std::uint32_t, expected);
  }

  std::mt19937_64 bits_{seed()};
  std::vector<std::int32_t> begins_, ends_;
  gpu_array<float> out_;
};

TEST_F(EveryBatch, OfSegmentsGivesTheSameBits) {
  for (const std::int64_t length : {7, 101, 999}) {
    auto items = make_items<float>(pattern::mixed, copies * spacing, bits_());
    const auto row = make_items<float>(pattern::mixed, length, bits_());
    for (std::int64_t k = 0; k < copies; ++k) {
      std::copy(row.begin(), row.end(), items.begin() + k * spacing);
    }
    make_segments(length);
    const gpu_array<float> array(items);
    const gpu_array<std::int32_t> begins(begins_), ends(ends_);
    std::int64_t done = 0;
    for (std::int64_t batch = 1; batch <= most; done += batch++) {
      const std::int64_t start = start_of(batch);
      segmented_reduce_into(exec_, array.data(), begins.data() + start, ends.data() + start, batch,
                            out_.data() + done);
    }
    const float expected = reduce(exec_, array.data(), array.data() + length);
    const auto got = out_.to_host();
    done = 0;
    std::int64_t rows = 0;
    for (std::int64_t batch = 1; batch <= most; done += batch++) {
      for (std::int64_t i = 0; i < batch; ++i) {
        if ((start_of(batch) + i) % copies != 0) continue;
        ++rows;
        ASSERT_TRUE(has_bits(got[static_cast<std::size_t>(done + i)], expected))
            << "length " << length << ", segment " << i << " of " << batch;
      }
    }
    ASSERT_GE(rows, most);
  }
}

TEST_F(EveryBatch, OfRowsGivesTheSameBits) {
  for (const std::int64_t length : {7, 101, 999}) {
    const auto row = make_items<float>(pattern::mixed, length, bits_());
    std::vector<float> items;
    for (std::int64_t i = 0; i < most + copies; ++i) {
      items.insert(items.end(), row.begin(), row.end());
    }
    const gpu_array<float> array(items);
    std::int64_t done = 0;
    for (std::int64_t batch = 1; batch <= most; done += batch++) {
      segmented_reduce_into(exec_, array.data() + batch % copies * length, batch, length,
                            out_.data() + done);
    }
    const float expected = reduce(exec_, array.data(), array.data() + length);
    const auto got = out_.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(has_bits(got[i], expected)) << "length " << length << ", result " << i;
    }
  }
}

TEST_F(CudaForest, IndicesCountFromTheStartOfTheirSegment) {
  const std::int64_t n = 1 << 17;
  const index_items items(n);
  for (const std::int64_t length : {1,   2,   3,   4,   8,    16,   31,   32,    33,    64,   100,
                                    128, 256, 512, 513, 1024, 2048, 5000, 16384, 32768, 60000}) {
    const std::int64_t count = n / length;
    std::vector<std::uint64_t> expected;
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint64_t sum = 0;
      for (std::int64_t k = 0; k < length; ++k) {
        sum += weighted_by_place{}.lift(static_cast<std::uint32_t>(i * length + k), k);
      }
      expected.push_back(sum);
      offsets.push_back((i + 1) * length);
    }
    const gpu_array<std::int64_t> device_offsets(offsets);
    gpu_array<std::uint64_t> out(count);
    for (const int shift : {0, 1}) {
      segmented_reduce(exec_, items.at(shift), count, length, out.data(), weighted_by_place{});
      EXPECT_EQ(out.to_host(), expected) << "equal lengths of " << length << ", shift " << shift;
      segmented_reduce(exec_, items.at(shift), device_offsets.data(), count, out.data(),
                       weighted_by_place{});
      EXPECT_EQ(out.to_host(), expected) << "offsets, lengths of " << length;
      segmented_reduce(exec_, items.at(shift), device_offsets.data(), device_offsets.data() + 1,
                       count, out.data(), weighted_by_place{});
      EXPECT_EQ(out.to_host(), expected) << "begins and ends, lengths of " << length;
    }
  }
}

// From where to where a node goes; counts the nodes whose halves do not meet.
struct stretch {
  std::int64_t first;
  std::int64_t last;
};
struct join_neighbours {
  unsigned* strangers;

  __device__ stretch operator()(const stretch& a, const stretch& b) const {
    if (a.last + 1 != b.first) atomicAdd(strangers, 1u);
    return {a.first, b.last};
  }
};

TEST_F(CudaForest, CallsTheOperatorWithNeighboursOfOneSegmentAlone) {
  std::mt19937_64 bits(seed());
  std::vector<std::int64_t> offsets{0};
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t kind = bits() % 100;
    const std::uint64_t longest = kind == 0 ? 40000 : kind < 5 ? 2000 : 40;
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(bits() % longest));
  }
  // Segments do not meet: between them lies a number that nothing has.
  std::vector<stretch> items;
  const stretch none{-7, -7};
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const auto place = k + 2 * static_cast<std::int64_t>(i);
      items.push_back({place, place});
    }
  }
  const gpu_array<stretch> array(items);
  const gpu_array<unsigned> strangers(std::vector<unsigned>{0});
  const join_neighbours join{strangers.data()};
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const gpu_array<std::int64_t> device_offsets(offsets);
  gpu_array<stretch> out(segments);
  // The initial value is a stranger to every segment that has items, once.
  unsigned with_items = 0;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) with_items += offsets[i + 1] > offsets[i];
  segmented_reduce<stretch>(exec_, array.data(), device_offsets.data(), segments, out.data(), none,
                            join);
  EXPECT_EQ(strangers.to_host()[0], with_items);
  for (const std::int64_t length : {1, 2, 4, 7, 16, 64, 1000, 1024, 20000}) {
    const std::int64_t n = 40000 / length * length;
    std::vector<stretch> rows;
    for (std::int64_t k = 0; k < n; ++k) rows.push_back({k + k / length, k + k / length});
    const gpu_array<stretch> row_array(rows);
    must(cudaMemset(strangers.data(), 0, sizeof(unsigned)));
    gpu_array<stretch> row_out(n / length);
    segmented_reduce<stretch>(exec_, row_array.data(), n / length, length, row_out.data(), none,
                              join);
    EXPECT_EQ(strangers.to_host()[0], static_cast<unsigned>(n / length)) << "rows of " << length;
  }
}

}  // namespace
}  // namespace tilefold::test
