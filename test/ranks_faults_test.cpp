// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong on one rank alone, at each of its words to the others, in every kind of verb: all
// are told, and nobody waits for good.
#include <tilefold/ranks.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/statistics.hpp>
#include <tilefold/transform_reduce.hpp>

#include "support/views.hpp"

namespace {

using tilefold::thread_communicator;
using tilefold::test::row_major;

constexpr int num_ranks = 3;

// Calls body(communicator) on a thread for each rank; what each returns. A rank that waits is an
// error, and is woken.
std::vector<std::string> words_of_ranks(
    const std::function<std::string(thread_communicator&)>& body) {
  auto comms = thread_communicator::make(num_ranks);
  std::vector<std::future<std::string>> said;
  for (auto& comm : comms) {
    said.push_back(std::async(std::launch::async, [&body, &comm] { return body(comm); }));
  }
  std::vector<std::string> words;
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    const auto state = said[rank].wait_for(std::chrono::seconds(20));
    EXPECT_EQ(state, std::future_status::ready) << "rank " << rank << " waits";
    if (state != std::future_status::ready) comms[rank].abort();
    words.push_back(said[rank].get());
  }
  return words;
}

template <class Call>
std::string told_by(const Call& call) {
  try {
    call();
  } catch (const tilefold::rank_error& error) {
    return std::string("rank_error: ") + error.what();
  } catch (const tilefold::communicator_error& error) {
    return std::string("communicator_error: ") + error.what();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

// Fails at its n-th gather, on one rank alone, which then leaves: nobody can be told by it.
class cut_off {
 public:
  cut_off(thread_communicator& base, int fails_at) : base_(base), left_(fails_at) {}
  int rank() const { return base_.rank(); }
  int size() const { return base_.size(); }
  void all_gather(const void* send, void* receive, std::size_t bytes) {
    if (left_-- == 0) {
      base_.abort();
      throw tilefold::communicator_error("the cable was pulled");
    }
    base_.all_gather(send, receive, bytes);
  }

 private:
  thread_communicator& base_;
  int left_;
};

struct adds {
  int operator()(int a, int b) const { return a + b; }
};

// Six items a rank; a segment, and a run, from the middle of a rank to that of the next.
template <class Comm, class Op = adds>
void reduces(Comm& comm, Op op = {}) {
  const tilefold::host_executor one(1);
  const std::vector<int> x(6, 1);
  (void)tilefold::reduce(tilefold::ranks(comm, one), x, op);
}
template <class Comm, class Op = adds>
void segments(Comm& comm, Op op = {}) {
  const tilefold::host_executor one(1);
  const std::vector<int> x(6, 1);
  const std::int64_t begin = 6 * comm.rank();
  std::vector<std::int64_t> offsets{begin + 3, begin + 9};
  if (comm.rank() == 0) offsets.insert(offsets.begin(), 0);
  if (comm.rank() == num_ranks - 1) offsets.back() = 6 * num_ranks;
  std::vector<int> sums(2);
  tilefold::segmented_reduce(tilefold::ranks(comm, one, 6), x.data(), offsets.data(),
                             offsets.size() - 1, sums.data(), tilefold::if_empty(op, 0));
}
template <class Comm, class Op = adds, class Equal = std::equal_to<>>
void keys(Comm& comm, Op op = {}, Equal equal = {}) {
  const tilefold::host_executor one(1);
  const std::vector<int> x(6, 1);
  std::vector<int> own(6, comm.rank());
  own[3] = own[4] = own[5] = comm.rank() + 1;
  std::vector<int> keys_out(6), sums(6);
  (void)tilefold::reduce_by_key(tilefold::ranks(comm, one), own.data(), own.data() + 6, x.data(),
                                keys_out.data(), sums.data(), equal, op);
}
template <class Comm, class Op = adds>
void axes(Comm& comm, Op op = {}) {
  const tilefold::host_executor one(1);
  const std::vector<int> x(6, 1);
  std::vector<int> sums(2);
  tilefold::axis_reduce(tilefold::ranks(comm, one), row_major(x.data(), {3, 2}),
                        row_major(sums.data(), {2}), 0, op);
}

struct verb {
  const char* name;
  int gathers;
  void (*call)(cut_off&);
};
const verb verbs[] = {
    {"reduce", 2, [](cut_off& comm) { reduces(comm); }},
    {"segments", 2, [](cut_off& comm) { segments(comm); }},
    {"keys", 3, [](cut_off& comm) { keys(comm); }},
    {"axes", 2, [](cut_off& comm) { axes(comm); }},
};

TEST(RanksFaults, ACommunicatorThatFailsOnOneRankAtEachGather) {
  for (const verb& v : verbs) {
    for (int bad = 0; bad < num_ranks; ++bad) {
      for (int at = 0; at <= v.gathers; ++at) {
        const auto said = words_of_ranks([&](thread_communicator& threads) {
          cut_off comm(threads, threads.rank() == bad ? at : -1);
          return told_by([&] { v.call(comm); });
        });
        for (int rank = 0; rank < num_ranks; ++rank) {
          const std::string expected =
              at == v.gathers ? "nothing"
              : rank == bad   ? "communicator_error: the cable was pulled"
                              : "communicator_error: tilefold::thread_communicator: rank " +
                                  std::to_string(bad) + " has left";
          EXPECT_EQ(said[static_cast<std::size_t>(rank)].substr(0, expected.size()), expected)
              << v.name << ", rank " << rank << " when rank " << bad << " fails at gather " << at;
        }
      }
    }
  }
}

// The gather of words, which follows when a rank has failed.
TEST(RanksFaults, ACommunicatorThatFailsWhenRanksSayWhy) {
  const auto said = words_of_ranks([](thread_communicator& threads) {
    cut_off comm(threads, threads.rank() == 2 ? 2 : -1);
    return told_by([&] {
      reduces(comm, [rank = comm.rank()](int a, int b) {
        if (rank == 0) throw std::runtime_error("the operator's own");
        return a + b;
      });
    });
  });
  for (const std::string& words : said) EXPECT_EQ(words.find("communicator_error"), 0u) << words;
}

// An operator that throws on one rank, in its own part.
struct throws_on {
  int rank;
  int thrower;
  int operator()(int a, int b) const {
    if (rank == thrower) throw std::runtime_error("the operator's own");
    return a + b;
  }
};

void expect_all_told(const std::vector<std::string>& said, int thrower, const char* name,
                     const std::string& what) {
  for (int rank = 0; rank < num_ranks; ++rank) {
    const std::string expected = rank == thrower
                                     ? what
                                     : "rank_error: tilefold::ranks: rank " +
                                           std::to_string(thrower) + " has failed: " + what;
    EXPECT_EQ(said[static_cast<std::size_t>(rank)], expected + ", then nothing")
        << name << ", rank " << rank;
  }
}

// What `call` of a communicator tells; and that a sum afterwards is fine.
template <class Call>
std::string told_and_sound(thread_communicator& comm, const Call& call) {
  const std::string first = told_by([&] { call(comm); });
  return first + ", then " + told_by([&] { reduces(comm); });
}

TEST(RanksFaults, WhatTheOperatorThrowsOnOneRankAllAreTold) {
  for (int thrower = 0; thrower < num_ranks; ++thrower) {
    const auto expect_told = [&](const char* name, const auto& call) {
      expect_all_told(words_of_ranks([&](thread_communicator& comm) {
                        return told_and_sound(comm, [&](thread_communicator& own) {
                          call(own, throws_on{own.rank(), thrower});
                        });
                      }),
                      thrower, name, "the operator's own");
    };
    expect_told("reduce", [](auto& comm, auto op) { reduces(comm, op); });
    expect_told("segments", [](auto& comm, auto op) { segments(comm, op); });
    expect_told("keys", [](auto& comm, auto op) { keys(comm, op); });
    expect_told("axes", [](auto& comm, auto op) { axes(comm, op); });
  }
}

struct throws_on_equality {
  int rank;
  int thrower;
  bool operator()(int a, int b) const {
    if (rank == thrower) throw std::runtime_error("the equality's own");
    return a == b;
  }
};

// One item a rank, so keys are compared between ranks alone, by all of them.
TEST(RanksFaults, WhatTheEqualityThrowsOnOneRankAllAreTold) {
  for (int thrower = 0; thrower < num_ranks; ++thrower) {
    expect_all_told(words_of_ranks([&](thread_communicator& comm) {
                      return told_and_sound(comm, [&](thread_communicator& own) {
                        const tilefold::host_executor one(1);
                        const int key = 1, x = 1;
                        int key_out = 0, sum = 0;
                        (void)tilefold::reduce_by_key(
                            tilefold::ranks(own, one), &key, &key + 1, &x, &key_out, &sum,
                            throws_on_equality{own.rank(), thrower}, adds{});
                      });
                    }),
                    thrower, "keys", "the equality's own");
  }
}

// A range on one rank that ends before it begins.
TEST(RanksFaults, ARangeThatEndsBeforeItBeginsOnOneRankAllAreTold) {
  for (int bad = 0; bad < num_ranks; ++bad) {
    const auto expect_told = [&](const std::string& name, const auto& call) {
      expect_all_told(words_of_ranks([&](thread_communicator& comm) {
                        return told_and_sound(comm, [&](thread_communicator& own) {
                          const tilefold::host_executor one(1);
                          const std::vector<int> x(6, 1);
                          const int* const first = x.data() + 3;
                          call(tilefold::ranks(own, one), first,
                               own.rank() == bad ? first - 3 : first + 3);
                        });
                      }),
                      bad, name.c_str(), "tilefold::" + name + ": last lies 3 items before first");
    };
    const auto twice = [](int v) { return 2 * v; };
    expect_told("reduce", [](const auto& all, const int* first, const int* last) {
      (void)tilefold::reduce(all, first, last);
    });
    expect_told("reduce_into", [](const auto& all, const int* first, const int* last) {
      int sum = 0;
      tilefold::reduce_into(all, first, last, &sum);
    });
    expect_told("transform_reduce", [&](const auto& all, const int* first, const int* last) {
      (void)tilefold::transform_reduce(all, first, last, 0, tilefold::plus{}, twice);
    });
    expect_told("mean", [](const auto& all, const int* first, const int* last) {
      (void)tilefold::mean(all, first, last);
    });
    expect_told("reduce_by_key", [&](const auto& all, const int* first, const int* last) {
      int own_keys[3], own_sums[3];
      (void)tilefold::reduce_by_key(all, first, last, first, own_keys, own_sums);
    });
  }
}

// Views on one rank that do not fit each other.
TEST(RanksFaults, ViewsThatDoNotFitOnOneRankAllAreTold) {
  for (int bad = 0; bad < num_ranks; ++bad) {
    const auto expect_told = [&](const std::vector<std::int64_t>& in,
                                 const std::vector<std::int64_t>& out, const std::string& what) {
      expect_all_told(words_of_ranks([&](thread_communicator& comm) {
                        return told_and_sound(comm, [&](thread_communicator& own) {
                          const tilefold::host_executor one(1);
                          const std::vector<int> x(12, 1);
                          std::vector<int> sums(6);
                          const bool is_bad = own.rank() == bad;
                          const std::vector<std::int64_t> rows{2, 3, 2}, result{3, 2};
                          tilefold::axis_reduce(tilefold::ranks(own, one),
                                                row_major(x.data(), is_bad ? in : rows),
                                                row_major(sums.data(), is_bad ? out : result), 0);
                        });
                      }),
                      bad, "axes", "tilefold::axis_reduce: " + what);
    };
    expect_told({2, 3, 2}, {3, 1}, "axis 1 of out has extent 1, but axis 2 of in has 2");
    expect_told({2, -3, 2}, {3, 2}, "the extent of axis 1 of in is -3");
    expect_told({2, 3, 2}, {6},
                "out has rank 1, but must have rank 2, or 3 with extents of 1 where axes are "
                "reduced");
  }
}

}  // namespace
