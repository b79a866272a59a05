// SPDX-License-Identifier: Apache-2.0
//
// Virtual ranks on one GPU, each a thread with an executor of its own, by every verb of one value;
// and ranks of which some fold on the host. The bits are those of one call on the host.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/count.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/statistics.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/ranks.hpp"
#include "../support/seed.hpp"
#include "ranks.cuh"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::node_hash;
using tilefold::test::random_cuts;
using tilefold::test::shape_stream;
using tilefold::test::tree_hash;

constexpr std::int64_t most_items = 300000;

// One call of all ranks: how many items, where the cuts are, what comes out.
struct cut_call {
  std::int64_t n;
  std::vector<std::int64_t> cuts;
  tree_hash expected;
};

// 10^5 cuts in all, most of them into few parts: many ranks of one GPU wait for each other.
TEST(CudaRanks, AnyCutGivesTheTreeOfTheWhole) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const auto leaves = tilefold::test::leaf_hashes(most_items);
  const tilefold::test::gpu_array<tree_hash> on_gpu(leaves);
  const tree_hash* const items = on_gpu.data();
  const tilefold::host_executor host;
  struct group {
    int ranks;
    int rounds;
  };
  const group groups[]{{1, 100}, {2, 60000}, {3, 30000}, {8, 10000}, {64, 100}};
  for (const group& of : groups) {
    const int ranks = of.ranks;
    std::vector<cut_call> calls;
    for (int round = 0; round < of.rounds; ++round) {
      const std::int64_t n = 1 + bits.below(round % 200 == 0 ? most_items : 200);
      calls.push_back({n, random_cuts(bits, n, ranks),
                       tilefold::reduce(host, leaves.data(), leaves.data() + n, node_hash{})});
    }
    on_ranks(ranks, [&](thread_communicator& comm, tilefold::cuda_executor& gpu) {
      const auto mine = static_cast<std::size_t>(comm.rank());
      const auto all = tilefold::ranks(comm, gpu);
      for (const auto& [n, cuts, expected] : calls) {
        ASSERT_EQ(tilefold::reduce(all, items + cuts[mine], items + cuts[mine + 1], node_hash{}),
                  expected)
            << n << " items, " << ranks << " ranks";
      }
    });
  }
}

TEST(CudaRanks, HostsAmongThem) {
  std::vector<float> x(most_items);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(i % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  const tilefold::test::gpu_array<float> on_gpu(x);
  const auto op = r::fuse(r::mean{}, r::arg_max{});
  const auto expected = tilefold::reduce(tilefold::host_executor(), x, op);
  thread_communicator::run(4, [&](thread_communicator& comm) {
    const std::int64_t begin = most_items * comm.rank() / 4;
    const std::int64_t end = most_items * (comm.rank() + 1) / 4;
    const auto check = [&](const auto& all, const float* items) {
      const auto got = tilefold::reduce(all, items + begin, items + end, op);
      EXPECT_EQ(tilefold::get<0>(got), tilefold::get<0>(expected));
      EXPECT_EQ(tilefold::get<1>(got).index, tilefold::get<1>(expected).index);
    };
    if (comm.rank() % 2 == 0) {
      const tilefold::host_executor host(1);
      check(tilefold::ranks(comm, host), x.data());
    } else {
      tilefold::cuda_executor gpu;
      check(tilefold::ranks(comm, gpu), on_gpu.data());
    }
  });
}

TEST(CudaRanks, WhatOneRankThrowsAllAreTold) {
  const tilefold::test::gpu_array<float> x(100, 1.0f);
  on_ranks(3, [&](thread_communicator& comm, tilefold::cuda_executor& gpu) {
    const auto all = tilefold::ranks(comm, gpu);
    const float* const items = comm.rank() == 1 ? nullptr : x.data();
    if (comm.rank() == 1) {
      EXPECT_THROW((void)tilefold::reduce(all, items, items + 3), tilefold::null_pointer_error);
    } else {
      EXPECT_THROW((void)tilefold::reduce(all, items, items + 3), tilefold::rank_error);
    }
    EXPECT_EQ(tilefold::reduce(all, x.data(), x.data() + 100), 300.0f);
  });
}

struct same_hash {
  __host__ __device__ tree_hash operator()(const tree_hash& x) const { return x; }
};

// The other verbs of one value. (ranks_many_results_test.cu has segments, runs and columns.)
TEST(CudaRanks, EveryVerbOfOneValue) {
  SCOPED_TRACE(tilefold::test::seed());
  constexpr std::int64_t n = 5000;
  shape_stream bits(tilefold::test::seed());
  const auto leaves = tilefold::test::leaf_hashes(n);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  const tilefold::test::gpu_array<tree_hash> leaves_on_gpu(leaves);
  const tilefold::test::gpu_array<float> x_on_gpu(x);
  const tilefold::host_executor host;
  const auto whole = tilefold::reduce(host, leaves, node_hash{});
  const auto mean = tilefold::mean(host, x.begin(), x.end());
  const auto most = tilefold::reduce(host, x, r::arg_max{});
  for (const int ranks : {2, 5}) {
    std::vector<std::vector<std::int64_t>> rounds;
    for (int i = 0; i < num_cuts(200); ++i) rounds.push_back(random_cuts(bits, n, ranks));
    on_ranks(ranks, [&](thread_communicator& comm, tilefold::cuda_executor& gpu) {
      tilefold::test::gpu_array<tree_hash> out(1);
      for (const auto& cuts : rounds) {
        const auto mine = static_cast<std::size_t>(comm.rank());
        const tree_hash* const first = leaves_on_gpu.data() + cuts[mine];
        const tree_hash* const last = leaves_on_gpu.data() + cuts[mine + 1];
        const float* const x_first = x_on_gpu.data() + cuts[mine];
        const float* const x_last = x_on_gpu.data() + cuts[mine + 1];
        const auto all = tilefold::ranks(comm, gpu);
        ASSERT_EQ(tilefold::transform_reduce(all, first, last, node_hash{}, same_hash{}), whole);
        tilefold::reduce_into(all, first, last, out.data(), node_hash{});
        gpu.synchronize();
        ASSERT_EQ(out.to_host()[0], whole);
        ASSERT_EQ(tilefold::mean(all, x_first, x_last), mean);
        ASSERT_EQ(tilefold::count(all, x_first, x_last, x[7]),
                  tilefold::count(host, x.begin(), x.end(), x[7]));
        const auto found = tilefold::reduce(all, x_first, x_last, r::arg_max{});
        ASSERT_EQ(found.index, most.index);
      }
    });
  }
}

}  // namespace
