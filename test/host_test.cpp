// SPDX-License-Identifier: Apache-2.0
//
// The host executor seen from outside, on one thread and, with the library, on several: how it is
// made, what it reads and writes, what it says about mistakes.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/oracle.hpp"

namespace tilefold::test {
namespace {

static_assert(executor<host_executor>);
static_assert(std::is_copy_constructible_v<host_executor>);
static_assert(std::is_nothrow_default_constructible_v<host_executor>);
static_assert(!std::is_convertible_v<int, host_executor>, "a number is not an executor by itself");

TEST(HostExecutor, TellsItsThreads) {
#if defined(TILEFOLD_HOST_LIBRARY)
  EXPECT_GE(host_executor().threads(), 1);
  EXPECT_EQ(host_executor(3).threads(), 3);
  EXPECT_EQ(host_executor(4096).threads(), 4096);
#else
  EXPECT_EQ(host_executor().threads(), 1);
  EXPECT_EQ(host_executor(3).threads(), 1);
  EXPECT_EQ(host_executor(4096).threads(), 1);
#endif
}

TEST(HostExecutor, RefusesImpossibleNumbersOfThreads) {
  for (const int threads :
       {0, -1, 4097, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    try {
      const host_executor exec(threads);
      FAIL() << threads << " threads were accepted";
    } catch (const invalid_range_error& e) {
      const std::string what = e.what();
      EXPECT_NE(what.find("not " + std::to_string(threads)), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    }
  }
}

// The executor alone, of whatever mode this build has, and every form of it.
template <class Body>
void for_each_executor(Body body) {
  body(host_executor());
  body(host_executor(1));
  body(host_executor(4));
  body(basic_host_executor<detail::host::serial>());
}

// Makes its elements when asked.
class leaf_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = tree_hash;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = tree_hash;

  explicit leaf_iterator(std::int64_t index) : index_(index) {}
  tree_hash operator[](std::ptrdiff_t i) const { return leaf_hash(index_ + i); }
  tree_hash operator*() const { return leaf_hash(index_); }
  std::ptrdiff_t operator-(const leaf_iterator& other) const { return index_ - other.index_; }

 private:
  std::int64_t index_;
};

TEST(HostExecutor, FoldsElementsOfAnyKindOfIterator) {
  const std::int64_t n = 70001;
  const auto leaves = leaf_hashes(n);
  const auto expected = neighbour_tree(node_hash(), leaves);
  const std::deque<tree_hash> deque(leaves.begin(), leaves.end());
  const std::vector<tree_hash> backwards(leaves.rbegin(), leaves.rend());
  std::vector<std::int64_t> indices(leaves.size());
  std::iota(indices.begin(), indices.end(), 0);
  const std::vector<tree_hash> rest(leaves.begin() + 1, leaves.end());
  for_each_executor([&](const auto& exec) {
    EXPECT_EQ(reduce(exec, leaves, node_hash()), expected);
    EXPECT_EQ(reduce(exec, leaves.data(), leaves.data() + n, node_hash()), expected);
    EXPECT_EQ(reduce(exec, std::span(leaves), node_hash()), expected);
    EXPECT_EQ(reduce(exec, deque.begin(), deque.end(), node_hash()), expected);
    EXPECT_EQ(reduce(exec, backwards.rbegin(), backwards.rend(), node_hash()), expected);
    EXPECT_EQ(reduce(exec, leaf_iterator(0), leaf_iterator(n), node_hash()), expected);
    EXPECT_EQ(transform_reduce(exec, indices.begin() + 1, indices.end(), leaf_hash(0), node_hash(),
                               leaf_hash),
              node_hash()(leaf_hash(0), neighbour_tree(node_hash(), rest)));
  });
}

TEST(HostExecutor, LeavesItsInputAlone) {
  auto leaves = leaf_hashes(100000);
  const auto before = leaves;
  std::vector<float> numbers(100000, 1.5f);
  for_each_executor([&](const auto& exec) {
    reduce(exec, leaves, node_hash());
    reduce(exec, numbers);
    EXPECT_EQ(leaves, before);
    EXPECT_EQ(numbers, std::vector<float>(100000, 1.5f));
  });
}

TEST(HostExecutor, CallsTransformOncePerItem) {
  std::vector<int> items(30000);
  for (int& item : items) item = static_cast<int>(&item - items.data());
  for_each_executor([&](const auto& exec) {
    std::vector<unsigned char> calls(items.size());
    const auto count = [&](int i) {
      ++calls[static_cast<std::size_t>(i)];
      return std::int64_t{1};
    };
    EXPECT_EQ(transform_reduce(exec, items.begin(), items.end(), std::int64_t{0}, plus(), count),
              30000);
    EXPECT_EQ(calls, std::vector<unsigned char>(items.size(), 1));
  });
}

TEST(HostExecutor, FoldsStringsInOrder) {
  std::vector<std::string> words;
  for (int i = 0; i < 20000; ++i) words.push_back(std::to_string(i));
  const auto expected = neighbour_tree(expression(), words);
  for_each_executor(
      [&](const auto& exec) { EXPECT_EQ(reduce(exec, words, expression()), expected); });
}

// Large enough to be folded without the arrays that small accumulators are kept in.
struct large {
  tree_hash hash[40];
  friend bool operator==(const large&, const large&) = default;
};

TEST(HostExecutor, FoldsLargeStructs) {
  const auto merge = [](const large& a, const large& b) {
    large merged;
    for (int i = 0; i < 40; ++i) merged.hash[i] = node_hash()(a.hash[i], b.hash[(i + 1) % 40]);
    return merged;
  };
  std::vector<large> items(3000);
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (int k = 0; k < 40; ++k)
      items[i].hash[k] = leaf_hash(static_cast<std::int64_t>(40 * i) + k);
  }
  for_each_executor([&](const auto& exec) {
    for (const std::size_t n : {1u, 2u, 3u, 255u, 256u, 257u, 3000u}) {
      const std::vector<large> first(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(reduce(exec, first, merge), neighbour_tree(merge, first)) << n;
    }
  });
}

TEST(HostExecutor, ThrowsWhatTheOperatorThrowsAndGoesOn) {
  const auto leaves = leaf_hashes(200000);
  const auto expected = neighbour_tree(node_hash(), leaves);
  for_each_executor([&](const auto& exec) {
    for (const std::int64_t where : {0, 1, 100000, 199999}) {
      const auto bad = leaf_hash(where);
      const auto throwing = [&](const tree_hash& a, const tree_hash& b) {
        if (a == bad || b == bad) throw std::domain_error("no");
        return node_hash()(a, b);
      };
      EXPECT_THROW(reduce(exec, leaves, throwing), std::domain_error);
      tree_hash out{1, 2};
      EXPECT_THROW(reduce_into(exec, leaves.begin(), leaves.end(), &out, throwing),
                   std::domain_error);
      EXPECT_EQ(out, (tree_hash{1, 2})) << "written although the call threw";
    }
    EXPECT_EQ(reduce(exec, leaves, node_hash()), expected);
  });
}

TEST(HostExecutor, RefusesNullPointersAndBackwardRanges) {
  const std::vector<float> items(10, 1.0f);
  // Not a constant, so that no compiler computes with it.
  const float* volatile null = nullptr;
  for_each_executor([&](const auto& exec) {
    const float* const first = null;
    EXPECT_THROW(reduce(exec, first, first + 3), null_pointer_error);
    EXPECT_THROW(reduce(exec, items.end(), items.begin()), invalid_range_error);
    float* const nowhere = nullptr;
    EXPECT_THROW(reduce_into(exec, items.begin(), items.end(), nowhere), null_pointer_error);
    EXPECT_EQ(reduce(exec, first, first), 0.0f);
  });
}

TEST(HostExecutor, IgnoresTilePolicies) {
  const auto leaves = leaf_hashes(100000);
  host_executor exec(2);
  auto tuned = with_policy<tile_policy{256, 16}>(exec);
  EXPECT_EQ(reduce(tuned, leaves, node_hash()), neighbour_tree(node_hash(), leaves));
}

TEST(HostExecutor, CopiesDoTheSame) {
  const auto leaves = leaf_hashes(100000);
  const auto expected = neighbour_tree(node_hash(), leaves);
  host_executor a(2);
  const host_executor b = a;
  a = host_executor(3);
  EXPECT_EQ(reduce(a, leaves, node_hash()), expected);
  EXPECT_EQ(reduce(b, leaves, node_hash()), expected);
}

}  // namespace
}  // namespace tilefold::test
