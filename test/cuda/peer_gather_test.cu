// SPDX-License-Identifier: Apache-2.0
//
// The protocol of ranks that write each other's memory, turn by turn: ranks that are late, ranks
// that leave with gathers under way, ranks that have given others up. All on one GPU.
#include <tilefold/peers.cuh>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../support/stream_ranks.cuh"

namespace {

using tilefold::test::must;

// Some ranks on one GPU, whose gathers are launched one by one. Rank r's message of its turn t is
// all 1000 * t + r. All memory is there before the first gather waits, and no stream of theirs
// waits for the legacy stream: else a copy to the GPU waits for a gather that only the next one
// ends.
class ranks_of_one_gpu {
 public:
  explicit ranks_of_one_gpu(int ranks)
      : ranks_(ranks), group_(std::vector<int>(static_cast<std::size_t>(ranks), 0)) {
    for (int r = 0; r < ranks; ++r) ranks_there_.push_back(std::make_unique<rank>(r, ranks));
  }
  ~ranks_of_one_gpu() {
    for (int r = 0; r < ranks_; ++r) group_.leave(r);
    for (const auto& there : ranks_there_) (void)cudaStreamSynchronize(there->stream);
  }

  tilefold::detail::cuda::peer_group& group() { return group_; }

  /// The next turn of rank r, in its own stream.
  void gather(int r) {
    rank& own = rank_at(r);
    if (own.turns == most_turns) throw std::out_of_range("a rank has no memory for more turns");
    const int turn = own.turns++;
    tilefold::detail::cuda::peer_gather_kernel<tilefold::detail::cuda::this_build>
        <<<static_cast<unsigned>(ranks_), tilefold::detail::cuda::peer_gather_nt, 0, own.stream>>>(
            reinterpret_cast<const char*>(own.sent.get() + turn * words),
            reinterpret_cast<char*>(own.got.get() + turn * ranks_ * words), words * sizeof(int), r,
            group_.inboxes(r), tilefold::detail::cuda::peer_group::capacity, group_.left());
    must(cudaGetLastError());
  }

  /// Whether rank r's gathers end within seconds.
  bool ends(int r) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (cudaStreamQuery(rank_at(r).stream) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  /// What rank r got of each rank in a turn: the message's value, 0 for none, -2 for a mixture.
  std::vector<int> got(int r, int turn) {
    std::vector<int> all(static_cast<std::size_t>(ranks_ * words));
    must(cudaMemcpy(all.data(), rank_at(r).got.get() + (turn - 1) * ranks_ * words,
                    all.size() * sizeof(int), cudaMemcpyDeviceToHost));
    std::vector<int> values;
    for (auto first = all.begin(); first != all.end(); first += words) {
      const bool one = std::count(first, first + words, *first) == words;
      values.push_back(one ? *first : -2);
    }
    return values;
  }

 private:
  using items = tilefold::test::device_items<int>;
  static constexpr std::ptrdiff_t words = 256;
  static constexpr int most_turns = 5;

  struct rank {
    rank(int number, int ranks)
        : sent(messages_of(number)),
          got(std::vector<int>(static_cast<std::size_t>(most_turns * ranks * words), -1)) {}

    tilefold::test::scoped_stream stream{cudaStreamNonBlocking};
    items sent;
    items got;
    int turns = 0;
  };

  static std::vector<int> messages_of(int rank) {
    std::vector<int> all;
    for (int turn = 1; turn <= most_turns; ++turn) {
      all.insert(all.end(), static_cast<std::size_t>(words), 1000 * turn + rank);
    }
    return all;
  }

  rank& rank_at(int r) { return *ranks_there_[static_cast<std::size_t>(r)]; }

  int ranks_;
  tilefold::detail::cuda::peer_group group_;
  std::vector<std::unique_ptr<rank>> ranks_there_;
};

using values = std::vector<int>;

// The last leaves before rank 1 has come, whose message must arrive still.
TEST(PeerGather, ARankThatLeavesKeepsNobodyFromTheOthers) {
  ranks_of_one_gpu ranks(3);
  ranks.gather(0);
  ranks.group().leave(2);
  // By then block 2 of rank 0 has found out, and block 1 would have, if it asked for any rank.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ranks.gather(1);
  for (int r = 0; r < 2; ++r) {
    ASSERT_TRUE(ranks.ends(r));
    EXPECT_EQ(ranks.got(r, 1), (values{1000, 1001, 0})) << "rank " << r;
  }
  EXPECT_TRUE(ranks.group().has_left(2));
  EXPECT_FALSE(ranks.group().has_left(1));
}

// Three gathers of rank 0 are under way, of which rank 1 has come to the first, when rank 0 leaves.
TEST(PeerGather, ARankThatLeavesWaitsForNobody) {
  ranks_of_one_gpu ranks(2);
  ranks.gather(1);
  for (int turn = 0; turn < 3; ++turn) ranks.gather(0);
  ASSERT_TRUE(ranks.ends(1));
  EXPECT_EQ(ranks.got(1, 1), (values{1000, 1001}));
  ranks.group().leave(0);
  ASSERT_TRUE(ranks.ends(0));
  EXPECT_EQ(ranks.got(0, 1), (values{1000, 1001}));
  EXPECT_EQ(ranks.got(0, 2), (values{2000, 0}));
  EXPECT_EQ(ranks.got(0, 3), (values{3000, 0}));
  // What rank 0 had sent by then rank 1 gets, and no more.
  for (int turn = 2; turn <= 4; ++turn) ranks.gather(1);
  ASSERT_TRUE(ranks.ends(1));
  EXPECT_EQ(ranks.got(1, 2), (values{2000, 2001}));
  EXPECT_EQ(ranks.got(1, 3), (values{0, 3001}));
  EXPECT_EQ(ranks.got(1, 4), (values{0, 4001}));
}

// Rank 0 has given rank 1 up and is two turns ahead when rank 1's own first gather begins: in the
// place that it reads stands the message of its turn.
TEST(PeerGather, WhoHasGivenUpWritesNothingMore) {
  ranks_of_one_gpu ranks(3);
  ranks.group().leave(1);
  for (int turn = 0; turn < 3; ++turn) {
    ranks.gather(0);
    ranks.gather(2);
  }
  ASSERT_TRUE(ranks.ends(0) && ranks.ends(2));
  EXPECT_EQ(ranks.got(0, 3), (values{3000, 0, 3002}));
  ranks.gather(1);
  ASSERT_TRUE(ranks.ends(1));
  EXPECT_EQ(ranks.got(1, 1), (values{1000, 1001, 1002}));
}

TEST(PeerGather, TurnsOfRanksThatAreLateSanitize) {
  ranks_of_one_gpu ranks(2);
  for (int turn = 0; turn < 5; ++turn) ranks.gather(0);
  for (int turn = 0; turn < 5; ++turn) ranks.gather(1);
  ASSERT_TRUE(ranks.ends(0) && ranks.ends(1));
  for (int turn = 1; turn <= 5; ++turn) {
    for (int r = 0; r < 2; ++r) {
      EXPECT_EQ(ranks.got(r, turn), (values{1000 * turn, 1000 * turn + 1})) << r;
    }
  }
}

}  // namespace
