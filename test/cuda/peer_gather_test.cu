// SPDX-License-Identifier: Apache-2.0
//
// The protocol of ranks that write each other's memory, turn by turn: ranks that are late, ranks
// that leave with gathers under way, ranks that have given others up; and ranks with short parts,
// whose one launch meets the three of others. All on one GPU.
#include <tilefold/peers.cuh>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../support/stream_ranks.cuh"

namespace {

using tilefold::test::must;

// Some ranks on one GPU, whose gathers are launched one by one. Rank r's message of its turn t is
// all 1000 * t + r.
class ranks_of_one_gpu {
 public:
  explicit ranks_of_one_gpu(int ranks)
      : ranks_(ranks),
        group_(std::vector<int>(static_cast<std::size_t>(ranks), 0)),
        gpus_(static_cast<std::size_t>(ranks)),
        got_(static_cast<std::size_t>(ranks)) {}
  ~ranks_of_one_gpu() {
    for (int r = 0; r < ranks_; ++r) group_.leave(r);
    for (auto& gpu : gpus_) gpu.synchronize();
  }

  tilefold::detail::cuda::peer_group& group() { return group_; }

  /// The next turn of rank r, in its own stream.
  void gather(int r) {
    const auto at = static_cast<std::size_t>(r);
    const int turn = static_cast<int>(got_[at].size()) + 1;
    sent_.push_back(std::make_unique<items>(std::vector<int>(words, 1000 * turn + r)));
    got_[at].push_back(
        std::make_unique<items>(std::vector<int>(static_cast<std::size_t>(ranks_) * words, -1)));
    tilefold::detail::cuda::peer_gather_kernel<tilefold::detail::cuda::this_build>
        <<<static_cast<unsigned>(ranks_), tilefold::detail::cuda::peer_gather_nt, 0,
           gpus_[at].stream()>>>(reinterpret_cast<const char*>(sent_.back()->get()),
                                 reinterpret_cast<char*>(got_[at].back()->get()),
                                 words * sizeof(int), r, group_.inboxes(r),
                                 tilefold::detail::cuda::peer_group::capacity, group_.left());
    must(cudaGetLastError());
  }

  /// Whether rank r's gathers end within seconds.
  bool ends(int r) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (cudaStreamQuery(gpus_[static_cast<std::size_t>(r)].stream()) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  /// What rank r got of each rank in a turn: the message's value, 0 for none, -2 for a mixture.
  std::vector<int> got(int r, int turn) {
    std::vector<int> all(static_cast<std::size_t>(ranks_) * words);
    must(cudaMemcpy(all.data(),
                    got_[static_cast<std::size_t>(r)][static_cast<std::size_t>(turn) - 1]->get(),
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

  int ranks_;
  tilefold::detail::cuda::peer_group group_;
  std::vector<tilefold::cuda_executor> gpus_;
  std::vector<std::unique_ptr<items>> sent_;
  std::vector<std::vector<std::unique_ptr<items>>> got_;
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

// Ranks on one GPU that fold hashes in stream order, each in one launch or in three.
class folds_of_one_gpu {
  using hash = tilefold::test::tree_hash;
  using op = tilefold::test::node_hash;
  using arguments = tilefold::detail::init_and_op<tilefold::detail::no_init, op>;

 public:
  explicit folds_of_one_gpu(int ranks)
      : ranks_(ranks),
        group_(std::vector<int>(static_cast<std::size_t>(ranks), 0)),
        gpus_(static_cast<std::size_t>(ranks)) {
    for (auto& gpu : gpus_) gpu.reserve(1 << 20);
    for (int r = 0; r < ranks; ++r) {
      mail_.push_back(std::make_unique<tilefold::detail::cuda::rank_mailbox>(ranks));
      out_.push_back(std::make_unique<tilefold::test::device_items<hash>>(std::vector<hash>(1)));
    }
  }
  ~folds_of_one_gpu() {
    for (int r = 0; r < ranks_; ++r) group_.leave(r);
    for (auto& gpu : gpus_) gpu.synchronize();
  }

  /// Rank r's part of a call of all.
  void fold(int r, const hash* items, const tilefold::rank_lengths& lengths, bool in_one,
            std::uint64_t signature = 1) {
    namespace c = tilefold::detail::cuda;
    const auto at = static_cast<std::size_t>(r);
    const std::int64_t n = lengths[r];
    const auto bound = tilefold::detail::bind<void, const hash*>(
        arguments{tilefold::detail::no_init{}, op{}}, tilefold::detail::as_is{});
    using reducer = std::remove_cvref_t<decltype(bound.reducer)>;
    const int most =
        tilefold::detail::most_blocks<tilefold::detail::blocks_of<reducer>>(lengths.parts());
    const std::int64_t bytes = c::rank_message_bytes(most, sizeof(hash));
    const c::rank_header header{signature, lengths.begin(r), lengths.begin(r) + n, 0};
    auto& gpu = gpus_[at];
    c::rank_mailbox& mail = *mail_[at];
    const tilefold::detail::no_empty_tree empty{};
    const auto source = tilefold::detail::in_whole(bound.source(gpu, items), header.begin);
    if (in_one) {
      gpu.fold_with_peers(source, bound.reducer, header, group_.links(r), most, bound.start, empty,
                          out_[at]->get(), mail.status());
      return;
    }
    auto* const place = reinterpret_cast<c::rank_header*>(mail.message());
    auto* const values = reinterpret_cast<hash*>(mail.message() + c::rank_blocks_at);
    gpu.fold_blocks_to<tilefold::detail::default_policy>(
        source, bound.reducer, header.begin, n, c::rank_blocks<hash>{values, place, header});
    c::peer_gather_kernel<c::this_build>
        <<<static_cast<unsigned>(ranks_), c::peer_gather_nt, 0, gpu.stream()>>>(
            mail.message(), mail.messages(), bytes, r, group_.inboxes(r), c::peer_group::capacity,
            group_.left());
    must(cudaGetLastError());
    gpu.join_ranks(c::rank_messages{mail.messages(), bytes, ranks_, most, signature, mail.status()},
                   bound.reducer, bound.start, empty, out_[at]->get());
  }

  void leave(int r) { group_.leave(r); }

  hash value(int r) {
    return tilefold::test::fetched(gpus_[static_cast<std::size_t>(r)],
                                   out_[static_cast<std::size_t>(r)]->get());
  }
  tilefold::detail::cuda::rank_status status(int r) {
    gpus_[static_cast<std::size_t>(r)].synchronize();
    return tilefold::detail::cuda::rank_mailbox::taken(
        mail_[static_cast<std::size_t>(r)]->status());
  }

 private:
  int ranks_;
  tilefold::detail::cuda::peer_group group_;
  std::vector<tilefold::cuda_executor> gpus_;
  std::vector<std::unique_ptr<tilefold::detail::cuda::rank_mailbox>> mail_;
  std::vector<std::unique_ptr<tilefold::test::device_items<hash>>> out_;
};

// Loads all kernels: one that is loaded while another waits for ranks would wait for it.
void load_kernels_of_folds(const tilefold::test::tree_hash* items) {
  folds_of_one_gpu alone(1);
  for (const std::int64_t n : {1, 3}) {
    for (const bool in_one : {true, false}) {
      alone.fold(0, items, tilefold::rank_lengths({n}), in_one);
      (void)alone.value(0);
    }
  }
}

void expect_folds_of_parts(int ranks, int rounds, unsigned seed) {
  constexpr std::int64_t most = tilefold::detail::cuda::peer_fold_items;
  const auto leaves = tilefold::test::leaf_hashes(static_cast<std::size_t>(ranks * most));
  const tilefold::test::device_items<tilefold::test::tree_hash> items(leaves);
  load_kernels_of_folds(items.get());
  folds_of_one_gpu all(ranks);
  std::mt19937 bits(seed);
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::int64_t> parts;
    std::int64_t n = 0;
    for (int r = 0; r < ranks; ++r) {
      const std::int64_t sizes[] = {
          1, most, most - 1, 1 + bits() % 64, 1 + bits() % most, std::int64_t{1} << bits() % 13};
      parts.push_back(sizes[bits() % 6]);
      n += parts.back();
    }
    const tilefold::rank_lengths lengths(parts);
    const auto expected = tilefold::reduce(tilefold::host_executor(), leaves.begin(),
                                           leaves.begin() + n, tilefold::test::node_hash{});
    for (int r = 0; r < ranks; ++r) {
      all.fold(r, items.get() + lengths.begin(r), lengths, bits() % 3 != 0);
    }
    for (int r = 0; r < ranks; ++r) {
      ASSERT_EQ(all.value(r), expected) << "seed " << seed << ", round " << round << ", rank " << r;
    }
  }
}

TEST(PeerFold, ShortPartsInOneLaunchMeetThoseInThree) {
  for (const int ranks : {1, 2, 3, 4}) {
    expect_folds_of_parts(ranks, 60, 20261123u + static_cast<unsigned>(ranks));
  }
}
TEST(PeerFold, ShortPartsSanitize) { expect_folds_of_parts(3, 4, 7); }

TEST(PeerFold, OtherCallsAndRanksThatHaveLeftAreTold) {
  const tilefold::test::device_items<tilefold::test::tree_hash> items(
      tilefold::test::leaf_hashes(100));
  load_kernels_of_folds(items.get());
  folds_of_one_gpu all(2);
  const tilefold::rank_lengths lengths({40, 60});
  for (const bool in_one : {true, false}) {
    all.fold(0, items.get(), lengths, true);
    all.fold(1, items.get() + 40, lengths, in_one, 2);
    for (int r = 0; r < 2; ++r) {
      const auto told = all.status(r);
      EXPECT_EQ(told.what, tilefold::detail::cuda::rank_status::other_call);
      EXPECT_EQ(told.rank, 1 - r);
      EXPECT_EQ(all.value(r), tilefold::test::tree_hash{}) << "written all the same";
    }
  }
  all.fold(0, items.get(), lengths, true);
  all.leave(1);
  EXPECT_EQ(all.status(0).rank, 1);
  EXPECT_EQ(all.value(0), tilefold::test::tree_hash{});
}

}  // namespace
