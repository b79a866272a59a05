// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_index on the host: each result has the value that reduce() has for its items alone, in
// the order in which they stand.
#include <algorithm>
#include <cfenv>
#include <complex>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reduce_by_index.hpp>
#include <tilefold/tilefold.hpp>

#include "support/indexed.hpp"
#include "support/items.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};

template <class Index>
::testing::AssertionResult right(const host_executor& exec, const std::vector<Index>& indices,
                                 std::int64_t num_results) {
  const auto items = own_positions(static_cast<std::int64_t>(indices.size()));
  std::vector<lifted_hash> out(static_cast<std::size_t>(num_results));
  reduce_by_index(exec, indices.begin(), indices.end(), items.begin(), num_results, out.begin(),
                  initial, lifted_node_hash{});
  const std::string text = differences(out, hashes_by_index(initial, indices, num_results));
  if (text.empty()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << text;
}

template <class Index>
void every_shape(const host_executor& exec, std::int64_t n, std::int64_t num_results,
                 std::uint64_t seed) {
  for (const index_shape shape : index_shapes) {
    EXPECT_TRUE(right(exec, indices_of<Index>(shape, n, num_results, seed), num_results))
        << name_of(shape) << " of " << n << " items, " << num_results << " results, seed " << seed;
  }
}

TEST(ReduceByIndex, EveryShapeAroundEdges) {
  const host_executor exec(1);
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 8191, 8192, 8193}) {
    for (const std::int64_t num_results : {1, 2, 3, 31, 32, 33, 255, 256, 257, 1000}) {
      every_shape<int>(exec, n, num_results, seed());
    }
  }
}

// Groups of one result each, of two, and of many; a last group that is not full.
TEST(ReduceByIndex, ManyResults) {
  const host_executor exec(1);
  for (const std::int64_t num_results : {2047, 2048, 2049, 4095, 4096, 4097, 5000, 300001}) {
    for (const std::int64_t n : {0, 1, 5000, 70001}) {
      every_shape<std::int64_t>(exec, n, num_results, seed());
    }
  }
}

TEST(ReduceByIndex, IntegersOfAnyType) {
  const host_executor exec(1);
  for (const std::int64_t num_results : {1, 100, 127, 128, 129, 255, 256, 257, 40000, 70000}) {
    every_shape<std::int8_t>(exec, 5000, num_results, seed());
    every_shape<std::uint8_t>(exec, 5000, num_results, seed());
    every_shape<std::int16_t>(exec, 5000, num_results, seed());
    every_shape<std::uint16_t>(exec, 5000, num_results, seed());
    every_shape<std::uint32_t>(exec, 5000, num_results, seed());
    every_shape<std::int64_t>(exec, 5000, num_results, seed());
    every_shape<std::uint64_t>(exec, 5000, num_results, seed());
  }
}

TEST(ReduceByIndex, RandomShapes) {
  shape_stream bits(seed());
  const host_executor exec(1);
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t shape_seed = bits() >> 1;
    const auto shape = index_shapes[bits() % std::size(index_shapes)];
    const std::int64_t n = bits.below(std::int64_t{1} << bits.below(13));
    const std::int64_t num_results = 1 + bits.below(std::int64_t{1} << bits.below(14));
    ASSERT_TRUE(right(exec, indices_of<int>(shape, n, num_results, shape_seed), num_results))
        << name_of(shape) << " of " << n << ", " << num_results << ", " << shape_seed;
  }
}

// Several chunks of items, and several groups of results.
TEST(ReduceByIndex, AnyNumberOfThreads) {
  for (const int threads : {1, 2, 3}) {
    const host_executor exec(threads);
    for (const std::int64_t num_results : {1, 1000, 2049, 100003}) {
      every_shape<std::uint32_t>(exec, 300000, num_results, seed());
    }
  }
  EXPECT_TRUE(right(host_executor(),
                    indices_of<int>(index_shape::power_law, 1000000, 70000, seed()), 70000));
}

// ---- values

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Whether each result has the bits of reduce() over its items.
template <class Result, class T, class... Op>
void same_as_reduce(const std::vector<int>& indices, const std::vector<T>& items,
                    std::int64_t num_results, const Op&... op) {
  for (const int threads : {1, 2}) {
    const host_executor exec(threads);
    std::vector<Result> out(static_cast<std::size_t>(num_results));
    reduce_by_index(exec, indices.begin(), indices.end(), items.begin(), num_results, out.begin(),
                    op...);
    const auto positions = positions_by_index(indices, num_results);
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::vector<T> mine;
      for (const std::int64_t j : positions[i]) mine.push_back(items[static_cast<std::size_t>(j)]);
      const Result expected = reduce(exec, mine.begin(), mine.end(), op...);
      ASSERT_TRUE(same_bits(out[i], expected)) << "result " << i << " of " << mine.size();
    }
  }
}

template <class T>
void floats_as_reduce() {
  const std::int64_t n = 40000;
  for (const index_shape shape : {index_shape::uniform, index_shape::power_law, index_shape::one,
                                  index_shape::outside, index_shape::rare}) {
    const auto indices = indices_of<int>(shape, n, 500, seed());
    for (const pattern p : {pattern::mixed, pattern::many_nans, pattern::zeros, pattern::subnormals,
                            pattern::both_infinities}) {
      SCOPED_TRACE(name_of(shape) + ", " + name_of(p));
      const auto items = make_items<T>(p, n, seed());
      same_as_reduce<T>(indices, items, 500);
      same_as_reduce<T>(indices, items, 500, T(3));
      same_as_reduce<T>(indices, items, 500, minimum{});
      same_as_reduce<T>(indices, items, 500, T(-0.5f), multiplies{});
      same_as_reduce<T>(indices, items, 500, r::exact_sum{});
    }
  }
}

TEST(ReduceByIndex, HasTheBitsOfReduceForFloats) {
  floats_as_reduce<float>();
  floats_as_reduce<double>();
}

TEST(ReduceByIndex, Statistics) {
  const std::int64_t n = 30000;
  const auto indices = indices_of<int>(index_shape::power_law, n, 300, seed());
  const auto items = mixed_floats(n, seed());
  same_as_reduce<double>(indices, items, 300, if_empty(r::mean{}, 0.0));
  same_as_reduce<double>(indices, items, 300, if_empty(r::variance{}, -1.0));
  same_as_reduce<double>(indices, items, 300, r::l2{});
  same_as_reduce<std::int64_t>(indices, items, 300, r::count{});
}

// Wrong by a little: a sum that is not in the order of positions differs in its last bits.
TEST(ReduceByIndex, TheOrderShows) {
  const std::int64_t n = 30000;
  const auto indices = indices_of<int>(index_shape::uniform, n, 7, seed());
  const auto items = mixed_floats(n, seed());
  std::vector<float> out(7), reversed(7);
  reduce_by_index(indices.begin(), indices.end(), items.begin(), 7, out.begin());
  reduce_by_index(indices.rbegin(), indices.rend(), items.rbegin(), 7, reversed.begin());
  EXPECT_NE(out, reversed);
}

TEST(ReduceByIndex, IndicesOfAReducerArePositionsInTheInput) {
  const std::vector<int> indices{2, 0, 2, 9, 0, 2, 0};
  const std::vector<float> items{5, 3, 1, -7, 3, 1, 8};
  std::vector<r::indexed_value<float>> out(3);
  reduce_by_index(indices.begin(), indices.end(), items.begin(), 3, out.begin(),
                  if_empty(r::arg_min{}, r::indexed_value<float>{0, -1}));
  EXPECT_EQ(out[0].value, 3);
  EXPECT_EQ(out[0].index, 1);
  EXPECT_EQ(out[1].index, -1);
  EXPECT_EQ(out[2].value, 1);
  EXPECT_EQ(out[2].index, 2);

  const std::int64_t n = 300000;
  const auto many = indices_of<int>(index_shape::power_law, n, 5000, seed());
  const auto values = mixed_floats(n, seed());
  for (const int threads : {1, 2}) {
    std::vector<r::indexed_value<float>> found(5000);
    reduce_by_index(host_executor(threads), many.begin(), many.end(), values.begin(), 5000,
                    found.begin(), if_empty(r::arg_max{}, r::indexed_value<float>{0, -1}));
    const auto positions = positions_by_index(many, 5000);
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::int64_t expected = -1;
      for (const std::int64_t j : positions[i]) {
        if (expected < 0 ||
            values[static_cast<std::size_t>(j)] > values[static_cast<std::size_t>(expected)])
          expected = j;
      }
      ASSERT_EQ(found[i].index, expected) << i;
    }
  }
}

struct concatenation {
  std::string operator()(const std::string& a, const std::string& b) const { return a + b; }
};

TEST(ReduceByIndex, ItemsThatAreNotPlain) {
  const std::vector<std::uint8_t> indices{1, 0, 1, 1, 0, 3};
  const std::vector<std::string> words{"a", "b", "c", "d", "e", "f"};
  std::vector<std::string> out(4);
  reduce_by_index(indices.begin(), indices.end(), words.begin(), 4, out.begin(), std::string(">"),
                  concatenation{});
  EXPECT_EQ(out, (std::vector<std::string>{">be", ">acd", ">", ">f"}));
}

/// Bytes without a default constructor, folded by an operator that does not commute.
template <int Bytes>
struct word_of_bytes {
  explicit word_of_bytes(std::uint64_t value) {
    for (int b = 0; b < Bytes; ++b) bytes[b] = static_cast<std::uint8_t>(value >> 8 * (b % 8));
  }
  std::uint8_t bytes[Bytes];
};
template <int Bytes>
struct mixing {
  word_of_bytes<Bytes> operator()(const word_of_bytes<Bytes>& a,
                                  const word_of_bytes<Bytes>& b) const {
    word_of_bytes<Bytes> result(0);
    for (int i = 0; i < Bytes; ++i) {
      result.bytes[i] =
          static_cast<std::uint8_t>(3 * a.bytes[i] + (b.bytes[(i + 1) % Bytes] ^ 0x5a));
    }
    return result;
  }
};

/// The neighbour tree, node by node: neighbours are combined until one value is left.
template <class T, class Op>
T tree_of(std::vector<T> values, const Op& op) {
  while (values.size() > 1) {
    std::vector<T> parents;
    for (std::size_t i = 0; i < values.size(); i += 2) {
      parents.push_back(i + 1 < values.size() ? op(values[i], values[i + 1]) : values[i]);
    }
    values = parents;
  }
  return values[0];
}

// Items of up to 16 bytes are sorted themselves, others by their positions.
template <int Bytes>
void items_of_bytes() {
  using item = word_of_bytes<Bytes>;
  const std::int64_t n = 140000;
  for (const std::int64_t num_results : {7, 3000}) {
    SCOPED_TRACE(std::to_string(Bytes) + " bytes, " + std::to_string(num_results) + " results");
    const auto indices = indices_of<int>(index_shape::uniform, n, num_results, seed());
    std::vector<item> items;
    for (std::int64_t j = 0; j < n; ++j) {
      items.emplace_back(0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(j));
    }
    std::vector<item> out(static_cast<std::size_t>(num_results), item(0));
    reduce_by_index(host_executor(2), indices.begin(), indices.end(), items.data(), num_results,
                    out.begin(), item(1), mixing<Bytes>{});
    const auto positions = positions_by_index(indices, num_results);
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::vector<item> mine;
      for (const std::int64_t j : positions[i]) mine.push_back(items[static_cast<std::size_t>(j)]);
      const item expected =
          mine.empty() ? item(1) : mixing<Bytes>{}(item(1), tree_of(mine, mixing<Bytes>{}));
      ASSERT_TRUE(same_bits(out[i], expected)) << "result " << i << " of " << mine.size();
    }
  }
}

TEST(ReduceByIndex, ItemsOfAnySize) {
  items_of_bytes<3>();
  items_of_bytes<16>();
  items_of_bytes<17>();
}

// ---- forms of a call

/// Index j is j modulo `period`. Not a pointer, and reads no memory.
struct periodic {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using reference = std::int64_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  std::int64_t period;
  std::int64_t at = 0;

  std::int64_t operator*() const { return at % period; }
  std::int64_t operator[](std::int64_t i) const { return (at + i) % period; }
  friend periodic operator+(periodic it, std::int64_t n) { return {it.period, it.at + n}; }
  friend std::int64_t operator-(const periodic& a, const periodic& b) { return a.at - b.at; }
};

TEST(ReduceByIndex, IteratorsThatAreNoPointers) {
  const std::int64_t n = 100000;
  std::vector<int> indices;
  for (std::int64_t j = 0; j < n; ++j) indices.push_back(static_cast<int>(j % 1000));
  const auto items = mixed_floats(n, seed());
  std::vector<float> out(1000), expected(1000);
  const periodic first{1000};
  reduce_by_index(first, first + n, items.begin(), 1000, out.begin());
  reduce_by_index(indices.begin(), indices.end(), items.begin(), 1000, expected.begin());
  EXPECT_EQ(out, expected);

  std::vector<bool> halves, bits(2);
  for (std::int64_t j = 0; j < 100; ++j) halves.push_back(j % 3 == 0);
  reduce_by_index(halves.begin(), halves.end(), halves.begin(), 2, bits.begin(), logical_and{});
  EXPECT_EQ(bits, (std::vector<bool>{false, true}));
}

TEST(ReduceByIndex, NoItems) {
  const std::vector<int> none;
  const std::vector<float> no_items;
  std::vector<float> out(3, 7.0f);
  reduce_by_index(none.begin(), none.end(), no_items.begin(), 3, out.begin());
  EXPECT_EQ(out, std::vector<float>(3, 0.0f));
  EXPECT_TRUE(std::signbit(out[0]));
  reduce_by_index(none.begin(), none.end(), no_items.begin(), 3, out.begin(), 5.0f);
  EXPECT_EQ(out, std::vector<float>(3, 5.0f));
  reduce_by_index(none.begin(), none.end(), no_items.begin(), 3, out.begin(),
                  if_empty(r::mean{}, 2.0f));
  EXPECT_EQ(out, std::vector<float>(3, 2.0f));
  const int* const null_indices = nullptr;
  const float* const null_items = nullptr;
  reduce_by_index(null_indices, null_indices, null_items, 3, out.begin());
  EXPECT_EQ(out, std::vector<float>(3, 0.0f));
}

TEST(ReduceByIndex, NoResults) {
  const std::vector<int> indices{0, 1};
  const std::vector<float> items{1, 2};
  float untouched = 7;
  reduce_by_index(indices.begin(), indices.end(), items.begin(), 0, &untouched);
  EXPECT_EQ(untouched, 7);
}

TEST(ReduceByIndex, WritesNothingElse) {
  const auto indices = indices_of<int>(index_shape::outside, 100000, 100, seed());
  const auto items = mixed_floats(100000, seed());
  std::vector<float> out(102, 7.0f);
  reduce_by_index(indices.begin(), indices.end(), items.begin(), 100, out.begin() + 1);
  EXPECT_EQ(out.front(), 7.0f);
  EXPECT_EQ(out.back(), 7.0f);
}

TEST(ReduceByIndex, ExecutorsAndPolicies) {
  const std::vector<int> indices{1, 0, 1};
  const std::vector<float> items{1, 2, 4};
  const std::vector<double> expected{2, 5};
  host_executor exec;
  std::vector<double> out(2);
  const auto again = [&] {
    EXPECT_EQ(out, expected);
    out.assign(2, 0);
  };
  reduce_by_index<double>(exec, indices.begin(), indices.end(), items.begin(), 2, out.begin());
  again();
  reduce_by_index_into(exec, indices.begin(), indices.end(), items.begin(), 2u, out.begin());
  again();
  reduce_by_index(with_policy<tile_policy{64, 4}>(exec), indices.begin(), indices.end(),
                  items.begin(), 2, out.begin());
  again();
  reduce_by_index(checked(with_policy<tile_policy{64, 4}>(exec)), indices.begin(), indices.end(),
                  items.begin(), 2, out.begin());
  again();
}

// ---- what is refused

template <class Index>
std::string complaint(const std::vector<Index>& indices, std::int64_t num_results) {
  host_executor exec;
  const std::vector<float> items(indices.size(), 1.0f);
  std::vector<float> out(static_cast<std::size_t>(num_results), 7.0f);
  const std::string text = message_of<index_error>([&] {
    reduce_by_index(checked(exec), indices.begin(), indices.end(), items.begin(), num_results,
                    out.begin());
  });
  if (text != "nothing was thrown") {
    EXPECT_EQ(out, std::vector<float>(out.size(), 7.0f));
  }
  return text;
}

TEST(ReduceByIndex, CheckedNamesTheFirstWrongIndex) {
  EXPECT_EQ(complaint<int>({0, 2, 1}, 3), "nothing was thrown");
  EXPECT_EQ(complaint<int>({}, 3), "nothing was thrown");
  EXPECT_EQ(complaint<int>({0, 2, 3, 1, 4}, 3),
            "tilefold::reduce_by_index: item 2 has the index 3, but there are 3 results");
  EXPECT_EQ(complaint<std::int8_t>({0, -5, 3}, 3),
            "tilefold::reduce_by_index: item 1 has the index -5, but there are 3 results");
  EXPECT_EQ(complaint<std::uint64_t>({~std::uint64_t{0}}, 3),
            "tilefold::reduce_by_index: item 0 has the index 18446744073709551615, but there are 3 "
            "results");
  EXPECT_EQ(complaint<std::uint8_t>({0}, 0),
            "tilefold::reduce_by_index: item 0 has the index 0, but there are 0 results");
  auto many = indices_of<int>(index_shape::uniform, 300000, 50, seed());
  many[123456] = many[234567] = 50;
  host_executor exec;
  const std::vector<float> items(many.size());
  std::vector<float> out(50);
  try {
    reduce_by_index(checked(exec), many.begin(), many.end(), items.begin(), 50, out.begin());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const index_error& error) {
    EXPECT_EQ(error.position(), 123456);
  }
}

/// Items whose index is 2 in the default floating mode, and 3 if sums are rounded up.
struct rounded_indices {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using reference = std::int64_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  std::int64_t at = 0;

  std::int64_t operator*() const { return (*this)[0]; }
  std::int64_t operator[](std::int64_t) const {
    volatile double sum = 1.0;
    sum = sum + 0x1p-60;
    return sum > 1.0 ? 3 : 2;
  }
  friend rounded_indices operator+(rounded_indices it, std::int64_t n) { return {it.at + n}; }
  friend std::int64_t operator-(rounded_indices a, rounded_indices b) { return a.at - b.at; }
};

// Else the check would accept other indices than the sort sees.
TEST(ReduceByIndex, CheckedReadsIndicesInTheDefaultFloatingMode) {
  const rounded_indices first;
  const std::vector<float> items(10, 1.0f);
  std::vector<float> out(3);
  const host_executor exec(1);
  const int before = std::fegetround();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  EXPECT_NO_THROW(reduce_by_index(checked(exec), first, first + 10, items.begin(), 3, out.begin()));
  std::fesetround(before);
  EXPECT_EQ(out[2], 10.0f);
}

TEST(ReduceByIndex, RefusesWrongNumbersAndPointers) {
  const std::vector<int> indices{0, 1};
  const std::vector<float> items{1, 2};
  std::vector<float> out(2);
  EXPECT_THROW(reduce_by_index(indices.begin(), indices.end(), items.begin(), -1, out.begin()),
               invalid_range_error);
  EXPECT_THROW(reduce_by_index(indices.end(), indices.begin(), items.begin(), 2, out.begin()),
               invalid_range_error);
  const int* const no_indices = nullptr;
  const float* const no_items = nullptr;
  float* const no_out = nullptr;
  EXPECT_THROW(reduce_by_index(no_indices, no_indices + 2, items.begin(), 2, out.begin()),
               null_pointer_error);
  EXPECT_THROW(reduce_by_index(indices.begin(), indices.end(), no_items, 2, out.begin()),
               null_pointer_error);
  EXPECT_THROW(reduce_by_index(indices.begin(), indices.end(), items.begin(), 2, no_out),
               null_pointer_error);
}

}  // namespace
}  // namespace tilefold::test
