// SPDX-License-Identifier: Apache-2.0
//
// A GPU over host memory: any chunk, any kind of memory, the bits of the host's own call.
#include <tilefold/streamed.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/if_empty.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/memory_resource.cuh"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::must;
using tilefold::test::node_hash;
using tilefold::test::shape_stream;

template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

std::vector<float> mixed_floats(std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  return x;
}

TEST(Streamed, AnyChunkGivesTheTreeOfTheWhole) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const auto leaves = tilefold::test::leaf_hashes(100000);
  tilefold::cuda_executor gpu;
  for (const std::int64_t chunk : {4096, 5000, 1 << 16, 1 << 26}) {
    const auto stream = tilefold::streamed(gpu, chunk);
    for (int round = 0; round < 20; ++round) {
      const std::int64_t n = 1 + bits.below(round % 2 == 0 ? 100000 : 600);
      const std::int64_t first = bits.below(100000 - n + 1);
      const auto* const items = leaves.data() + first;
      ASSERT_EQ(tilefold::reduce(stream, items, items + n, node_hash{}),
                tilefold::reduce(tilefold::host_executor(), items, items + n, node_hash{}))
          << n << " items in chunks of " << chunk;
    }
  }
}

TEST(Streamed, PinnedAndManagedMemory) {
  const auto x = mixed_floats(300000);
  const float expected = tilefold::reduce(tilefold::host_executor(), x);
  tilefold::cuda_executor gpu;
  const auto stream = tilefold::streamed(gpu, 1 << 16);
  float* pinned = nullptr;
  float* managed = nullptr;
  must(cudaMallocHost(&pinned, x.size() * sizeof(float)));
  must(cudaMallocManaged(&managed, x.size() * sizeof(float)));
  for (float* const memory : {pinned, managed}) {
    std::memcpy(memory, x.data(), x.size() * sizeof(float));
    EXPECT_TRUE(same(tilefold::reduce(stream, memory, memory + x.size()), expected));
    EXPECT_TRUE(same(tilefold::reduce(stream, memory + 1, memory + x.size()),
                     tilefold::reduce(tilefold::host_executor(), x.begin() + 1, x.end())));
  }
  must(cudaFreeHost(pinned));
  must(cudaFree(managed));
}

TEST(Streamed, EveryVerbOfOneValue) {
  const auto x = mixed_floats(200003);
  const std::vector<double> y(x.rbegin(), x.rend());
  const tilefold::host_executor host;
  tilefold::cuda_executor gpu;
  const auto stream = tilefold::streamed(gpu, 30000);
  EXPECT_TRUE(same(tilefold::reduce(stream, x, 2.0), tilefold::reduce(host, x, 2.0)));
  EXPECT_TRUE(same(tilefold::reduce(stream, x, tilefold::maximum{}),
                   tilefold::reduce(host, x, tilefold::maximum{})));
  EXPECT_TRUE(
      same(tilefold::reduce(stream, x, r::exact_sum{}), tilefold::reduce(host, x, r::exact_sum{})));
  EXPECT_TRUE(same(tilefold::transform_reduce(stream, x.begin(), x.end(), y.begin(), r::dot{}),
                   tilefold::transform_reduce(host, x.begin(), x.end(), y.begin(), r::dot{})));
  const auto op = r::fuse(r::variance{}, r::arg_min{});
  const auto got = tilefold::reduce(stream, x, op);
  const auto expected = tilefold::reduce(host, x, op);
  EXPECT_TRUE(same(tilefold::get<0>(got), tilefold::get<0>(expected)));
  EXPECT_EQ(tilefold::get<1>(got).index, tilefold::get<1>(expected).index);
  double out = 0;
  tilefold::reduce_into(stream, x, &out, r::mean{});
  EXPECT_TRUE(same(out, tilefold::reduce(host, x, r::mean{})));
}

TEST(Streamed, PiecesAndRanks) {
  const auto x = mixed_floats(100000);
  const float expected = tilefold::reduce(tilefold::host_executor(), x);
  tilefold::cuda_executor gpu;
  const auto stream = tilefold::streamed(gpu, 4096);
  auto part = tilefold::reduce_piece(stream, x.data(), x.data() + 33333, 0);
  part.append(tilefold::host_executor(), x.data() + 33333, x.data() + 50000);
  part.append(stream, x.data() + 50000, x.data() + 100000);
  EXPECT_TRUE(same(part.value(), expected));
  tilefold::thread_communicator::run(3, [&](tilefold::thread_communicator& comm) {
    tilefold::cuda_executor own;
    const auto own_stream = tilefold::streamed(own, 8192);
    const std::int64_t begin = 100000 * comm.rank() / 3;
    const std::int64_t end = 100000 * (comm.rank() + 1) / 3;
    EXPECT_TRUE(
        same(tilefold::reduce(tilefold::ranks(comm, own_stream), x.data() + begin, x.data() + end),
             expected));
  });
}

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

TEST(Streamed, ErrorsLeaveItUsable) {
  tilefold::cuda_executor gpu;
  EXPECT_THROW(tilefold::streamed(gpu, 100), tilefold::invalid_range_error);
  const auto stream = tilefold::streamed(gpu, 4096);
  const float* const null = nullptr;
  EXPECT_THROW((void)tilefold::reduce(stream, null, null + 3), tilefold::null_pointer_error);
  float* on_gpu = nullptr;
  must(cudaMalloc(&on_gpu, 400));
  EXPECT_THROW((void)tilefold::reduce(stream, on_gpu, on_gpu + 100), tilefold::memory_space_error);
  must(cudaFree(on_gpu));
  const std::vector<float> x(10000, 1.0f);
  const std::vector<int> offsets{0, 5000, 10000};
  std::vector<float> sums(2);
  const int* const no_offsets = nullptr;
  EXPECT_THROW(tilefold::segmented_reduce(stream, x.data(), no_offsets, 2, sums.data()),
               tilefold::null_pointer_error);
  EXPECT_THROW(tilefold::segmented_reduce(stream, null, offsets.data(), 2, sums.data()),
               tilefold::null_pointer_error);
  tilefold::segmented_reduce(stream, x.data(), offsets.data(), 2, sums.data());
  EXPECT_EQ(sums, (std::vector<float>{5000.0f, 5000.0f}));
  EXPECT_EQ(tilefold::reduce(stream, x), 10000.0f);
}

// The first chunk is one short block, which needs no workspace; the second one needs some.
TEST(Streamed, MemoryThatRunsOutBetweenChunks) {
  tilefold::test::tracking_resource resource;
  {
    tilefold::cuda_executor gpu(resource);
    constexpr std::int64_t chunk = std::int64_t{1} << 18;
    const auto stream = tilefold::streamed(gpu, chunk * static_cast<std::int64_t>(sizeof(float)));
    std::vector<float> x(3 * chunk);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1009) * 0.37f;
    const std::int64_t position = chunk - 8;
    const auto expected = tilefold::reduce_piece(tilefold::host_executor(), x, position);
    resource.fail_beyond(0);
    EXPECT_THROW((void)tilefold::reduce_piece(stream, x, position), tilefold::allocation_error);
    EXPECT_EQ(resource.bytes_in_use(), 0);
    auto part = tilefold::reduce_piece(stream, x.data(), x.data() + 8, position);
    EXPECT_THROW(part.append(stream, x.data() + 8, x.data() + x.size()),
                 tilefold::allocation_error);
    EXPECT_EQ(part.end(), chunk);  // as it was
    resource.fail_beyond(std::int64_t{1} << 30);
    part.append(stream, x.data() + 8, x.data() + x.size());
    EXPECT_EQ(part.to_bytes(), expected.to_bytes());
    EXPECT_EQ(tilefold::reduce_piece(stream, x, position).to_bytes(), expected.to_bytes());
  }
  EXPECT_EQ(resource.bytes_in_use(), 0);
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

TEST(Streamed, PinnedAndPageableArraysTogether) {
  const auto x = mixed_floats(std::int64_t{20} << 20);
  const std::vector<float> y(x.rbegin(), x.rend());
  const tilefold::host_executor host;
  tilefold::cuda_executor gpu;
  float* pinned = nullptr;
  must(cudaMallocHost(&pinned, x.size() * sizeof(float)));
  std::memcpy(pinned, x.data(), x.size() * sizeof(float));
  for (const std::int64_t chunk : {std::int64_t{1} << 20, std::int64_t{40} << 20}) {
    const auto stream = tilefold::streamed(gpu, chunk);
    for (const bool pinned_first : {true, false}) {
      const float* const a = pinned_first ? pinned : y.data();
      const float* const b = pinned_first ? y.data() : pinned;
      EXPECT_TRUE(same(tilefold::transform_reduce(stream, a, a + x.size(), b, r::dot{}),
                       tilefold::transform_reduce(host, a, a + x.size(), b, r::dot{})))
          << chunk;
    }
  }
  must(cudaFreeHost(pinned));
}

// While threads are ahead with parts of chunks that will not be folded.
TEST(Streamed, AFoldThatFailsStopsTheThreadsThatAreAhead) {
  tilefold::test::tracking_resource resource;
  tilefold::cuda_executor gpu(resource);
  constexpr std::int64_t chunk = std::int64_t{1} << 18;
  const auto stream = tilefold::streamed(gpu, chunk * static_cast<std::int64_t>(sizeof(float)));
  const auto x = mixed_floats(std::int64_t{25} << 20);
  const std::int64_t position = chunk - 8;
  const auto expected = tilefold::reduce_piece(tilefold::host_executor(), x, position);
  for (int round = 0; round < 5; ++round) {
    resource.fail_beyond(0);
    EXPECT_THROW((void)tilefold::reduce_piece(stream, x, position), tilefold::allocation_error);
  }
  resource.fail_beyond(std::int64_t{1} << 30);
  EXPECT_EQ(tilefold::reduce_piece(stream, x, position).to_bytes(), expected.to_bytes());
}

}  // namespace
