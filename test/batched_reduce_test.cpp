// SPDX-License-Identifier: Apache-2.0
//
// Reductions of many arrays on the host: every array's value is that of reduce() over it, and of
// the oracle.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

// Arrays by themselves; nothing is where the next one would be.
template <class T>
struct separate_arrays {
  std::vector<std::vector<T>> arrays;
  std::vector<const T*> pointers;
  std::vector<std::int32_t> lengths;

  void add(std::vector<T> items) {
    pointers.push_back(items.empty() ? nullptr : items.data());
    lengths.push_back(static_cast<std::int32_t>(items.size()));
    arrays.push_back(std::move(items));
  }
};

std::vector<std::int64_t> lengths_of_arrays() {
  shape_stream bits(seed());
  std::vector<std::int64_t> lengths{0, 1, 2, 3, 31, 32, 33, 300000, 0};
  for (int i = 0; i < 40; ++i) {
    const auto more = random_lengths(bits, 50, 2000);
    lengths.insert(lengths.end(), more.begin(), more.end());
  }
  return lengths;
}

TEST(BatchedReduce, SumsEachArrayAsReduceDoes) {
  separate_arrays<float> batch;
  for (const std::int64_t n : lengths_of_arrays()) {
    batch.add(make_items<float>(pattern::mixed, n, batch.arrays.size() + seed()));
  }
  const auto add = [](float a, float b) { return a + b; };
  for (const int threads : {1, 3}) {
    const host_executor exec(threads);
    std::vector<float> out(batch.arrays.size(), 7.0f);
    batched_reduce(exec, batch.pointers.data(), batch.lengths.begin(), out.size(), out.begin());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto& array = batch.arrays[i];
      const float expected = array.empty() ? -0.0f : neighbour_tree(add, array);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(expected))
          << "array " << i << " of " << array.size();
      ASSERT_EQ(std::bit_cast<std::uint32_t>(tilefold::reduce(exec, array)),
                std::bit_cast<std::uint32_t>(expected));
    }
  }
}

TEST(BatchedReduce, KeepsTheOrderOfEachArray) {
  separate_arrays<std::uint32_t> batch;
  std::uint32_t next = 0;
  for (const std::int64_t n : lengths_of_arrays()) {
    std::vector<std::uint32_t> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(next++);
    batch.add(std::move(items));
  }
  const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};
  std::vector<lifted_hash> out(batch.arrays.size());
  batched_reduce(batch.pointers.begin(), batch.lengths.begin(), out.size(), out.begin(), initial,
                 lifted_node_hash{});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto& array = batch.arrays[i];
    lifted_hash expected = initial;
    if (!array.empty()) {
      running_fold<lifted_node_hash, lifted_hash> fold(lifted_node_hash{});
      for (const std::uint32_t item : array) fold.push(item);
      expected = lifted_node_hash{}(initial, fold.value());
    }
    ASSERT_EQ(out[i], expected) << "array " << i << " of " << array.size();
  }
}

TEST(BatchedReduce, TakesReducersAndCountsIndicesFromTheArray) {
  const std::vector<float> a{3, 1, 2}, b{5, 4, 0, 7, -7, 9};
  const std::vector<const float*> pointers{a.data(), nullptr, b.data()};
  const std::vector<std::uint8_t> lengths{3, 0, 6};
  const auto least_and_sum = reducers::fuse(reducers::arg_min{}, reducers::sum{});
  const auto none = least_and_sum.lift(100.0f, std::int64_t{-1});
  using result = decltype(tilefold::reduce(a, none, least_and_sum));
  std::vector<result> out(3, tilefold::reduce(a, none, least_and_sum));
  batched_reduce(pointers.begin(), lengths.begin(), 3, out.begin(), none, least_and_sum);
  EXPECT_EQ(out[0].get<0>().index, 1);
  EXPECT_EQ(out[0].get<1>(), 106.0f);
  EXPECT_EQ(out[1].get<0>().index, -1);
  EXPECT_EQ(out[2].get<0>().index, 4);
  EXPECT_EQ(out[2].get<0>().value, -7.0f);
}

TEST(BatchedReduce, TakesIteratorsThatAreNoPointers) {
  const std::vector<std::int8_t> a{100, 100, 100}, b{-1};
  using from_the_back = std::vector<std::int8_t>::const_reverse_iterator;
  const std::vector<from_the_back> arrays{a.rbegin(), b.rbegin(), a.rbegin() + 1};
  const std::vector<std::uint64_t> lengths{3, 1, 2};
  std::vector<std::int64_t> out(3);
  batched_reduce<std::int64_t>(arrays.begin(), lengths.begin(), 3, out.begin(), 1000);
  EXPECT_EQ(out, (std::vector<std::int64_t>{1300, 999, 1200}));
  std::vector<int> last(3);
  batched_reduce(arrays.begin(), lengths.begin(), 3, last.begin(), 7,
                 [](int, int right) { return right; });
  EXPECT_EQ(last, (std::vector<int>{100, -1, 100}));
}

TEST(BatchedReduce, WritesInTheOrderOfItsExecutor) {
  const host_executor exec;
  const std::vector<int> a{1, 2, 3};
  const int* const arrays[] = {a.data(), a.data() + 1};
  const long lengths[] = {3, 1};
  int out[2];
  batched_reduce_into(exec, arrays, lengths, 2, out, maximum{});
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 2);
}

TEST(BatchedReduce, WritesNothingForNoArrays) {
  float out = 5.0f;
  const float* const* const none = nullptr;
  const int* const no_lengths = nullptr;
  batched_reduce(none, no_lengths, 0, &out);
  EXPECT_EQ(out, 5.0f);
}

TEST(BatchedReduce, RefusesNegativeNumbersAndNullPointers) {
  const std::vector<float> a{1, 2, 3};
  const float* const arrays[] = {a.data()};
  const int lengths[] = {3};
  float out = 5.0f;
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { batched_reduce(arrays, lengths, -2, &out); }),
            "tilefold::batched_reduce: the number of arrays is -2");
  // Volatile, or the compiler would see what it must not.
  const float* const* volatile null_arrays = nullptr;
  const int* volatile null_lengths = nullptr;
  const float* const* const no_arrays = null_arrays;
  const int* const no_lengths = null_lengths;
  EXPECT_NE(message([&] { batched_reduce(no_arrays, lengths, 1, &out); }).find("pointers"),
            std::string::npos);
  EXPECT_NE(message([&] { batched_reduce(arrays, no_lengths, 1, &out); }).find("lengths"),
            std::string::npos);
  const float* const null_arrays_of_one[] = {no_arrays == nullptr ? nullptr : a.data()};
  EXPECT_NE(message([&] {
              batched_reduce(null_arrays_of_one, lengths, 1, &out);
            }).find("the first array with items is a null pointer"),
            std::string::npos);
  EXPECT_EQ(out, 5.0f);
}

}  // namespace
}  // namespace tilefold::test
