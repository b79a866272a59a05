// SPDX-License-Identifier: Apache-2.0
//
// Segmented reductions on the host: every segment's value is that of reduce() over the segment
// alone, and of the oracle.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

// Lengths that follow each other: many short ones, some empty, a few long ones.
std::vector<std::int64_t> mixed_lengths(int count) {
  shape_stream bits(seed());
  std::vector<std::int64_t> lengths{0, 1, 2, 3, 31, 32, 33, 300000};
  for (int i = 0; i < count; ++i) {
    const auto level = bits() % 8;
    lengths.push_back(static_cast<std::int64_t>(bits() % (std::uint64_t{1} << level)));
    if (i % 1000 == 0) lengths.push_back(static_cast<std::int64_t>(bits() % 300000));
  }
  return lengths;
}

template <class Offset>
std::vector<Offset> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<Offset> offsets{0};
  for (const auto length : lengths) offsets.push_back(static_cast<Offset>(offsets.back() + length));
  return offsets;
}

bool same_bits(float a, float b) {
  return __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b);
}

template <class Offset, class Exec>
void folds_floats_like_reduce(const Exec& exec) {
  const auto lengths = mixed_lengths(5000);
  const auto offsets = offsets_of<Offset>(lengths);
  const auto items = mixed_floats(static_cast<std::int64_t>(offsets.back()), seed());
  std::vector<float> out(lengths.size(), 7.0f);
  segmented_reduce(exec, items.data(), offsets.begin(), lengths.size(), out.begin());
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::vector<float> alone(items.begin() + static_cast<std::int64_t>(offsets[i]),
                                   items.begin() + static_cast<std::int64_t>(offsets[i + 1]));
    const float expected =
        alone.empty() ? -0.0f : neighbour_tree([](float a, float b) { return a + b; }, alone);
    ASSERT_TRUE(same_bits(out[i], expected)) << "segment " << i << " of " << lengths[i];
    ASSERT_TRUE(same_bits(reduce(exec, alone), expected)) << "segment " << i;
  }
}

TEST(SegmentedReduce, SumsEachSegmentAsReduceDoes) {
  folds_floats_like_reduce<std::int32_t>(host_executor());
  folds_floats_like_reduce<std::uint64_t>(host_executor(3));
  folds_floats_like_reduce<std::int64_t>(host_executor(1));
}

// Items that are their own index; the value of a segment spells where it began and ended.
lifted_hash tree_of(std::int64_t begin, std::int64_t end, const lifted_hash& initial) {
  if (begin >= end) return initial;
  running_fold<lifted_node_hash, lifted_hash> fold(lifted_node_hash{});
  for (std::int64_t i = begin; i < end; ++i) fold.push(lifted_hash(leaf_hash(i)));
  return lifted_node_hash{}(initial, fold.value());
}

template <class Offset>
void keeps_the_order_of(const host_executor& exec, const std::vector<std::uint32_t>& items,
                        const std::vector<Offset>& offsets) {
  const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};
  std::vector<lifted_hash> out(offsets.size() - 1);
  segmented_reduce(exec, items.data(), offsets.begin(), out.size(), out.begin(), initial,
                   lifted_node_hash{});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(offsets[i]);
    const auto end = static_cast<std::int64_t>(offsets[i + 1]);
    ASSERT_EQ(out[i], tree_of(begin, end, initial))
        << "segment " << i << " from " << begin << " to " << end << " of " << out.size();
  }
}

std::vector<std::uint32_t> indices(std::int64_t n) {
  std::vector<std::uint32_t> items;
  for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<std::uint32_t>(i));
  return items;
}

std::vector<std::int32_t> offsets_from(std::int64_t begin,
                                       const std::vector<std::int64_t>& lengths) {
  std::vector<std::int32_t> offsets{static_cast<std::int32_t>(begin)};
  for (const auto length : lengths) {
    offsets.push_back(static_cast<std::int32_t>(offsets.back() + length));
  }
  return offsets;
}

// 10^5 calls of segments up to 300, then some of segments up to a million.
TEST(SegmentedReduce, KeepsTheOrderInRandomShapes) {
  shape_stream bits(seed());
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>((bits() >> 1) % static_cast<std::uint64_t>(bound));
  };
  const auto items = indices(4200000);
  const host_executor exec(3);
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t longest = below(301);
    const std::int64_t count = 1 + below(std::int64_t{1} << below(5));
    keeps_the_order_of(exec, items,
                       offsets_from(below(1000), random_lengths(bits, count, longest)));
    if (HasFatalFailure()) FAIL() << "shape " << i;
  }
  for (int i = 0; i < 20; ++i) {
    const std::int64_t longest = 1 + below(std::int64_t{1} << below(21));
    const std::int64_t count = 1 + below(std::min<std::int64_t>(2000000 / longest + 1, 20000));
    keeps_the_order_of(exec, items,
                       offsets_from(below(1000), random_lengths(bits, count, longest)));
    if (HasFatalFailure()) FAIL() << "long shape " << i;
  }
}

// The same row at every offset of an array, alone and in batches of segments and rows.
TEST(SegmentedReduce, PlaceAndBatchDoNotMatter) {
  shape_stream bits(seed());
  for (const std::int64_t length : {1, 7, 31, 32, 33, 100, 1000}) {
    const auto row = mixed_floats(length, seed());
    const float expected = reduce(host_executor(1), row);
    std::vector<float> rows;
    for (int i = 0; i < 4096; ++i) rows.insert(rows.end(), row.begin(), row.end());
    for (std::int64_t offset = 0; offset < 128; ++offset) {
      auto array = mixed_floats(1200, seed());
      std::copy(row.begin(), row.end(), array.begin() + offset);
      const std::size_t batch = offset == 0 ? 1 : 1 + bits() % 4096;
      const auto place = static_cast<std::size_t>(bits() % batch);
      std::vector<std::int32_t> begins(batch), ends(batch);
      for (std::size_t i = 0; i < batch; ++i) {
        begins[i] = static_cast<std::int32_t>(bits() % 1000);
        ends[i] = begins[i] + static_cast<std::int32_t>(bits() % 100);
      }
      begins[place] = static_cast<std::int32_t>(offset);
      ends[place] = static_cast<std::int32_t>(offset + length);
      std::vector<float> out(batch);
      segmented_reduce(host_executor(), array.data(), begins.begin(), ends.begin(), batch,
                       out.begin());
      ASSERT_TRUE(same_bits(out[place], expected)) << length << " at " << offset << " in " << batch;
      segmented_reduce(host_executor(), rows.data(), batch, length, out.begin());
      for (const float got : out) ASSERT_TRUE(same_bits(got, expected)) << length << ", " << batch;
    }
  }
}

TEST(SegmentedReduce, TakesGapsAndOverlaps) {
  const std::vector<int> items{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::uint8_t> begins{0, 2, 7, 5, 3}, ends{8, 4, 8, 5, 6};
  std::vector<int> out(5);
  segmented_reduce(items.begin(), begins.begin(), ends.begin(), 5, out.begin());
  EXPECT_EQ(out, (std::vector<int>{36, 7, 8, 0, 15}));
}

TEST(SegmentedReduce, TakesEqualLengths) {
  const auto items = mixed_floats(100000, seed());
  for (const std::int64_t size : {0, 1, 3, 64, 1000, 33333, 100000}) {
    const std::int64_t count = size == 0 ? 5 : 100000 / size;
    std::vector<float> out(static_cast<std::size_t>(count), 7.0f);
    segmented_reduce(host_executor(), items.data(), count, size, out.data(), maximum{});
    for (std::int64_t i = 0; i < count; ++i) {
      const float* const first = items.data() + i * size;
      const float expected = size == 0 ? -std::numeric_limits<float>::infinity()
                                       : *std::max_element(first, first + size);
      ASSERT_TRUE(same_bits(out[static_cast<std::size_t>(i)], expected)) << size << ", " << i;
    }
  }
}

TEST(SegmentedReduce, NamesTheAccumulatorAndTakesAnInitialValue) {
  const std::vector<std::int8_t> items{100, 100, 100, -1};
  std::vector<std::int64_t> out(2);
  segmented_reduce<std::int64_t>(items.begin(), 2, 2, out.begin(), 1000);
  EXPECT_EQ(out, (std::vector<std::int64_t>{1200, 1099}));
}

TEST(SegmentedReduce, TakesReducersAndCountsIndicesFromTheSegment) {
  const std::vector<float> items{3, 1, 2, 5, 4, 0, 7, -7, 9};
  const std::vector<int> offsets{0, 3, 3, 9};
  const auto at_minimum = reducers::arg_min{};
  std::vector<reducers::indexed_value<float>> out(3);
  const auto none = at_minimum.lift(100.0f, std::int64_t{-1});
  segmented_reduce(items.begin(), offsets.begin(), 3, out.begin(), none, at_minimum);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto alone = tilefold::reduce(items.begin() + offsets[i], items.begin() + offsets[i + 1],
                                        none, at_minimum);
    EXPECT_EQ(out[i].value, alone.value) << i;
    EXPECT_EQ(out[i].index, alone.index) << i;
  }
  EXPECT_EQ(out[2].index, 4);
  EXPECT_EQ(out[1].index, -1);
}

TEST(SegmentedReduce, WritesNothingForNoSegments) {
  std::vector<float> items{1.0f}, out{5.0f};
  segmented_reduce(items.begin(), 0, 10, out.begin());
  const std::vector<int> offsets{0};
  segmented_reduce(items.begin(), offsets.begin(), 0, out.begin());
  EXPECT_EQ(out[0], 5.0f);
}

// What an empty std::vector leads to.
TEST(SegmentedReduce, NullWillDoWhereNoSegmentHasItems) {
  const std::vector<float> nothing;
  const std::vector<int> offsets{0, 0, 0}, begins{5, 2}, ends{5, 1}, some{0, 0, 1};
  std::vector<float> out(2, 3.0f);
  segmented_reduce(nothing.data(), offsets.begin(), 2, out.begin(), 1.0f);
  EXPECT_EQ(out, std::vector<float>(2, 1.0f));
  segmented_reduce(nothing.begin(), offsets.begin(), 2, segment_bound(4), out.begin(), 2.0f);
  EXPECT_EQ(out, std::vector<float>(2, 2.0f));
  segmented_reduce(nothing.data(), begins.begin(), ends.begin(), 2, out.begin(), 3.0f);
  EXPECT_EQ(out, std::vector<float>(2, 3.0f));
  EXPECT_THROW(segmented_reduce(nothing.data(), some.begin(), 2, out.begin()), null_pointer_error);
}

TEST(SegmentedReduce, SegmentsOfNoItemsNeedNoMemory) {
  const float* volatile null_items = nullptr;
  std::vector<float> out(2, 5.0f);
  segmented_reduce(static_cast<const float*>(null_items), 2, 0, out.begin(), 1.0f);
  EXPECT_EQ(out, (std::vector<float>{1.0f, 1.0f}));
}

// Neighbouring bits share a word, which two threads must not write.
TEST(SegmentedReduce, WritesBitsOfAVector) {
  const std::int64_t n = 200000;
  std::vector<std::uint8_t> items;
  for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<std::uint8_t>(i % 3 == 0));
  for (int round = 0; round < 5; ++round) {
    std::vector<bool> out(static_cast<std::size_t>(n / 2));
    segmented_reduce(host_executor(4), items.begin(), n / 2, 2, out.begin(), logical_or{});
    for (std::int64_t i = 0; i < n / 2; ++i) {
      const auto k = static_cast<std::size_t>(2 * i);
      ASSERT_EQ(out[k / 2], items[k] != 0 || items[k + 1] != 0) << i;
    }
  }
}

TEST(SegmentedReduce, TakesAnArrayForItsResults) {
  const std::vector<int> items{1, 2, 3, 4};
  int out[2];
  segmented_reduce(items.begin(), 2, 2, out);
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 7);
}

TEST(SegmentedReduce, RefusesNegativeNumbersAndNullPointers) {
  std::vector<float> items{1.0f, 2.0f}, out(2);
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { segmented_reduce(items.data(), -3, 1, out.data()); }),
            "tilefold::segmented_reduce: the number of segments is -3");
  EXPECT_EQ(message([&] { segmented_reduce(items.data(), 1, -1, out.data()); }),
            "tilefold::segmented_reduce: the segment size is -1");
  // Volatile, or the compiler would see what it must not.
  EXPECT_EQ(message([&] { segmented_reduce(items.data(), std::int64_t{1} << 62, 16, out.data()); }),
            "tilefold::segmented_reduce: 4611686018427387904 segments of 16 items are more than a "
            "range can hold");
  const float* volatile null_items = nullptr;
  const int* volatile null_offsets = nullptr;
  const float* const nothing = null_items;
  EXPECT_NE(message([&] { segmented_reduce(nothing, 1, 1, out.data()); }).find("null"),
            std::string::npos);
  const int* const no_offsets = null_offsets;
  EXPECT_NE(
      message([&] { segmented_reduce(items.data(), no_offsets, 1, out.data()); }).find("offsets"),
      std::string::npos);
  EXPECT_EQ(out, (std::vector<float>{0.0f, 0.0f}));
}

}  // namespace
}  // namespace tilefold::test
