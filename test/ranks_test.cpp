// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads: wherever the cuts lie, every rank gets the bits of one call over the
// whole; and whatever goes wrong on one of them, all of them are told.
#include <tilefold/ranks.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/count.hpp>
#include <tilefold/extrema.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>
#include <tilefold/statistics.hpp>
#include <tilefold/transform_reduce.hpp>

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
using tilefold::test::neighbour_tree;
using tilefold::test::node_hash;
using tilefold::test::random_cuts;
using tilefold::test::row_major;
using tilefold::test::shape_stream;
using tilefold::test::tree_hash;

// A rank's part of one round: the same on all ranks, as all draw the same numbers.
template <class T>
struct part {
  const T* first;
  const T* last;
};
template <class T>
part<T> part_of(const std::vector<T>& x, const std::vector<std::int64_t>& cuts, int rank) {
  const auto i = static_cast<std::size_t>(rank);
  return {x.data() + cuts[i], x.data() + cuts[i + 1]};
}

class RanksOf : public testing::TestWithParam<int> {};

TEST_P(RanksOf, AnyCutGivesTheTreeOfTheWhole) {
  SCOPED_TRACE(tilefold::test::seed());
  const auto leaves = leaf_hashes(3000);
  std::vector<std::int64_t> sizes;
  std::vector<tree_hash> expected;
  shape_stream shapes(tilefold::test::seed() + 1);
  for (int i = 0; i < 150; ++i) {
    sizes.push_back(1 + shapes.below(i % 3 == 0 ? 3000 : i % 3 == 1 ? 100 : 8));
    expected.push_back(
        neighbour_tree(node_hash{}, std::vector(leaves.begin(), leaves.begin() + sizes.back())));
  }
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    shape_stream bits(tilefold::test::seed());
    const tilefold::host_executor exec(1);
    const auto all = tilefold::ranks(comm, exec);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto cuts = random_cuts(bits, sizes[i], comm.size());
      const auto mine = part_of(leaves, cuts, comm.rank());
      const auto value = tilefold::reduce(all, mine.first, mine.last, node_hash{});
      ASSERT_EQ(value, expected[i]) << "rank " << comm.rank() << ", " << sizes[i] << " items";
    }
  });
}

// 10^5 cuts in all, most of them into a few parts: threads that wait for many others are slow.
TEST(Ranks, AHundredThousandCuts) {
  SCOPED_TRACE(tilefold::test::seed());
  constexpr std::int64_t most = 200;
  const auto leaves = leaf_hashes(most);
  std::vector<tree_hash> expected(1);
  for (std::int64_t n = 1; n <= most; ++n) {
    expected.push_back(
        neighbour_tree(node_hash{}, std::vector(leaves.begin(), leaves.begin() + n)));
  }
  std::int64_t cuts_tried = 0;
  for (int ranks = 1; ranks <= 64; ++ranks) {
    const std::int64_t rounds = 20 + (ranks == 1 ? 0 : 490000 / (ranks * ranks * ranks));
    cuts_tried += rounds;
    thread_communicator::run(ranks, [&](thread_communicator& comm) {
      shape_stream bits(tilefold::test::seed() + static_cast<std::uint64_t>(ranks));
      const tilefold::host_executor exec(1);
      const auto all = tilefold::ranks(comm, exec);
      for (std::int64_t round = 0; round < rounds; ++round) {
        const std::int64_t n = 1 + bits.below(bits.one_in(2) ? 8 : most);
        const auto cuts = random_cuts(bits, n, ranks);
        const auto mine = part_of(leaves, cuts, comm.rank());
        ASSERT_EQ(tilefold::reduce(all, mine.first, mine.last, node_hash{}),
                  expected[static_cast<std::size_t>(n)])
            << ranks << " ranks, round " << round << ", " << n << " items";
      }
    });
  }
  EXPECT_GE(cuts_tried, 100000);
}

TEST(Ranks, LengthsThatAreKnown) {
  SCOPED_TRACE(tilefold::test::seed());
  const auto leaves = leaf_hashes(500);
  const auto expected = neighbour_tree(node_hash{}, leaves);
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const std::vector<std::int64_t> cuts{0, 17, 17, 500};
    const auto mine = part_of(leaves, cuts, comm.rank());
    const auto lengths = tilefold::rank_lengths::of(comm, mine.last - mine.first);
    EXPECT_EQ(lengths.ranks(), 3);
    EXPECT_EQ(lengths.total(), 500);
    EXPECT_EQ(lengths[1], 0);
    EXPECT_EQ(lengths.begin(2), 17);
    const auto all = tilefold::ranks(comm, exec, lengths);
    EXPECT_EQ(tilefold::reduce(all, mine.first, mine.last, node_hash{}), expected);
    // One passes another number of items.
    const auto* const last = mine.last - (comm.rank() == 2 ? 1 : 0);
    if (comm.rank() == 2) {
      EXPECT_THROW((void)tilefold::reduce(all, mine.first, last, node_hash{}),
                   tilefold::invalid_range_error);
    } else {
      EXPECT_THROW((void)tilefold::reduce(all, mine.first, last, node_hash{}),
                   tilefold::rank_error);
    }
    EXPECT_EQ(tilefold::reduce(all, mine.first, mine.last, node_hash{}), expected);
    const tilefold::rank_lengths of_two({1, 2});
    EXPECT_THROW((void)tilefold::ranks(comm, exec, of_two), tilefold::invalid_range_error);
  });
  EXPECT_THROW(tilefold::rank_lengths({3, -1}), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::rank_lengths({std::numeric_limits<std::int64_t>::max(), 1}),
               tilefold::invalid_range_error);
}

std::vector<float> mixed_floats(std::int64_t n) {
  shape_stream bits(tilefold::test::seed() + 7);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) {
    v = std::ldexp(static_cast<float>(static_cast<int>(bits.below(2001)) - 1000),
                   static_cast<int>(bits.below(40)) - 20);
  }
  return x;
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST_P(RanksOf, EveryVerbOfOneValue) {
  SCOPED_TRACE(tilefold::test::seed());
  const auto x = mixed_floats(5000);
  const auto y = mixed_floats(4999);
  const tilefold::host_executor one(1);
  thread_communicator::run(GetParam(), [&](thread_communicator& comm) {
    shape_stream bits(tilefold::test::seed());
    const auto all = tilefold::ranks(comm, one);
    for (int round = 0; round < 8; ++round) {
      const std::int64_t n = 1 + bits.below(4999);
      const auto cuts = random_cuts(bits, n, comm.size());
      const auto mine = part_of(x, cuts, comm.rank());
      const float* const a = mine.first;
      const float* const b = mine.last;
      const float* const other = y.data() + cuts[static_cast<std::size_t>(comm.rank())];
      const float* const whole = x.data();
      const float* const end = x.data() + n;
      const auto square = [](float v) { return v * v; };
      const auto positive = [](float v) { return v > 0.0f; };

      ASSERT_TRUE(same_bytes(tilefold::reduce(all, a, b), tilefold::reduce(one, whole, end)));
      ASSERT_TRUE(same_bytes(tilefold::reduce<double>(all, a, b, 0.25),
                             tilefold::reduce<double>(one, whole, end, 0.25)));
      ASSERT_TRUE(same_bytes(tilefold::reduce(all, a, b, tilefold::maximum{}),
                             tilefold::reduce(one, whole, end, tilefold::maximum{})));
      ASSERT_TRUE(same_bytes(tilefold::reduce(all, a, b, r::exact_sum{}),
                             tilefold::reduce(one, whole, end, r::exact_sum{})));
      ASSERT_TRUE(
          same_bytes(tilefold::transform_reduce(all, a, b, 1.0f, tilefold::plus{}, square),
                     tilefold::transform_reduce(one, whole, end, 1.0f, tilefold::plus{}, square)));
      ASSERT_TRUE(same_bytes(tilefold::transform_reduce(all, a, b, other, 0.0f),
                             tilefold::transform_reduce(one, whole, end, y.data(), 0.0f)));
      ASSERT_TRUE(same_bytes(tilefold::transform_reduce(all, a, b, other, r::cosine{}),
                             tilefold::transform_reduce(one, whole, end, y.data(), r::cosine{})));
      ASSERT_EQ(tilefold::count_if(all, a, b, positive),
                tilefold::count_if(one, whole, end, positive));
      ASSERT_EQ(tilefold::any_of(all, a, b, positive), tilefold::any_of(one, whole, end, positive));
      ASSERT_TRUE(same_bytes(tilefold::mean(all, a, b), tilefold::mean(one, whole, end)));
      ASSERT_TRUE(same_bytes(tilefold::min_value(all, a, b), tilefold::min_value(one, whole, end)));
      const auto op = r::fuse(r::variance{}, r::arg_min{}, r::top_k<3>{}, r::l2{});
      const auto got = tilefold::reduce(all, a, b, op);
      const auto expected = tilefold::reduce(one, whole, end, op);
      ASSERT_TRUE(same_bytes(tilefold::get<0>(got), tilefold::get<0>(expected)));
      ASSERT_EQ(tilefold::get<1>(got).index, tilefold::get<1>(expected).index);
      ASSERT_EQ(tilefold::get<2>(got)[2].index, tilefold::get<2>(expected)[2].index);
      ASSERT_TRUE(same_bytes(tilefold::get<3>(got), tilefold::get<3>(expected)));
      double out = 0;
      tilefold::reduce_into(all, a, b, &out, r::mean{});
      ASSERT_TRUE(same_bytes(out, tilefold::mean(one, whole, end)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, RanksOf, testing::Values(1, 2, 3, 5, 8, 17, 64));

TEST(Ranks, NothingOnAnyRank) {
  const std::vector<float> none;
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const auto all = tilefold::ranks(comm, exec);
    EXPECT_TRUE(std::signbit(tilefold::reduce(all, none)));
    EXPECT_EQ(tilefold::reduce(all, none, 2.0f), 2.0f);
    EXPECT_EQ(tilefold::reduce(all, none, tilefold::if_empty(r::mean{}, -1.0)), -1.0);
    EXPECT_THROW(tilefold::reduce(all, none, r::mean{}), tilefold::empty_range_error);
    // And is of use again.
    const std::vector<int> one{comm.rank()};
    EXPECT_EQ(tilefold::reduce(all, one), 3);
  });
}

TEST(Ranks, APolicyGoesAlong) {
  const auto x = mixed_floats(100);
  thread_communicator::run(2, [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const auto tuned = tilefold::with_policy<tilefold::tile_policy{64, 4}>(exec);
    EXPECT_TRUE(
        same_bytes(tilefold::reduce(tilefold::ranks(comm, tuned), x.data() + 50 * comm.rank(),
                                    x.data() + 50 + 50 * comm.rank()),
                   tilefold::reduce(x)));
  });
}

void expect_in(const std::string& message, const char* words) {
  EXPECT_NE(message.find(words), message.npos) << message;
}

// After an error all ranks are of use again.
template <class All>
void expect_sound(const All& all) {
  const std::vector<int> one{1};
  ASSERT_EQ(tilefold::reduce(all, one), all.comm().size());
}

TEST(RanksErrors, OtherCallsAreFoundOutByAll) {
  thread_communicator::run(4, [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const auto all = tilefold::ranks(comm, exec);
    const std::vector<float> x(10, 1.0f);
    const std::vector<double> wide(10, 1.0);
    const std::string op = message_of<tilefold::rank_mismatch_error>([&] {
      if (comm.rank() == 2) {
        (void)tilefold::reduce(all, x, tilefold::maximum{});
      } else {
        (void)tilefold::reduce(all, x);
      }
    });
    expect_in(op, "rank 0 in reduce of tilefold::plus");
    expect_in(op, "rank 2 in reduce of tilefold::maximum");
    expect_sound(all);
    const std::string type = message_of<tilefold::rank_mismatch_error>([&] {
      if (comm.rank() == 1) {
        (void)tilefold::reduce(all, wide);
      } else {
        (void)tilefold::reduce(all, x);
      }
    });
    expect_in(type, "float64");
    expect_sound(all);
    // In another order: a count and a sum.
    const std::string order = message_of<tilefold::rank_mismatch_error>([&] {
      if (comm.rank() == 3) {
        (void)tilefold::count(all, x, 1.0f);
      } else {
        (void)tilefold::mean(all, x);
      }
    });
    expect_in(order, "rank 3 in count");
    expect_sound(all);
  });
}

struct throws_on_rank {
  int rank;
  int thrower;
  float operator()(float a, float b) const {
    if (rank == thrower) throw std::runtime_error("the operator's own");
    return a + b;
  }
};

TEST(RanksErrors, WhatOneRankThrowsAllAreTold) {
  for (int thrower = 0; thrower < 3; ++thrower) {
    thread_communicator::run(3, [&](thread_communicator& comm) {
      const tilefold::host_executor exec(1);
      const auto all = tilefold::ranks(comm, exec);
      const std::vector<float> x(16, 1.0f);
      const auto call = [&] {
        (void)tilefold::reduce(all, x, throws_on_rank{comm.rank(), thrower});
      };
      if (comm.rank() == thrower) {
        EXPECT_EQ(message_of<std::runtime_error>(call), "the operator's own");
      } else {
        const std::string told = message_of<tilefold::rank_error>(call);
        expect_in(told, ("rank " + std::to_string(thrower)).c_str());
        expect_in(told, "the operator's own");
      }
      expect_sound(all);
      // Before the first gather is over: items that cannot be read.
      const float* const items = comm.rank() == thrower ? nullptr : x.data();
      const auto null = [&] { (void)tilefold::reduce(all, items, items + 3); };
      if (comm.rank() == thrower) {
        expect_in(message_of<tilefold::null_pointer_error>(null), "null pointer");
      } else {
        expect_in(message_of<tilefold::rank_error>(null), "null pointer");
      }
      expect_sound(all);
    });
  }
}

TEST(RanksErrors, AResultWithoutAPlaceIsToldToAll) {
  for (int thrower = 0; thrower < 3; ++thrower) {
    thread_communicator::run(3, [&](thread_communicator& comm) {
      const tilefold::host_executor exec(1);
      const auto all = tilefold::ranks(comm, exec);
      const std::vector<float> x(16, 1.0f);
      std::vector<float> place(4, -1.0f);
      float* const out = comm.rank() == thrower ? nullptr : place.data();
      const auto is_told = [&](const auto& call) {
        if (comm.rank() == thrower) {
          expect_in(message_of<tilefold::null_pointer_error>(call), "out");
        } else {
          expect_in(message_of<tilefold::rank_error>(call), "null pointer");
        }
        EXPECT_EQ(place, std::vector<float>(4, -1.0f));
        expect_sound(all);
      };
      is_told([&] { tilefold::reduce_into(all, x.data(), x.data() + 16, out); });
      is_told(
          [&] { tilefold::axis_reduce(all, row_major(x.data(), {4, 4}), row_major(out, {4}), 0); });
    });
  }
}

TEST(RanksErrors, LengthsThatAreAskedForMeetNoOtherCall) {
  thread_communicator::run(3, [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const auto all = tilefold::ranks(comm, exec);
    const std::vector<float> x(16, 1.0f);
    const std::string told = message_of<tilefold::rank_mismatch_error>([&] {
      if (comm.rank() == 1) {
        (void)tilefold::rank_lengths::of(comm, 16);
      } else {
        (void)tilefold::reduce(all, x);
      }
    });
    expect_in(told, "rank_lengths::of");
    expect_sound(all);
    EXPECT_EQ(tilefold::rank_lengths::of(comm, comm.rank()).total(), 3);
  });
}

struct runs_out_of_memory {
  int rank;
  float operator()(float a, float b) const {
    if (rank == 1) throw std::bad_alloc();
    return a + b;
  }
};

TEST(RanksErrors, MemoryThatRunsOut) {
  thread_communicator::run(2, [&](thread_communicator& comm) {
    const tilefold::host_executor exec(1);
    const auto all = tilefold::ranks(comm, exec);
    const std::vector<float> x(16, 1.0f);
    const auto call = [&] { (void)tilefold::reduce(all, x, runs_out_of_memory{comm.rank()}); };
    if (comm.rank() == 1) {
      EXPECT_THROW(call(), std::bad_alloc);
    } else {
      EXPECT_THROW(call(), tilefold::rank_error);
    }
    expect_sound(all);
  });
}

TEST(RanksErrors, ARankThatLeavesWakesTheOthers) {
  std::atomic<int> told{0};
  const auto run = [&] {
    thread_communicator::run(5, [&](thread_communicator& comm) {
      if (comm.rank() == 3) throw std::logic_error("before its call");
      const tilefold::host_executor exec(1);
      const std::vector<int> one{1};
      try {
        (void)tilefold::reduce(tilefold::ranks(comm, exec), one);
      } catch (const tilefold::communicator_error& error) {
        expect_in(error.what(), "has left");
        ++told;
        throw;
      }
    });
  };
  // The cause, not what it caused.
  EXPECT_EQ(message_of<std::logic_error>(run), "before its call");
  EXPECT_EQ(told, 4);
}

TEST(RanksErrors, ARankThatAbortsWakesTheOthersAndItself) {
  auto ranks = thread_communicator::make(3);
  const auto wait_in_vain = [](thread_communicator& comm) {
    return message_of<tilefold::communicator_error>([&] {
      const int own = 1;
      std::vector<int> all(3);
      comm.all_gather(&own, all.data(), sizeof own);
    });
  };
  std::string told;
  std::thread other([&] { told = wait_in_vain(ranks[0]); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ranks[2].abort();
  ranks[2].abort();  // once and for all
  other.join();
  expect_in(told, "rank 2 has left");
  expect_in(wait_in_vain(ranks[2]), "rank 2 has left");
  expect_in(wait_in_vain(ranks[1]), "rank 2 has left");
}

// Fails at its n-th gather, on all ranks, as a transport would.
class failing_communicator {
 public:
  failing_communicator(thread_communicator& base, int fails_at) : base_(base), left_(fails_at) {}
  int rank() const { return base_.rank(); }
  int size() const { return base_.size(); }
  void all_gather(const void* send, void* receive, std::size_t bytes) {
    if (left_-- == 0) throw tilefold::communicator_error("the cable was pulled");
    base_.all_gather(send, receive, bytes);
  }

 private:
  thread_communicator& base_;
  int left_;
};

TEST(RanksErrors, ACommunicatorThatFails) {
  for (int at = 0; at < 2; ++at) {
    thread_communicator::run(3, [&](thread_communicator& threads) {
      failing_communicator comm(threads, at);
      const tilefold::host_executor exec(1);
      const auto all = tilefold::ranks(comm, exec);
      const std::vector<float> x(9, 0.5f);
      EXPECT_EQ(message_of<tilefold::communicator_error>([&] { (void)tilefold::reduce(all, x); }),
                "the cable was pulled");
      expect_sound(all);
    });
  }
}

TEST(RanksErrors, MoreItemsThanAnIndexCounts) {
  thread_communicator::run(2, [&](thread_communicator& comm) {
    tilefold::detail::rank_call call(comm, "test");
    EXPECT_THROW(
        tilefold::detail::rank_parts(call.agree(std::numeric_limits<std::int64_t>::max() - 5)),
        tilefold::invalid_range_error);
  });
}

TEST(ThreadCommunicator, Gathers) {
  thread_communicator::run(7, [](thread_communicator& comm) {
    for (int round = 0; round < 200; ++round) {
      const int mine = 1000 * round + comm.rank();
      std::vector<int> all(7, -1);
      comm.all_gather(&mine, all.data(), sizeof mine);
      for (int r = 0; r < 7; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], 1000 * round + r);
    }
    comm.all_gather(nullptr, nullptr, 0);
  });
  EXPECT_THROW(thread_communicator::make(0), tilefold::invalid_range_error);
}

TEST(ThreadCommunicator, UnequalSizesAreRefusedOnAll) {
  thread_communicator::run(3, [](thread_communicator& comm) {
    const std::int64_t mine = 1;
    std::vector<std::int64_t> all(3);
    EXPECT_THROW(comm.all_gather(&mine, all.data(), comm.rank() == 1 ? 4 : 8),
                 tilefold::communicator_error);
    comm.all_gather(&mine, all.data(), sizeof mine);
  });
}

}  // namespace
