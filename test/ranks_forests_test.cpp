// SPDX-License-Identifier: Apache-2.0
//
// Many results of ranks that are threads: segments and runs of keys that cross ranks, and a first
// axis that is spread over them. What the ranks write, one after the other, is what one call
// writes.
#include <tilefold/ranks.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/batched_reduce.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/message_of.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::thread_communicator;
using tilefold::test::leaf_hashes;
using tilefold::test::message_of;
using tilefold::test::node_hash;
using tilefold::test::random_cuts;
using tilefold::test::row_major;
using tilefold::test::shape_stream;
using tilefold::test::tree_hash;

constexpr std::int64_t most_items = 2000;

tree_hash no_items() { return {1, 2}; }

class ForestsOf : public testing::TestWithParam<int> {};

/// Cuts that a test tries. With TILEFOLD_TEST_MANY_CUTS in the environment 10^5 of all numbers of
/// ranks together, most of them into a few parts; that takes minutes. The first 150 are of more
/// items.
int num_cuts(int ranks) {
  const bool many = ranks > 1 && std::getenv("TILEFOLD_TEST_MANY_CUTS") != nullptr;
  return 150 + (many ? 590000 / (ranks * ranks * ranks) : 0);
}
std::int64_t most_items_of(int round) { return round < 150 && round % 2 == 1 ? most_items : 40; }

TEST_P(ForestsOf, SegmentsThatCrossRanks) {
  SCOPED_TRACE(tilefold::test::seed());
  const auto leaves = leaf_hashes(most_items);
  const tilefold::host_executor one(1);
  const auto op = tilefold::if_empty(node_hash{}, no_items());
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    shape_stream bits(tilefold::test::seed());
    for (int round = 0; round < num_cuts(comm.size()); ++round) {
      const std::int64_t n = bits.below(most_items_of(round));
      const auto num_segments = static_cast<std::size_t>(1 + bits.below(12));
      auto offsets = random_cuts(bits, n, static_cast<int>(num_segments));
      if (bits.one_in(3)) offsets.front() = std::min<std::int64_t>(offsets[1], bits.below(4));
      if (bits.one_in(3))
        offsets.back() = std::max(offsets.back() - bits.below(4), offsets[num_segments - 1]);
      std::vector<tree_hash> expected(num_segments);
      tilefold::segmented_reduce(one, leaves.data(), offsets.data(), num_segments, expected.data(),
                                 op);

      const auto cuts = random_cuts(bits, n, comm.size());
      const auto mine = static_cast<std::size_t>(comm.rank());
      const std::int64_t begin = cuts[mine], end = cuts[mine + 1];
      // Segments that begin at a cut of several ranks belong to the last of those that may have
      // them, or of nothing to the first.
      std::vector<std::size_t> owner;
      for (std::size_t s = 0; s < num_segments; ++s) {
        std::size_t rank = 0;
        while (rank + 1 < cuts.size() - 1 && cuts[rank + 1] <= offsets[s]) ++rank;
        owner.push_back(rank);
      }
      const auto first =
          static_cast<std::size_t>(std::find(owner.begin(), owner.end(), mine) - owner.begin());
      const auto count = static_cast<std::size_t>(std::count(owner.begin(), owner.end(), mine));
      std::vector<tree_hash> got(count + 1, tree_hash{7, 7});
      const auto all = tilefold::ranks(comm, one, end - begin);
      tilefold::segmented_reduce(all, leaves.data() + begin, offsets.data() + first, count,
                                 got.data(), op);
      for (std::size_t s = 0; s < count; ++s) {
        ASSERT_EQ(got[s], expected[first + s])
            << "round " << round << ", rank " << mine << ", segment " << first + s;
      }
      ASSERT_EQ(got[count], (tree_hash{7, 7})) << "written past the end";
    }
  });
}

TEST_P(ForestsOf, IndicesCountInTheSegment) {
  const std::vector<int> x{5, 3, 9, 1, 4, 1, 8, 0, 2, 6};
  const tilefold::host_executor one(1);
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    const auto size = static_cast<std::int64_t>(x.size());
    const std::int64_t begin = size * comm.rank() / comm.size();
    const std::int64_t end = size * (comm.rank() + 1) / comm.size();
    const std::int64_t offsets[]{0, size};
    const std::int64_t count = begin == 0 && end > 0 ? 1 : 0;
    r::indexed_value<int> least{7, 7};
    tilefold::segmented_reduce(tilefold::ranks(comm, one, end - begin), x.data() + begin, offsets,
                               count, &least,
                               tilefold::if_empty(r::arg_min{}, r::indexed_value<int>{0, -1}));
    EXPECT_EQ(least.index, 7);
  });
}

TEST_P(ForestsOf, RunsThatCrossRanks) {
  SCOPED_TRACE(tilefold::test::seed());
  const auto leaves = leaf_hashes(most_items);
  const tilefold::host_executor one(1);
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    shape_stream bits(tilefold::test::seed());
    for (int round = 0; round < num_cuts(comm.size()); ++round) {
      const std::int64_t n = bits.below(most_items_of(round));
      std::vector<int> keys(static_cast<std::size_t>(n));
      const std::int64_t length = 1 + bits.below(round % 3 == 0 ? 4 : 300);
      int key = 0;
      for (int& k : keys) k = bits.one_in(length) ? ++key : key;
      std::vector<int> expected_keys(keys.size());
      std::vector<tree_hash> expected(keys.size());
      const std::int64_t runs =
          tilefold::reduce_by_key(one, keys.data(), keys.data() + n, leaves.data(),
                                  expected_keys.data(), expected.data(), node_hash{});
      const auto cuts = random_cuts(bits, n, comm.size());
      const auto mine = static_cast<std::size_t>(comm.rank());
      const std::int64_t begin = cuts[mine], end = cuts[mine + 1];
      std::vector<int> keys_out(static_cast<std::size_t>(end - begin));
      std::vector<tree_hash> values_out(keys_out.size());
      std::int64_t own = -1;
      const auto all = tilefold::ranks(comm, one);
      tilefold::reduce_by_key_into(all, keys.data() + begin, keys.data() + end,
                                   leaves.data() + begin, keys_out.data(), values_out.data(), &own,
                                   node_hash{});
      // Where they belong in the whole.
      std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()));
      comm.all_gather(&own, counts.data(), sizeof own);
      std::int64_t before = 0, total = 0;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (i < mine) before += counts[i];
        total += counts[i];
      }
      ASSERT_EQ(total, runs) << "round " << round;
      for (std::int64_t k = 0; k < own; ++k) {
        const auto here = static_cast<std::size_t>(k), there = static_cast<std::size_t>(before + k);
        ASSERT_EQ(keys_out[here], expected_keys[there]) << "round " << round << ", rank " << mine;
        ASSERT_EQ(values_out[here], expected[there]) << "round " << round << ", rank " << mine;
      }
    }
  });
}

TEST_P(ForestsOf, AFirstAxisSpreadOverRanks) {
  SCOPED_TRACE(tilefold::test::seed());
  const auto leaves = leaf_hashes(7 * 90 * 3);
  const tilefold::host_executor one(1);
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    shape_stream bits(tilefold::test::seed());
    for (int round = 0; round < num_cuts(comm.size()); ++round) {
      const std::int64_t rows = 1 + bits.below(90), width = 1 + bits.below(7);
      const auto cuts = random_cuts(bits, rows, comm.size());
      const auto mine = static_cast<std::size_t>(comm.rank());
      const std::int64_t begin = cuts[mine], end = cuts[mine + 1];
      const auto whole = row_major(leaves.data(), {rows, width, 3});
      const auto part = row_major(leaves.data() + begin * width * 3, {end - begin, width, 3});
      const auto all = tilefold::ranks(comm, one);
      const auto op = tilefold::if_empty(node_hash{}, no_items());

      std::vector<tree_hash> expected(static_cast<std::size_t>(width * 3)), got(expected.size());
      tilefold::axis_reduce(one, whole, row_major(expected.data(), {width, 3}), 0, op);
      tilefold::axis_reduce(all, part, row_major(got.data(), {width, 3}), 0, op);
      ASSERT_EQ(got, expected) << "axis 0, round " << round;

      expected.assign(static_cast<std::size_t>(width), {});
      got = expected;
      tilefold::axis_reduce(one, whole, row_major(expected.data(), {width}), 0, 2, op);
      tilefold::axis_reduce(all, part, row_major(got.data(), {width}), 0, 2, op);
      ASSERT_EQ(got, expected) << "axes 0 and 2, round " << round;

      expected.assign(1, {});
      got = expected;
      tilefold::axis_reduce(one, whole, row_major(expected.data(), {1, 1, 1}), 0, 1, 2, op);
      tilefold::axis_reduce(all, part, row_major(got.data(), {1, 1, 1}), 0, 1, 2, op);
      ASSERT_EQ(got, expected) << "all axes, round " << round;

      // Each by itself.
      expected.assign(static_cast<std::size_t>((end - begin) * 3), {});
      got = expected;
      tilefold::axis_reduce(one, part, row_major(expected.data(), {end - begin, 3}), 1, op);
      tilefold::axis_reduce(all, part, row_major(got.data(), {end - begin, 3}), 1, op);
      ASSERT_EQ(got, expected) << "axis 1, round " << round;
    }
  });
}

// Parts lie in memory as their ranks like, and so do the results.
TEST_P(ForestsOf, PartsOfASpreadAxisInAnyLayout) {
  SCOPED_TRACE(tilefold::test::seed());
  constexpr std::int64_t most = 40 * 3 * 4 * 2;
  const auto leaves = leaf_hashes(most);
  const tilefold::host_executor one(1);
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    shape_stream bits(tilefold::test::seed());
    shape_stream own_bits(tilefold::test::seed() + static_cast<std::uint64_t>(comm.rank()) + 1);
    const auto own_layout = [&](const std::vector<std::int64_t>& extents) {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < extents.size(); ++i) order.push_back(i);
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1],
                  order[static_cast<std::size_t>(own_bits.below(static_cast<std::int64_t>(i)))]);
      }
      return tilefold::test::layout_in_order(extents, order);
    };
    for (int round = 0; round < 60; ++round) {
      const std::int64_t rows = 1 + bits.below(40);
      const auto cuts = random_cuts(bits, rows, comm.size());
      const auto mine = static_cast<std::size_t>(comm.rank());
      const std::int64_t begin = cuts[mine], length = cuts[mine + 1] - begin;
      const auto whole = row_major(leaves.data(), {rows, 3, 4, 2});
      // The same elements in another layout.
      const auto layout = own_layout({length, 3, 4, 2});
      std::vector<tree_hash> items(static_cast<std::size_t>(layout.span()));
      const std::int64_t* const stride = layout.strides.data();
      for (std::int64_t i = 0; i < length * 24; ++i) {
        const std::int64_t at =
            i / 24 * stride[0] + i / 8 % 3 * stride[1] + i / 2 % 4 * stride[2] + i % 2 * stride[3];
        items[static_cast<std::size_t>(at)] = leaves[static_cast<std::size_t>(begin * 24 + i)];
      }
      const tilefold::test::test_view part{items.data(), layout};
      const auto results = own_layout({3, 2});
      std::vector<tree_hash> expected(6), got(6);
      const auto op = tilefold::if_empty(node_hash{}, no_items());
      tilefold::axis_reduce(one, whole, row_major(expected.data(), {3, 2}), 0, 2, op);
      tilefold::axis_reduce(tilefold::ranks(comm, one), part,
                            tilefold::test::test_view{got.data(), results}, 0, 2, op);
      for (std::int64_t k = 0; k < 6; ++k) {
        const std::int64_t at = k / 2 * results.strides[0] + k % 2 * results.strides[1];
        ASSERT_EQ(got[static_cast<std::size_t>(at)], expected[static_cast<std::size_t>(k)])
            << "result " << k << ", rank " << mine << ", layout " << layout.text() << ", round "
            << round;
      }
    }
  });
}

TEST_P(ForestsOf, IndicesAlongASpreadAxis) {
  std::vector<int> x(60);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 37 % 61);
  const tilefold::host_executor one(1);
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    const std::int64_t begin = 20 * comm.rank() / comm.size();
    const std::int64_t end = 20 * (comm.rank() + 1) / comm.size();
    std::vector<r::indexed_value<int>> expected(3), got(3);
    tilefold::axis_reduce(one, row_major(x.data(), {20, 3}), row_major(expected.data(), {3}), 0,
                          r::arg_min{});
    tilefold::axis_reduce(tilefold::ranks(comm, one),
                          row_major(x.data() + 3 * begin, {end - begin, 3}),
                          row_major(got.data(), {3}), 0, r::arg_min{});
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(got[k].index, expected[k].index);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, ForestsOf, testing::Values(1, 2, 3, 5, 9, 33));

TEST(RankForestErrors, SegmentsThatDoNotFitAreFoundOutByAll) {
  const std::vector<float> x(10, 1.0f);
  thread_communicator::run(2, [&](thread_communicator& comm) {
    const tilefold::host_executor one(1);
    const auto all = tilefold::ranks(comm, one, 5);
    float out[3]{7, 7, 7};
    const auto call = [&](std::vector<int> of_0, std::vector<int> of_1) {
      const auto& own = comm.rank() == 0 ? of_0 : of_1;
      return message_of<tilefold::invalid_range_error>(
          [&] { tilefold::segmented_reduce(all, x.data(), own.data(), own.size() - 1, out); });
    };
    const std::string gap = call({0, 3, 6}, {7, 10});
    EXPECT_NE(gap.find("on rank 1 segments begin at 7, but those of rank 0 end at 6"), gap.npos)
        << gap;
    const std::string elsewhere = call({0, 3, 6, 9}, {9, 10});
    EXPECT_NE(elsewhere.find("on rank 0 segments begin at 0 to 6"), gap.npos) << elsewhere;
    const std::string past = call({0, 3, 6}, {6, 12});
    EXPECT_NE(past.find("[6, 12) of 10 items"), gap.npos) << past;
    const auto unknown = tilefold::ranks(comm, one);
    const int offsets[]{0, 5};
    const auto untold = [&] { tilefold::segmented_reduce(unknown, x.data(), offsets, 1, out); };
    EXPECT_NE(message_of<tilefold::invalid_range_error>(untold).find("num_items"), gap.npos);
    EXPECT_EQ(out[0], 7.0f);
    EXPECT_EQ(call({0, 3, 6}, {6, 10}), "nothing was thrown");
    EXPECT_EQ(out[0], comm.rank() == 0 ? 3.0f : 4.0f);
  });
}

TEST(RankForestErrors, OtherWidthsAreFoundOutByAll) {
  const std::vector<float> x(12, 1.0f);
  thread_communicator::run(2, [&](thread_communicator& comm) {
    const tilefold::host_executor one(1);
    const std::int64_t width = 3 + comm.rank();
    float out[4];
    const std::string told = message_of<tilefold::rank_mismatch_error>([&] {
      tilefold::axis_reduce(tilefold::ranks(comm, one), row_major(x.data(), {2, width}),
                            row_major(out, {width}), 0);
    });
    EXPECT_NE(told.find("rank 0 in axis_reduce of * x 3 along 0 of"), told.npos) << told;
    EXPECT_NE(told.find("rank 1 in axis_reduce of * x 4 along 0 of"), told.npos) << told;
  });
}

// As many results on both, and as many items for each result.
TEST(RankForestErrors, OtherExtentsOfAsManyResultsAreFoundOutByAll) {
  const std::vector<float> x(24, 1.0f);
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const tilefold::host_executor one(1);
    const auto all = tilefold::ranks(comm, one);
    const bool last = comm.rank() == 2;
    float out[6];
    const auto told = [&](const auto& of_others, const auto& of_last) {
      return message_of<tilefold::rank_mismatch_error>([&] { last ? of_last() : of_others(); });
    };
    const auto reduce = [&](std::vector<std::int64_t> in, std::vector<std::int64_t> of_out,
                            auto... axes) {
      return [=, &all, &x, &out] {
        tilefold::axis_reduce(all, row_major(x.data(), in), row_major(out, of_out), axes...);
      };
    };
    const std::string kept = told(reduce({4, 2, 3}, {2, 3}, 0), reduce({4, 3, 2}, {3, 2}, 0));
    EXPECT_NE(kept.find("rank 0 in axis_reduce of * x 2 x 3 along 0 of"), kept.npos) << kept;
    EXPECT_NE(kept.find("rank 2 in axis_reduce of * x 3 x 2 along 0 of"), kept.npos) << kept;
    const std::string folded = told(reduce({2, 2, 3}, {2}, 0, 2), reduce({3, 2, 2}, {2}, 0, 2));
    EXPECT_NE(folded.find("* x 2 x 2 along 0 2"), folded.npos) << folded;
    const std::string axes = told(reduce({2, 3, 3}, {3}, 0, 1), reduce({2, 3, 3}, {3}, 0, 2));
    EXPECT_NE(axes.find("* x 3 x 3 along 0 2"), axes.npos) << axes;
    // The first axis alone may differ.
    EXPECT_EQ(told(reduce({4, 2, 3}, {2, 3}, 0), reduce({0, 2, 3}, {2, 3}, 0)),
              "nothing was thrown");
    EXPECT_EQ(out[5], 8.0f);
  });
}

// Of a run that nobody else has a part of, so the ranks need not tell each other its value.
TEST(RankForestErrors, WhatARunOfOneRankThrowsAllAreTold) {
  const std::vector<int> keys{1, 1, 2, 2, 2, 3, 3, 4};
  const std::vector<int> x{1, 1, 1, 1, 1, 1, -1, 1};
  const auto op = [](int a, int b) {
    if (b < 0) throw std::domain_error("a negative item");
    return a + b;
  };
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const tilefold::host_executor one(1);
    const std::int64_t cuts[]{0, 4, 8, 8};  // within the twos; nothing on the last rank
    const std::int64_t begin = cuts[comm.rank()];
    const std::int64_t end = cuts[comm.rank() + 1];
    int keys_out[4], values_out[4];
    const auto call = [&] {
      (void)tilefold::reduce_by_key(tilefold::ranks(comm, one), keys.data() + begin,
                                    keys.data() + end, x.data() + begin, keys_out, values_out, op);
    };
    if (comm.rank() == 1) {
      EXPECT_EQ(message_of<std::domain_error>(call), "a negative item");
    } else {
      const std::string told = message_of<tilefold::rank_error>(call);
      EXPECT_NE(told.find("rank 1 has failed: a negative item"), told.npos) << told;
    }
  });
}

TEST(RankForests, ArraysLieOnOneRankEach) {
  const std::vector<float> x{1, 2, 3};
  thread_communicator::run(2, [&](thread_communicator& comm) {
    const tilefold::host_executor one(1);
    const float* arrays[]{x.data()};
    const int lengths[]{1 + comm.rank()};
    float out = 0;
    tilefold::batched_reduce(tilefold::ranks(comm, one), arrays, lengths, 1, &out);
    EXPECT_EQ(out, comm.rank() == 0 ? 1.0f : 3.0f);
  });
}

}  // namespace
