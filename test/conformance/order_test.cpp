// SPDX-License-Identifier: Apache-2.0
//
// The fold order on the host executor, spelled out: expression strings and hashes of expressions
// equal the oracle's for every length up to 5000, around every power of two up to 2^22, at random
// lengths and for 1 to 8 threads.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "../support/oracle.hpp"
#include "../support/order.hpp"
#include "../support/seed.hpp"

namespace tilefold::test {
namespace {

// Runs body(executor) for every number of threads that this build can have.
template <class Body>
void for_each_thread_count(Body body) {
#if defined(TILEFOLD_HOST_LIBRARY)
  for (int threads = 1; threads <= 8; ++threads) {
    SCOPED_TRACE("threads " + std::to_string(threads));
    body(host_executor(threads));
  }
#else
  body(host_executor());
#endif
}

std::string leaf_text(std::int64_t i) { return std::to_string(i); }

TEST(Oracle, SpellsTheTreeOfSevenItems) {
  const std::vector<std::string> x{"0", "1", "2", "3", "4", "5", "6"};
  EXPECT_EQ(neighbour_tree(expression{}, x), "(((0,1),(2,3)),((4,5),6))");
}

TEST(Oracle, IsTheSameWithoutAnArray) {
  for (std::size_t n = 1; n <= 300; ++n) {
    const auto leaf = [](std::size_t i) { return leaf_hash(static_cast<std::int64_t>(i)); };
    EXPECT_EQ(tree_of_leaves<tree_hash>(node_hash{}, leaf, 0, n),
              neighbour_tree(node_hash{}, leaf_hashes(n)))
        << n;
  }
}

TEST(Oracle, RunningFoldIsTheNeighbourTree) {
  const auto sizes = every_size_to(600);
  const auto texts = prefix_folds(expression{}, leaf_text, sizes);
  std::vector<std::string> x;
  for (const std::int64_t n : sizes) {
    x.push_back(leaf_text(n - 1));
    ASSERT_EQ(texts[x.size() - 1], neighbour_tree(expression{}, x)) << "n = " << n;
  }
  const auto landmarks = landmark_sizes(17, 20, seed());
  const auto hashes = prefix_folds(node_hash{}, leaf_hash, landmarks);
  for (std::size_t i = 0; i < landmarks.size(); ++i) {
    const auto n = static_cast<std::size_t>(landmarks[i]);
    ASSERT_EQ(hashes[i], neighbour_tree(node_hash{}, leaf_hashes(n))) << "n = " << n;
  }
}

TEST(HostOrder, IsSpelledByExpressionStrings) {
  const auto sizes = every_size_to(5000);
  const auto expected = prefix_folds(expression{}, leaf_text, sizes);
  std::vector<std::string> x;
  const host_executor exec;
  for (const std::int64_t n : sizes) {
    x.push_back(leaf_text(n - 1));
    ASSERT_EQ(reduce(exec, x, expression{}), expected[x.size() - 1]) << "n = " << n;
  }
}

TEST(HostOrder, InitialValueStandsLeftOfTheTree) {
  const std::vector<std::string> x{"0", "1", "2"};
  EXPECT_EQ(reduce(host_executor(), x, std::string("i"), expression{}), "(i,((0,1),2))");
  EXPECT_EQ(reduce(host_executor(), std::vector<std::string>{}, std::string("i"), expression{}),
            "i");
}

TEST(HostOrder, IsTheSameForEveryLengthAndThreadCount) {
  auto sizes = every_size_to(5000);
  std::vector<std::uint32_t> items(5000);
  std::iota(items.begin(), items.end(), 0u);
  const auto expected = prefix_folds(node_hash{}, leaf_hash, sizes);
  for_each_thread_count([&](const host_executor& exec) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const lifted_hash got =
          reduce(exec, items.begin(), items.begin() + sizes[i], lifted_node_hash{});
      ASSERT_EQ(got, expected[i]) << "n = " << sizes[i];
    }
  });
}

TEST(HostOrder, IsTheSameAroundPowersOfTwoAndAtRandomLengths) {
  const auto sizes = landmark_sizes(22, 24, seed());
  std::vector<std::uint32_t> items(static_cast<std::size_t>(sizes.back()));
  std::iota(items.begin(), items.end(), 0u);
  const auto expected = prefix_folds(node_hash{}, leaf_hash, sizes);
  for_each_thread_count([&](const host_executor& exec) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const lifted_hash got =
          reduce(exec, items.begin(), items.begin() + sizes[i], lifted_node_hash{});
      ASSERT_EQ(got, expected[i]) << "n = " << sizes[i];
    }
  });
}

TEST(HostOrder, HoldsForOperatorsThatCommute) {
  const auto sizes = landmark_sizes(18, 24, seed());
  const auto leaf = [](std::int64_t i) { return lifted_hash(leaf_hash(i)); };
  std::vector<std::uint32_t> items(static_cast<std::size_t>(sizes.back()));
  std::iota(items.begin(), items.end(), 0u);
  const auto expected = prefix_folds(swappable_node_hash{}, leaf, sizes);
  for_each_thread_count([&](const host_executor& exec) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto got = reduce(exec, items.data(), items.data() + sizes[i], swappable_node_hash{});
      ASSERT_EQ(got, expected[i]) << "n = " << sizes[i];
    }
  });
}

TEST(HostOrder, DoesNotDependOnWhereTheRangeStarts) {
  const auto sizes = landmark_sizes(13, 24, seed());
  const auto leaf = [](std::int64_t i) { return leaf_hash(order_byte(i)); };
  const auto expected = prefix_folds(node_hash{}, leaf, sizes);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(sizes.back()) + 16);
  for (int start = 0; start < 16; ++start) {
    for (std::int64_t i = 0; i < sizes.back(); ++i) {
      bytes[static_cast<std::size_t>(start + i)] = order_byte(i);
    }
    for_each_thread_count([&](const host_executor& exec) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::uint8_t* first = bytes.data() + start;
        const lifted_hash got = reduce(exec, first, first + sizes[i], lifted_node_hash{});
        ASSERT_EQ(got, expected[i]) << "start = " << start << ", n = " << sizes[i];
      }
    });
  }
}

TEST(HostOrder, IsTheSameThroughTransforms) {
  const auto sizes = landmark_sizes(16, 24, seed());
  std::vector<std::int64_t> items(static_cast<std::size_t>(sizes.back()));
  std::iota(items.begin(), items.end(), 0);
  const auto expected = prefix_folds(node_hash{}, leaf_hash, sizes);
  const tree_hash init{1, 2};
  for_each_thread_count([&](const host_executor& exec) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto first = items.begin();
      const auto got =
          transform_reduce(exec, first, first + sizes[i], init, node_hash{}, leaf_hash);
      ASSERT_EQ(got, node_hash{}(init, expected[i])) << "n = " << sizes[i];
      const auto of_two =
          transform_reduce(exec, first, first + sizes[i], first, init, node_hash{},
                           [](std::int64_t a, std::int64_t b) { return leaf_hash((a + b) / 2); });
      ASSERT_EQ(of_two, node_hash{}(init, expected[i])) << "n = " << sizes[i];
    }
  });
}

}  // namespace
}  // namespace tilefold::test
