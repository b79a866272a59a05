// SPDX-License-Identifier: Apache-2.0
//
// Every verb of one value over virtual ranks on one GPU: the bits of one call on the host.
#include <tilefold/ranks.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/count.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
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
