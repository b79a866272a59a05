// SPDX-License-Identifier: Apache-2.0
//
// The host executor among other users of oneTBB: inside tasks, cancelled groups and small arenas,
// with more threads than cores, from several threads at once, and when operators throw.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <tilefold/tilefold.hpp>

#include "conformance/conformance.hpp"
#include "conformance/reference.hpp"
#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace tbb = oneapi::tbb;

// Lets oneTBB have eight threads, however many cores there are.
class Threads : public ::testing::Test {
 protected:
  tbb::global_control eight_{tbb::global_control::max_allowed_parallelism, 8};
};

constexpr std::int64_t many = (std::int64_t{1} << 20) + 12345;

// Who took part in folds, and how many threads were ever inside an operator at the same time.
struct attendance {
  std::set<std::thread::id> seen;
  std::mutex lock;
  std::atomic<int> inside{0};
  std::atomic<int> peak{0};

  void enter() {
    const int now = ++inside;
    int most = peak;
    while (now > most && !peak.compare_exchange_weak(most, now)) {
    }
  }
  void leave() { --inside; }
};

// Folds hashes and notes who did.
struct noting_hash {
  attendance* threads;
  tree_hash operator()(const tree_hash& a, const tree_hash& b) const {
    threads->enter();
    // Not for every node: the lock would serialise the threads.
    if (a.low % 4096 == 0) {
      const std::lock_guard guard(threads->lock);
      threads->seen.insert(std::this_thread::get_id());
    }
    const tree_hash node = node_hash()(a, b);
    threads->leave();
    return node;
  }
};

// Workers come and go between folds, and within one; so what is bounded is how many are at work at
// the same time, not how many ever were.
TEST_F(Threads, AllTakePartAndNoneMoves) {
  const auto leaves = leaf_hashes(many);
  const auto expected = neighbour_tree(node_hash(), leaves);
  for (int threads = 1; threads <= 8; ++threads) {
    const host_executor exec(threads);
    EXPECT_EQ(exec.threads(), threads);
    attendance present;
    // On a busy machine a worker may come too late for one fold.
    for (int attempt = 0; attempt < 100 && present.seen.size() < 2; ++attempt) {
      present.peak = 0;
      ASSERT_EQ(reduce(exec, leaves, noting_hash{&present}), expected) << threads;
      ASSERT_LE(present.peak, threads);
      ASSERT_EQ(present.inside, 0);
      if (threads == 1) break;
    }
    if (threads == 1) {
      EXPECT_EQ(present.seen, std::set<std::thread::id>{std::this_thread::get_id()});
    } else {
      EXPECT_GE(present.seen.size(), 2u) << threads << " threads";
    }
  }
}

// Vector folds are cut into blocks of 2^17 bytes: lengths around a few of them.
template <class T, class Op, class Reference, class Acc>
void same_bits_on_every_number_of_threads() {
  std::vector<std::int64_t> sizes;
  constexpr std::int64_t block = (std::int64_t{1} << 17) / sizeof(T);
  for (const std::int64_t n : {7 * block, 8 * block, 9 * block, 16 * block, 21 * block}) {
    for (const std::int64_t off : {-1, 0, 1}) sizes.push_back(n + off);
  }
  const auto items = make_items<T>(pattern::mixed, sizes.back(), seed());
  const auto expected = prefix_folds(
      Reference(),
      [&](std::int64_t i) { return reference::lifted<Acc>(items[static_cast<std::size_t>(i)]); },
      sizes);
  for (int threads = 1; threads <= 8; ++threads) {
    const host_executor exec(threads);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Acc got = reduce<Acc>(exec, items.begin(), items.begin() + sizes[i], Op());
      const Acc wanted = expected[i];
      ASSERT_TRUE(same_bits(got, wanted)) << threads << " threads, n = " << sizes[i];
    }
  }
}

TEST_F(Threads, FloatSumsHaveTheSameBits) {
  same_bits_on_every_number_of_threads<float, plus, reference::plus, float>();
}
TEST_F(Threads, DoubleSumsHaveTheSameBits) {
  same_bits_on_every_number_of_threads<double, plus, reference::plus, double>();
}
TEST_F(Threads, HalfSumsHaveTheSameBits) {
  same_bits_on_every_number_of_threads<half, plus, reference::plus, float>();
}
TEST_F(Threads, ByteSumsHaveTheSameBits) {
  same_bits_on_every_number_of_threads<std::int8_t, plus, reference::plus, std::int32_t>();
}
TEST_F(Threads, FloatMinimaHaveTheSameBits) {
  same_bits_on_every_number_of_threads<float, minimum, reference::minimum, float>();
}

TEST_F(Threads, OwnStringsToo) {
  std::vector<std::string> words;
  for (int i = 0; i < 40000; ++i) words.push_back(std::to_string(i) + " ");
  const auto joined = [](const std::string& a, const std::string& b) { return a + b; };
  EXPECT_EQ(reduce(host_executor(8), words, joined), neighbour_tree(joined, words));
}

struct no_default {
  explicit no_default(std::int64_t v) : value(v) {}
  std::int64_t value;
};

TEST_F(Threads, AccumulatorsNeedNoDefaultConstructor) {
  std::vector<no_default> items;
  for (std::int64_t i = 0; i < 100000; ++i) items.emplace_back(i);
  const auto add = [](const no_default& a, const no_default& b) {
    return no_default(a.value + b.value);
  };
  EXPECT_EQ(reduce(host_executor(8), items, add).value, 4999950000);
}

TEST_F(Threads, AnExceptionOfTheOperatorReachesTheCaller) {
  const auto leaves = leaf_hashes(many);
  const host_executor exec(8);
  const auto bad = leaf_hash(777777);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto throwing = [&](const tree_hash& a, const tree_hash& b) {
      if (a == bad || b == bad) throw std::runtime_error("leaf 777777");
      return node_hash()(a, b);
    };
    try {
      reduce(exec, leaves, throwing);
      FAIL() << "no exception";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "leaf 777777");
    }
  }
  EXPECT_EQ(reduce(exec, leaves, node_hash()), neighbour_tree(node_hash(), leaves));
}

TEST_F(Threads, ExecutorIsSharedByThreads) {
  const auto leaves = leaf_hashes(many);
  const auto expected = neighbour_tree(node_hash(), leaves);
  const host_executor exec(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&, user, copy = exec] {
      for (int i = 0; i < 5; ++i) {
        if (!(reduce(user % 2 == 0 ? exec : copy, leaves, node_hash()) == expected)) ++wrong;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Threads, WorksInsideTasks) {
  const auto leaves = leaf_hashes(many / 4);
  const auto expected = neighbour_tree(node_hash(), leaves);
  const host_executor arena_of_its_own(4);
  const host_executor callers_arena;
  std::atomic<int> wrong{0};
  tbb::parallel_for(0, 32, [&](int i) {
    if (!(reduce(i % 2 == 0 ? arena_of_its_own : callers_arena, leaves, node_hash()) == expected)) {
      ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

// The caller, waiting for a block that a worker is busy with, must not take up another task of the
// program: that one could want a lock that the caller holds. Three threads in one arena: the
// caller, one worker that keeps a block until there are other tasks, and one that has these.
TEST_F(Threads, WaitingThreadTakesNoOtherTask) {
  const auto leaves = leaf_hashes(1 << 16);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> helped{false}, tasks_ready{false}, folded{false}, taken{false};
  const auto slow_hash = [&](const tree_hash& a, const tree_hash& b) {
    if (std::this_thread::get_id() == caller) {
      wait_for(helped);
    } else if (!helped.exchange(true)) {
      wait_for(tasks_ready);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return node_hash()(a, b);
  };
  tbb::task_arena arena(3, 2);
  std::thread other([&] {
    wait_for(helped);
    arena.execute([&] {
      tbb::task_group tasks;
      for (int i = 0; i < 100; ++i) {
        tasks.run([&] {
          if (std::this_thread::get_id() == caller && !folded) taken = true;
        });
      }
      tasks_ready = true;
      wait_for(folded);
      tasks.wait();
    });
  });
  tree_hash got{};
  arena.execute([&] { got = reduce(host_executor(), leaves, slow_hash); });
  folded = true;
  other.join();
  EXPECT_EQ(got, neighbour_tree(node_hash(), leaves));
  EXPECT_FALSE(taken);
}

TEST_F(Threads, ACancelledGroupOfTheCallerLosesNoBlock) {
  const auto leaves = leaf_hashes(many);
  const auto expected = neighbour_tree(node_hash(), leaves);
  tbb::task_group_context context;
  tree_hash got{};
  tbb::parallel_for(
      0, 1,
      [&](int) {
        context.cancel_group_execution();
        got = reduce(host_executor(), leaves, node_hash());
      },
      context);
  EXPECT_EQ(got, expected);
}

TEST_F(Threads, DefaultExecutorTakesTheArenaOfTheCaller) {
  tbb::task_arena small(3);
  small.execute([] { EXPECT_EQ(host_executor().threads(), 3); });
  small.execute([] { EXPECT_EQ(host_executor(5).threads(), 5); });
}

}  // namespace
}  // namespace tilefold::test
