// SPDX-License-Identifier: Apache-2.0
//
// Ranks that merge what neighbours have, as very many do: the bits of one call; and whatever goes
// wrong on one of them, all of them are told.
#include <tilefold/ranks.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reduce.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "support/message_of.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/seed.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::thread_communicator;
using tilefold::test::leaf_hashes;
using tilefold::test::message_of;
using tilefold::test::neighbour_tree;
using tilefold::test::node_hash;
using tilefold::test::random_cuts;
using tilefold::test::shape_stream;

// Threads, of which few already merge.
class merging_ranks {
 public:
  static constexpr std::int64_t least_merged_blocks = 0;

  explicit merging_ranks(thread_communicator& comm) : comm_(comm) {}
  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  void all_gather(const void* send, void* receive, std::size_t bytes) {
    comm_.all_gather(send, receive, bytes);
  }
  void send(int rank, const void* from, std::size_t bytes) {
    ++sent;
    comm_.send(rank, from, bytes);
  }
  void receive(int rank, void* to, std::size_t bytes) { comm_.receive(rank, to, bytes); }

  int sent = 0;

 private:
  thread_communicator& comm_;
};
static_assert(tilefold::detail::sends_to_ranks<merging_ranks>);
static_assert(tilefold::detail::sends_to_ranks<thread_communicator>);

template <class Body>
void run(int ranks, const Body& body) {
  thread_communicator::run(ranks, [&](thread_communicator& comm) {
    merging_ranks merging(comm);
    body(merging);
  });
}

TEST(RanksThatMerge, AnyCutOfAnyNumberOfRanksGivesTheTreeOfTheWhole) {
  SCOPED_TRACE(tilefold::test::seed());
  constexpr std::int64_t most = 3000;
  const auto leaves = leaf_hashes(most);
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33, 64, 100}) {
    std::vector<std::int64_t> sizes;
    shape_stream shapes(tilefold::test::seed() + static_cast<std::uint64_t>(ranks));
    for (int i = 0; i < 2000 / ranks + 5; ++i) {
      sizes.push_back(1 + shapes.below(i % 2 == 0 ? most : 20));
    }
    run(ranks, [&](merging_ranks& comm) {
      shape_stream bits(tilefold::test::seed());
      const tilefold::host_executor exec(1);
      const auto all = tilefold::ranks(comm, exec);
      for (const std::int64_t n : sizes) {
        const auto cuts = random_cuts(bits, n, ranks);
        const auto mine = static_cast<std::size_t>(comm.rank());
        const auto value = tilefold::reduce(all, leaves.data() + cuts[mine],
                                            leaves.data() + cuts[mine + 1], node_hash{});
        if (comm.rank() == ranks - 1) {
          ASSERT_EQ(value, tilefold::reduce(exec, leaves.data(), leaves.data() + n, node_hash{}))
              << ranks << " ranks, " << n << " items";
        }
        ASSERT_EQ(value,
                  neighbour_tree(node_hash{}, std::vector(leaves.begin(), leaves.begin() + n)))
            << "rank " << mine << " of " << ranks << ", " << n << " items";
      }
      EXPECT_EQ(comm.sent > 0, ranks > 1);
    });
  }
}

// Where the order does not matter, and where all are none.
TEST(RanksThatMerge, OneBlockOrNone) {
  const std::vector<std::int64_t> x{5, 3, 9, -1, 4, 1, 8};
  run(7, [&](merging_ranks& comm) {
    const tilefold::host_executor exec(1);
    const auto all = tilefold::ranks(comm, exec);
    const auto* const own = x.data() + comm.rank();
    EXPECT_EQ(tilefold::reduce(all, own, own + 1), 29);
    EXPECT_EQ(tilefold::reduce(all, own, own + (comm.rank() == 5 ? 1 : 0), tilefold::maximum{}), 1);
    EXPECT_EQ(tilefold::reduce(all, own, own), 0);
    EXPECT_THROW((void)tilefold::reduce(all, own, own, r::mean{}), tilefold::empty_range_error);
    EXPECT_EQ(tilefold::get<0>(tilefold::reduce(all, own, own + 1, r::fuse(r::mean{}))), 29.0 / 7);
  });
}

// Throws where an operand is marked: within a part, or where two parts are put together.
struct marked {
  int value = 0;
  bool throws = false;
};
struct joins_marked {
  marked operator()(const marked& a, const marked& b) const {
    if (a.throws && b.throws) throw std::domain_error("two marked ones meet");
    return {a.value + b.value, a.throws || b.throws};
  }
};

TEST(RanksThatMerge, WhatOneRankThrowsAllAreTold) {
  constexpr int ranks = 7;
  constexpr std::int64_t each = 6;
  // Both on one rank; on neighbours; far apart.
  const std::int64_t pairs[][2]{{0, 1}, {19, 20}, {5, 6}, {11, 12}, {0, 41}, {17, 40}, {30, 35}};
  for (const auto& [first, second] : pairs) {
    std::vector<marked> x(ranks * each, marked{1, false});
    x[static_cast<std::size_t>(first)].throws = true;
    x[static_cast<std::size_t>(second)].throws = true;
    std::atomic<int> threw{0};
    run(ranks, [&](merging_ranks& comm) {
      const tilefold::host_executor exec(1);
      const auto all = tilefold::ranks(comm, exec);
      const marked* const own = x.data() + comm.rank() * each;
      try {
        (void)tilefold::reduce(all, own, own + each, joins_marked{});
        ADD_FAILURE() << "rank " << comm.rank() << " was not told";
      } catch (const std::domain_error&) {
        ++threw;
      } catch (const tilefold::rank_error& error) {
        EXPECT_NE(std::string(error.what()).find("two marked ones meet"), std::string::npos)
            << error.what();
      }
      const std::vector<int> ones(3, 1);
      EXPECT_EQ(tilefold::reduce(all, ones), 3 * ranks);
    });
    // One rank, or all where the last step is taken by all of them.
    EXPECT_TRUE(threw == 1 || threw == ranks) << first << ' ' << second << ": " << threw;
  }
}

// One that is destroyed instead of sending.
class leaving_ranks : public merging_ranks {
 public:
  using merging_ranks::merging_ranks;
  void send(int, const void*, std::size_t) { throw std::logic_error("leaves"); }
};

TEST(RanksThatMerge, ARankThatLeavesWakesTheOthers) {
  std::atomic<int> told{0};
  const auto body = [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const std::vector<int> one{1};
    const auto sum = [&](auto& ranks) {
      (void)tilefold::reduce(tilefold::ranks(ranks, exec), one);
    };
    try {
      if (comm.rank() == 3) {
        leaving_ranks own(comm);
        sum(own);
      } else {
        merging_ranks own(comm);
        sum(own);
      }
    } catch (const tilefold::communicator_error&) {
      ++told;
      throw;
    }
  };
  EXPECT_EQ(message_of<std::logic_error>([&] { thread_communicator::run(5, body); }), "leaves");
  EXPECT_EQ(told, 4);
}

// Rank 2 leaves instead of sending what it has. Rank 0 waits for it, and rank 1 for rank 0; all
// communicators outlive the calls, so nobody is woken by the end of another's.
class leaves_instead : public merging_ranks {
 public:
  explicit leaves_instead(thread_communicator& comm) : merging_ranks(comm), own_(comm) {}
  void send(int rank, const void* from, std::size_t bytes) {
    if (own_.rank() == 2) {
      own_.abort();
      throw tilefold::communicator_error("rank 2 leaves");
    }
    merging_ranks::send(rank, from, bytes);
  }

 private:
  thread_communicator& own_;
};

TEST(RanksThatMerge, ARankThatLeavesOnTheWayKeepsNobodyWaiting) {
  const auto leaves = leaf_hashes(100);
  auto comms = thread_communicator::make(5);
  std::vector<std::future<bool>> told;
  for (auto& comm : comms) {
    told.push_back(std::async(std::launch::async, [&comm, &leaves] {
      leaves_instead merging(comm);
      const tilefold::host_executor exec(1);
      const auto* const mine = leaves.data() + 20 * comm.rank();
      try {
        (void)tilefold::reduce(tilefold::ranks(merging, exec), mine, mine + 20, node_hash{});
      } catch (const tilefold::communicator_error&) {
        return true;
      }
      return false;
    }));
  }
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    const auto state = told[rank].wait_for(std::chrono::seconds(20));
    EXPECT_EQ(state, std::future_status::ready) << "rank " << rank << " waits";
    // Wakes who waits, so that the test ends.
    if (state != std::future_status::ready) comms[rank].abort();
    EXPECT_TRUE(told[rank].get()) << "rank " << rank;
  }
}

TEST(RanksThatMerge, LettersOfOtherLengthsAreRefused) {
  auto ranks = thread_communicator::make(2);
  const int seven = 7;
  ranks[0].send(1, &seven, sizeof seven);
  ranks[0].send(1, &seven, sizeof seven);
  int got = 0;
  EXPECT_THROW(ranks[1].receive(0, &got, 3), tilefold::communicator_error);
  ranks[1].receive(0, &got, sizeof got);
  EXPECT_EQ(got, 7);
  ranks[0].send(1, &seven, sizeof seven);
  ranks[0].abort();
  got = 0;
  ranks[1].receive(0, &got, sizeof got);  // what was sent before it left
  EXPECT_EQ(got, 7);
  EXPECT_THROW(ranks[1].receive(0, &got, sizeof got), tilefold::communicator_error);
}

}  // namespace
