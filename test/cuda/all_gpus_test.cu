// SPDX-License-Identifier: Apache-2.0
//
// 1, 2, 3, 4, 7 and 8 GPUs, each GPU first in turn, give the bits of one call on the host: as a
// group, and as ranks joined by threads, by peers and, where there is an NCCL, by it. Cuts are
// random, and leave parts empty. A group and threads can have a GPU several times, so they have all
// numbers on any machine; peers and NCCL have those up to its number of GPUs.
#include <tilefold/cuda_group.cuh>
#include <tilefold/peers.cuh>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/if_empty.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>

#if defined(TILEFOLD_TEST_NCCL)
#include <tilefold/nccl.cuh>
#endif

#include "../support/device.cuh"
#include "../support/gpu_lists.hpp"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/ranks.hpp"
#include "../support/seed.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::gpu_array;
using tilefold::test::gpu_lists;
using tilefold::test::must;
using tilefold::test::node_hash;
using tilefold::test::shape_stream;
using tilefold::test::text_of;
using tilefold::test::tree_hash;

constexpr std::int64_t most_items = 150000;
constexpr int rounds_of_a_list = 8;

/// The bits of a hash that shows its tree, of a sum whose order shows, and of five statistics.
struct value_bits {
  tree_hash tree;
  std::uint32_t sum;
  std::array<std::uint64_t, 5> statistics;

  friend bool operator==(const value_bits&, const value_bits&) = default;
};

template <class... Results>
std::array<std::uint64_t, sizeof...(Results)> bits_of(const Results&... results) {
  return {std::bit_cast<std::uint64_t>(static_cast<double>(results))...};
}

template <class Executor, class Hashes, class Floats>
value_bits values_of(const Executor& exec, const Hashes& hashes, const Floats& floats,
                     std::int64_t n) {
  const auto five = tilefold::reduce(
      exec, floats, floats + n, r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{}));
  return {tilefold::reduce(exec, hashes, hashes + n, node_hash{}),
          std::bit_cast<std::uint32_t>(tilefold::reduce(exec, floats, floats + n)),
          bits_of(tilefold::get<0>(five), tilefold::get<1>(five), tilefold::get<2>(five),
                  tilefold::get<3>(five), tilefold::get<4>(five))};
}

/// A call of all parts: how many items, where the cuts are, what comes out.
struct cut_call {
  std::int64_t n;
  std::vector<std::int64_t> cuts;
  value_bits expected;

  std::int64_t begin(std::size_t part) const { return cuts[part]; }
  std::int64_t count(std::size_t part) const { return cuts[part + 1] - cuts[part]; }
};

/// The items of all calls. A call has the first n of them.
struct sequence {
  std::vector<tree_hash> hashes = tilefold::test::leaf_hashes(most_items);
  std::vector<float> floats = tilefold::test::mixed_floats(most_items, tilefold::test::seed());

  std::vector<cut_call> calls(shape_stream& bits, std::size_t parts) const {
    std::vector<cut_call> result;
    for (int i = 0; i < rounds_of_a_list; ++i) {
      const std::int64_t n = 2 + bits.below(i % 4 == 0 ? most_items - 1 : 3000);
      result.push_back({n, tilefold::test::random_cuts(bits, n, static_cast<int>(parts)),
                        values_of(tilefold::host_executor(), hashes.data(), floats.data(), n)});
    }
    return result;
  }
};

/// Memory of a GPU for one part and nothing else. It begins behind an aligned address.
class part_memory {
 public:
  explicit part_memory(int device) : device_(device) {
    must(cudaSetDevice(device));
    hashes_ = std::make_unique<gpu_array<tree_hash>>(most_items + 1);
    floats_ = std::make_unique<gpu_array<float>>(most_items + 1);
  }

  void load(const sequence& all, std::int64_t begin, std::int64_t count) {
    must(cudaSetDevice(device_));
    hashes_->assign(all.hashes.data() + begin, count, 1);
    floats_->assign(all.floats.data() + begin, count, 1);
    must(cudaStreamSynchronize(nullptr));  // executors have streams that do not wait for copies
  }
  const tree_hash* hashes() const { return hashes_->data() + 1; }
  const float* floats() const { return floats_->data() + 1; }

 private:
  int device_;
  std::unique_ptr<gpu_array<tree_hash>> hashes_;
  std::unique_ptr<gpu_array<float>> floats_;
};

// A rank that finds a fault goes on: others wait for its next call.
template <class Comm>
void expect_calls(Comm& comm, int device, const sequence& all, const std::vector<cut_call>& calls) {
  part_memory own(device);
  tilefold::cuda_executor gpu;
  gpu.reserve(1 << 20);
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (const cut_call& call : calls) {
    const std::int64_t count = call.count(rank);
    own.load(all, call.begin(rank), count);
    const auto lengths = tilefold::rank_lengths::of(comm, count);
    EXPECT_EQ(values_of(tilefold::ranks(comm, gpu, lengths), own.hashes(), own.floats(), count),
              call.expected)
        << call.n << " items, rank " << rank << " of " << comm.size() << " has " << count;
    EXPECT_EQ(tilefold::reduce(tilefold::ranks(comm, gpu), own.hashes(), own.hashes() + count,
                               node_hash{}),
              call.expected.tree)
        << call.n << " items without lengths, rank " << rank << " has " << count;
  }
}

template <class Comm>
void expect_calls_of_all(std::vector<Comm> comms, const std::vector<int>& devices,
                         const sequence& all, const std::vector<cut_call>& calls) {
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < comms.size(); ++rank) {
    threads.emplace_back([&, rank] { expect_calls(comms[rank], devices[rank], all, calls); });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Calls test(devices, sequence, calls) for each list of GPUs.
template <class Test>
void for_each_list(bool may_repeat, const Test& test) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const sequence all;
  for (const std::vector<int>& devices : gpu_lists(may_repeat)) {
    SCOPED_TRACE(text_of(devices));
    test(devices, all, all.calls(bits, devices.size()));
    if (testing::Test::HasFailure()) {
      std::cout << "failed by " << text_of(devices) << std::endl;  // threads have no such trace
      return;
    }
  }
}

TEST(AllGpus, Group) {
  for_each_list(true, [](const std::vector<int>& devices, const sequence& all,
                         const std::vector<cut_call>& calls) {
    const tilefold::cuda_group gpus(devices);
    std::vector<part_memory> parts(devices.begin(), devices.end());
    for (const cut_call& call : calls) {
      std::vector<const tree_hash*> hashes;
      std::vector<const float*> floats;
      std::vector<std::int64_t> counts;
      for (std::size_t d = 0; d < parts.size(); ++d) {
        parts[d].load(all, call.begin(d), call.count(d));
        hashes.push_back(parts[d].hashes());
        floats.push_back(parts[d].floats());
        counts.push_back(call.count(d));
      }
      EXPECT_EQ(values_of(gpus, tilefold::shards<tree_hash>(hashes, counts).begin(),
                          tilefold::shards<float>(floats, counts).begin(), call.n),
                call.expected)
          << call.n << " items";
    }
  });
}

TEST(AllGpus, SegmentsOfAGroup) {
  constexpr std::int64_t segments = 60;
  const auto op = tilefold::if_empty(node_hash{}, tree_hash{1, 2});
  const gpu_array<std::int64_t, tilefold::test::memory::pinned> offsets(segments + 1);
  const gpu_array<tree_hash, tilefold::test::memory::pinned> out(segments);
  shape_stream bits(tilefold::test::seed() + 1);
  for_each_list(true, [&](const std::vector<int>& devices, const sequence& all,
                          const std::vector<cut_call>& calls) {
    const tilefold::cuda_group gpus(devices);
    std::vector<part_memory> parts(devices.begin(), devices.end());
    for (const cut_call& call : calls) {
      const auto ends = tilefold::test::random_cuts(bits, call.n, static_cast<int>(segments));
      std::vector<tree_hash> expected(segments);
      tilefold::segmented_reduce(tilefold::host_executor(), all.hashes.data(), ends.data(),
                                 segments, expected.data(), op);
      std::copy(ends.begin(), ends.end(), offsets.data());
      std::fill(out.begin(), out.end(), tree_hash{7, 7});
      std::vector<const tree_hash*> hashes;
      std::vector<std::int64_t> counts;
      for (std::size_t d = 0; d < parts.size(); ++d) {
        parts[d].load(all, call.begin(d), call.count(d));
        hashes.push_back(parts[d].hashes());
        counts.push_back(call.count(d));
      }
      tilefold::segmented_reduce(gpus, tilefold::shards<tree_hash>(hashes, counts).begin(),
                                 offsets.data(), segments, out.data(), op);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin())) << call.n << " items";
    }
  });
}

TEST(AllGpus, RanksOfThreads) {
  for_each_list(true, [](const std::vector<int>& devices, const sequence& all,
                         const std::vector<cut_call>& calls) {
    expect_calls_of_all(tilefold::thread_communicator::make(static_cast<int>(devices.size())),
                        devices, all, calls);
  });
}

TEST(AllGpus, RanksOfPeers) {
  for_each_list(false, [](const std::vector<int>& devices, const sequence& all,
                          const std::vector<cut_call>& calls) {
    expect_calls_of_all(tilefold::peer_communicator::make(devices), devices, all, calls);
  });
}

TEST(AllGpus, RanksOfNccl) {
#if defined(TILEFOLD_TEST_NCCL)
  for_each_list(false, [](const std::vector<int>& devices, const sequence& all,
                          const std::vector<cut_call>& calls) {
    std::vector<ncclComm_t> raw(devices.size());
    ASSERT_EQ(ncclCommInitAll(raw.data(), static_cast<int>(raw.size()), devices.data()),
              ncclSuccess);
    std::vector<tilefold::nccl_communicator> comms;
    for (const ncclComm_t comm : raw) comms.emplace_back(comm);
    expect_calls_of_all(std::move(comms), devices, all, calls);
    for (const ncclComm_t comm : raw) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  });
#else
  GTEST_SKIP() << "no NCCL";
#endif
}

}  // namespace
