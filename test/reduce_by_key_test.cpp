// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key on the host: the runs that a serial oracle finds, of each its first key and the
// value that reduce() has for its items alone.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/random.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};

template <class Equal>
::testing::AssertionResult right_trees(const host_executor& exec, const std::vector<int>& keys,
                                       Equal equal) {
  std::vector<std::uint32_t> items(keys.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(i);
  auto heads = heads_of(keys, equal);
  const std::size_t runs = heads.size();
  std::vector<int> keys_out(runs);
  std::vector<lifted_hash> out(runs);
  const std::int64_t found =
      reduce_by_key(exec, keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin(),
                    equal, initial, lifted_node_hash{});
  if (found != static_cast<std::int64_t>(runs)) {
    return ::testing::AssertionFailure() << found << " runs where " << runs << " are";
  }
  heads.push_back(static_cast<std::int64_t>(keys.size()));
  for (std::size_t r = 0; r < runs; ++r) {
    if (keys_out[r] != keys[static_cast<std::size_t>(heads[r])]) {
      return ::testing::AssertionFailure() << "key of run " << r;
    }
    if (!(out[r] == hash_of_run(initial, heads[r], heads[r + 1]))) {
      return ::testing::AssertionFailure()
             << "value of run " << r << " [" << heads[r] << ", " << heads[r + 1] << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult right(const host_executor& exec,
                                 const std::vector<std::int64_t>& lengths) {
  return right_trees(exec, keys_of_runs(lengths, 1), same_tens{});
}

TEST(ReduceByKey, EveryLengthAloneAndWithOthers) {
  const host_executor exec(1);
  for (const std::int64_t n : landmark_sizes(12, 20, seed())) {
    EXPECT_TRUE(right(exec, {n})) << n;
    EXPECT_TRUE(right(exec, {1, n, 2, n + 1})) << n;
  }
}

TEST(ReduceByKey, RandomShapes) {
  shape_stream bits(seed());
  for (int shape = 0; shape < 10000; ++shape) {
    const std::uint64_t shape_seed = bits() >> 1;
    const auto n = static_cast<std::int64_t>(1 + bits() % 1000);
    ASSERT_TRUE(right(host_executor(1), random_lengths(n, shape_seed))) << shape_seed << ", " << n;
  }
}

// Long enough for several threads: chunks, runs that leave them, and runs that all threads share.
TEST(ReduceByKey, AnyNumberOfThreads) {
  const std::int64_t n = 1100000;
  for (const int threads : {1, 2, 3}) {
    const host_executor exec(threads);
    EXPECT_TRUE(right(exec, {n})) << threads;
    EXPECT_TRUE(right(exec, std::vector<std::int64_t>(n / 4, 1))) << threads;
    EXPECT_TRUE(right(exec, power_law_lengths(n, seed()))) << threads;
    EXPECT_TRUE(right(exec, {5, 700000, 1, 300000, 16384, 16384, 3})) << threads;
    for (const std::int64_t length : {63, 64, 65, 16383, 16384, 16385}) {
      EXPECT_TRUE(right(exec, lengths_of(n / 4, 1, [=](auto&) { return length; }))) << length;
    }
    EXPECT_TRUE(right(exec, random_lengths(n, seed()))) << threads;
  }
}

TEST(ReduceByKey, ComparesNeighboursLeftToRight) {
  shape_stream bits(seed());
  std::vector<int> keys;
  for (int i = 0; i < 300000; ++i) {
    keys.push_back(i % 10000 < 4000 ? i : static_cast<int>(bits() % 100));
  }
  EXPECT_TRUE(right_trees(host_executor(1), keys, ascends_gently{}));
  EXPECT_TRUE(right_trees(host_executor(2), keys, ascends_gently{}));
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

TEST(ReduceByKey, HasTheBitsOfReduceAndKeepsTheKeys) {
  shape_stream bits(seed());
  std::vector<float> keys, items;
  for (std::size_t i = 0; i < 300000; ++i) {
    keys.push_back(static_cast<float>(i / 300));
    // NaNs of many kinds, of which none equals anything.
    if (i % 997 < 3)
      keys[i] = __builtin_bit_cast(float, static_cast<std::uint32_t>(0xffc00001u + i % 1000));
    items.push_back(static_cast<float>(static_cast<double>(bits()) * 1e-15 - 9000.0));
  }
  auto heads = heads_of(keys, std::equal_to<>{});
  heads.push_back(static_cast<std::int64_t>(keys.size()));
  for (const int threads : {1, 2}) {
    std::vector<float> keys_out(keys.size()), out(keys.size());
    const auto runs = reduce_by_key(host_executor(threads), keys.data(), keys.data() + keys.size(),
                                    items.data(), keys_out.data(), out.data());
    ASSERT_EQ(runs, static_cast<std::int64_t>(heads.size()) - 1);
    for (std::size_t r = 0; r + 1 < heads.size(); ++r) {
      ASSERT_TRUE(same_bits(keys_out[r], keys[static_cast<std::size_t>(heads[r])])) << r;
      const std::vector<float> alone(items.begin() + heads[r], items.begin() + heads[r + 1]);
      ASSERT_TRUE(same_bits(out[r], neighbour_tree(std::plus<>{}, alone))) << r;
      ASSERT_TRUE(same_bits(out[r], tilefold::reduce(alone))) << r;
    }
  }
}

TEST(ReduceByKey, TakesWhatReduceTakes) {
  const std::vector<std::string> keys{"a", "b", "B", "b", "c", "C"};
  const std::vector<std::int8_t> items{100, 100, 100, 1, -1, 7};
  const auto caseless = [](const std::string& a, const std::string& b) {
    return std::tolower(a[0]) == std::tolower(b[0]);
  };
  std::vector<std::string> keys_out(6);
  std::vector<int> out(6);
  const auto call = [&](auto... rest) {
    return reduce_by_key(keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin(),
                         rest...);
  };
  EXPECT_EQ(call(), 6);
  EXPECT_EQ(call(maximum{}), 6);
  EXPECT_EQ(call(1000), 6);
  EXPECT_EQ(out[5], 1007);
  EXPECT_EQ(call(caseless, plus{}), 3);
  EXPECT_EQ(keys_out[2], "c");
  EXPECT_EQ(out[1], 201);
  EXPECT_EQ(call(1000, std::plus<>{}), 6);
  EXPECT_EQ(out[0], 1100);
  EXPECT_EQ(call(caseless, 1000, plus{}), 3);
  EXPECT_EQ(out[2], 1006);
  EXPECT_EQ(call(caseless, -5, minimum{}), 3);
  EXPECT_EQ(out[2], -5);
  EXPECT_EQ(call(caseless, [](int a, int b) { return 10 * a + b; }), 3);
  EXPECT_EQ(out[1], 11001);
  EXPECT_EQ(call(caseless, reducers::count{}), 3);
  EXPECT_EQ(out[1], 3);
  std::vector<std::int64_t> wide(6);
  std::int64_t runs = 0;
  reduce_by_key_into<std::int64_t>(host_executor(), keys.begin(), keys.end(), items.begin(),
                                   keys_out.begin(), wide.begin(), &runs, caseless, plus{});
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(wide[1], 201);
}

TEST(ReduceByKey, CountsIndicesFromTheRunAndTakesAnythingForOutput) {
  const std::vector<int> keys{1, 1, 1, 2, 2};
  const std::vector<float> items{3, 1, 2, 5, 4};
  std::vector<reducers::indexed_value<float>> out(2);
  std::vector<bool> keys_out(2);
  EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin(),
                          reducers::arg_min{}),
            2);
  EXPECT_EQ(out[0].index, 1);
  EXPECT_EQ(out[1].index, 1);
  EXPECT_EQ(out[1].value, 4.0f);
}

struct same_decade {
  bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

// docs/by_key.md
TEST(ReduceByKey, Example) {
  std::vector<int> keys{7, 7, 9, 9, 9, 7};
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  std::vector<int> groups(6);
  std::vector<float> sums(6);
  std::int64_t runs = tilefold::reduce_by_key(keys.begin(), keys.end(), values.begin(),
                                              groups.begin(), sums.begin());
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(groups, (std::vector<int>{7, 9, 7, 0, 0, 0}));
  EXPECT_EQ(sums, (std::vector<float>{3, 12, 6, 0, 0, 0}));

  std::vector<int> years{1991, 1995, 2001, 2003, 2004, 2011};
  std::vector<double> amounts{1, 2, 4, 8, 16, 32}, largest(6);
  std::vector<int> decades(6);
  tilefold::reduce_by_key(years.begin(), years.end(), amounts.begin(), decades.begin(),
                          largest.begin(), same_decade{}, 10.0, tilefold::maximum{});
  EXPECT_EQ(decades, (std::vector<int>{1991, 2001, 2011, 0, 0, 0}));
  EXPECT_EQ(largest, (std::vector<double>{10, 16, 32, 0, 0, 0}));
}

// Neighbouring bits share a word, which two threads must not write.
TEST(ReduceByKey, WritesBitsOfAVector) {
  std::vector<int> keys, items;
  for (int i = 0; i < 400000; ++i) keys.push_back(i / 2), items.push_back(i % 3 == 0);
  std::vector<bool> out(200000);
  std::vector<int> keys_out(200000);
  EXPECT_EQ(reduce_by_key(host_executor(4), keys.begin(), keys.end(), items.begin(),
                          keys_out.begin(), out.begin(), logical_or{}),
            200000);
  for (std::size_t r = 0; r < out.size(); ++r) {
    ASSERT_EQ(out[r], items[2 * r] != 0 || items[2 * r + 1] != 0) << r;
  }
}

TEST(ReduceByKey, NoKeysAreNoRuns) {
  const std::vector<int> none;
  std::vector<int> out(1, 5);
  std::int64_t runs = 7;
  EXPECT_EQ(reduce_by_key(none.begin(), none.end(), none.begin(), out.begin(), out.begin()), 0);
  reduce_by_key_into(host_executor(), none.begin(), none.end(), none.begin(), out.begin(),
                     out.begin(), &runs);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(out[0], 5);
}

TEST(ReduceByKey, WhatAComparisonThrowsArrives) {
  std::vector<int> keys(600000, 1), out(600000);
  const auto fails = [](int, int) -> bool { throw std::string("no"); };
  for (const int threads : {1, 2}) {
    EXPECT_THROW(reduce_by_key(host_executor(threads), keys.begin(), keys.end(), keys.begin(),
                               out.begin(), out.begin(), fails, plus{}),
                 std::string);
  }
}

TEST(ReduceByKey, RefusesBackwardRangesAndNullPointers) {
  std::vector<int> keys{1, 1, 2}, out(3);
  // Volatile, or the compiler would see what it must not.
  const int* volatile null_items = nullptr;
  int* volatile null_out = nullptr;
  const int* const none = null_items;
  int* const nowhere = null_out;
  const int* const first = keys.data();
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  const host_executor exec;
  EXPECT_EQ(message([&] { reduce_by_key(exec, first + 3, first, first, out.data(), out.data()); }),
            "tilefold::reduce_by_key: last lies 3 items before first");
  const std::string null = " is a null pointer, but there is something to read or write";
  EXPECT_EQ(message([&] { reduce_by_key(exec, first, first + 3, none, out.data(), out.data()); }),
            "tilefold: values" + null);
  EXPECT_EQ(message([&] { reduce_by_key(exec, first, first + 3, first, nowhere, out.data()); }),
            "tilefold: keys_out" + null);
  EXPECT_EQ(message([&] { reduce_by_key(exec, first, first + 3, first, out.data(), nowhere); }),
            "tilefold: values_out" + null);
  std::int64_t* volatile null_runs = nullptr;
  std::int64_t* const no_runs = null_runs;
  EXPECT_EQ(message([&] {
              reduce_by_key_into(exec, first, first + 3, first, out.data(), out.data(), no_runs);
            }),
            "tilefold: num_runs_out" + null);
  EXPECT_EQ(out, (std::vector<int>{0, 0, 0}));
}

}  // namespace
}  // namespace tilefold::test
