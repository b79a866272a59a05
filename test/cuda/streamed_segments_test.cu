// SPDX-License-Identifier: Apache-2.0
//
// A GPU over host memory: segments have the bits of the host, whatever the chunks.
#include <tilefold/streamed.cuh>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/if_empty.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"
#include "streamed.cuh"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::node_hash;
using tilefold::test::shape_stream;

// 0 = c[0] <= ... <= c[parts] <= n, many of them equal, some far apart.
std::vector<std::int32_t> random_offsets(shape_stream& bits, std::int64_t n, std::size_t segments) {
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i <= segments; ++i) {
    offsets.push_back(!offsets.empty() && bits.one_in(3)
                          ? offsets[static_cast<std::size_t>(
                                bits.below(static_cast<std::int64_t>(offsets.size())))]
                          : static_cast<std::int32_t>(bits.below(n + 1)));
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

TEST(Streamed, SegmentsShortLongAndEmpty) {
  using tilefold::test::tree_hash;
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  constexpr std::int64_t n = 30000;
  const auto leaves = tilefold::test::leaf_hashes(n);
  const auto op = tilefold::if_empty(node_hash{}, tree_hash{1, 2});
  const tilefold::host_executor host;
  tilefold::cuda_executor gpu;
  for (const std::int64_t chunk : {4096, 50000, 1 << 22}) {
    const auto stream = tilefold::streamed(gpu, chunk);
    for (const std::size_t segments : {1, 2, 40, 5000}) {
      const auto offsets = random_offsets(bits, n, segments);
      std::vector<tree_hash> expected(segments);
      std::vector<tree_hash> got(segments);
      tilefold::segmented_reduce(host, leaves.data(), offsets.data(), segments, expected.data(),
                                 op);
      tilefold::segmented_reduce(stream, leaves.data(), offsets.data(), segments, got.data(), op);
      ASSERT_EQ(got, expected) << segments << " segments in chunks of " << chunk;
    }
    for (const std::int64_t size : {0, 1, 64, 300, 7000}) {
      const std::int64_t segments = size == 0 ? 100 : n / size;
      std::vector<tree_hash> expected(static_cast<std::size_t>(segments));
      auto got = expected;
      tilefold::segmented_reduce(host, leaves.data(), segments, size, expected.data(), op);
      tilefold::segmented_reduce(stream, leaves.data(), segments, size, got.data(), op);
      ASSERT_EQ(got, expected) << "segments of " << size << " in chunks of " << chunk;
    }
  }
}

TEST(Streamed, SegmentsCountTheirOwnIndicesAndConvert) {
  const auto x = mixed_floats(20000);
  const std::vector<std::int64_t> offsets{0, 0, 17, 9000, 19999, 20000};
  const tilefold::host_executor host;
  tilefold::cuda_executor gpu;
  const auto stream = tilefold::streamed(gpu, 8192);
  using place = tilefold::reducers::indexed_value<float>;
  const auto op = tilefold::if_empty(r::arg_max{}, place{0.0f, -1});
  std::vector<place> expected(5);
  std::vector<place> got(5);
  tilefold::segmented_reduce(host, x.data(), offsets.data(), 5, expected.data(), op);
  tilefold::segmented_reduce(stream, x.data(), offsets.data(), 5, got.data(), op);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(got[i].index, expected[i].index) << i;
  std::vector<double> sums(5);
  std::vector<double> of_host(5);
  tilefold::segmented_reduce(host, x.data(), offsets.data(), 5, of_host.data(), 0.5f);
  tilefold::segmented_reduce(stream, x.data(), offsets.data(), 5, sums.data(), 0.5f);
  EXPECT_EQ(sums, of_host);
  // Through ranks.
  tilefold::thread_communicator::run(2, [&](tilefold::thread_communicator& comm) {
    tilefold::cuda_executor own;
    const auto own_stream = tilefold::streamed(own, 8192);
    const bool front = comm.rank() == 0;
    const std::int64_t begin = front ? 0 : 12345;
    const std::int64_t end = front ? 12345 : 20000;
    std::vector<double> part(front ? 4 : 1);
    tilefold::segmented_reduce(tilefold::ranks(comm, own_stream, end - begin), x.data() + begin,
                               offsets.data() + (front ? 0 : 4), part.size(), part.data(), 0.5f);
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_EQ(part[i], of_host[i + (front ? 0 : 4)]) << i;
    }
  });
}

// Threads fill the ring of pinned parts many times over, ahead of the copies.
TEST(Streamed, PageableMemoryLongerThanTheRing) {
  using tilefold::test::tree_hash;
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const auto leaves = tilefold::test::leaf_hashes(std::int64_t{10} << 20);
  const auto n = static_cast<std::int64_t>(leaves.size());
  const auto op = tilefold::if_empty(node_hash{}, tree_hash{1, 2});
  const tilefold::host_executor host;
  tilefold::cuda_executor gpu;
  for (const std::int64_t chunk :
       {std::int64_t{100000}, (std::int64_t{16} << 20) + 3, std::int64_t{256} << 20}) {
    const auto stream = tilefold::streamed(gpu, chunk);
    for (const std::int64_t first : {std::int64_t{0}, bits.below(n / 8)}) {
      const auto* const items = leaves.data() + first;
      ASSERT_EQ(tilefold::reduce(stream, items, items + (n - first), node_hash{}),
                tilefold::reduce(host, items, items + (n - first), node_hash{}))
          << "from " << first << " in chunks of " << chunk;
    }
    // Short segments, one that is longer than a chunk, short ones.
    std::vector<std::int32_t> offsets;
    for (std::int32_t at = 0; at < 1000; at += 10) offsets.push_back(at);
    for (auto at = static_cast<std::int32_t>(n - 2000000); at <= n; at += 200) {
      offsets.push_back(at);
    }
    const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
    std::vector<tree_hash> expected(static_cast<std::size_t>(segments));
    std::vector<tree_hash> got(expected.size());
    tilefold::segmented_reduce(host, leaves.data(), offsets.data(), segments, expected.data(), op);
    tilefold::segmented_reduce(stream, leaves.data(), offsets.data(), segments, got.data(), op);
    ASSERT_EQ(got, expected) << "segments in chunks of " << chunk;
  }
}

}  // namespace
