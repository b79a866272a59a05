// SPDX-License-Identifier: Apache-2.0
//
// A GPU over host memory: any chunk, any kind of memory, every verb of one value, pieces and ranks
// have the bits of the host's own call; errors.
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/streamed.cuh>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/memory_resource.cuh"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"
#include "streamed.cuh"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::must;
using tilefold::test::node_hash;
using tilefold::test::shape_stream;

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

}  // namespace
