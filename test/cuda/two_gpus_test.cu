// SPDX-License-Identifier: Apache-2.0
//
// Several GPUs as one: a group, and ranks of a GPU each. With one GPU the group has it twice, which
// tests all but the second device. More than two GPUs: all_gpus_test.cu.
#include <tilefold/cuda_group.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/if_empty.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/gpu_lists.hpp"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::must;
using tilefold::test::node_hash;
using tilefold::test::num_gpus;
using tilefold::test::shape_stream;
using tilefold::test::tree_hash;

template <class T>
class on_device {
 public:
  on_device(int device, const T* items, std::int64_t n) : device_(device) {
    must(cudaSetDevice(device));
    must(cudaMalloc(&memory_, static_cast<std::size_t>(n + 1) * sizeof(T)));
    must(cudaMemcpy(memory_, items, static_cast<std::size_t>(n) * sizeof(T),
                    cudaMemcpyHostToDevice));
    must(cudaSetDevice(0));
  }
  on_device(const on_device&) = delete;
  ~on_device() {
    must(cudaSetDevice(device_));
    must(cudaFree(memory_));
    must(cudaSetDevice(0));
  }
  const T* get() const { return memory_; }

 private:
  int device_;
  T* memory_ = nullptr;
};

TEST(CudaGroup, UnevenShardsGiveTheTreeOfTheWhole) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  constexpr std::int64_t n = 200000;
  const auto leaves = tilefold::test::leaf_hashes(n);
  const int second = num_gpus() > 1 ? 1 : 0;
  const tilefold::cuda_group gpus({0, second});
  const tilefold::host_executor host;
  for (int round = 0; round < 20; ++round) {
    const std::int64_t size = 1 + bits.below(n);
    const std::int64_t cut = round == 0 ? 0 : round == 1 ? size : bits.below(size + 1);
    const on_device<tree_hash> front(0, leaves.data(), cut);
    const on_device<tree_hash> back(second, leaves.data() + cut, size - cut);
    const tilefold::shards<tree_hash> whole({front.get(), back.get()}, {cut, size - cut});
    const auto expected = tilefold::reduce(host, leaves.data(), leaves.data() + size, node_hash{});
    ASSERT_EQ(tilefold::reduce(gpus, whole, node_hash{}), expected) << size << " cut at " << cut;
    auto part =
        tilefold::reduce_piece(gpus, whole.begin(), whole.begin() + size / 3, 0, node_hash{});
    part.append(gpus, whole.begin() + size / 3, whole.end());
    ASSERT_EQ(part.value(), expected);
  }
}

TEST(CudaGroup, CutsMemoryThatAllRead) {
  const int second = num_gpus() > 1 ? 1 : 0;
  const tilefold::cuda_group gpus({0, second});
  const tilefold::host_executor host;
  for (const std::int64_t n : {1, 2, 3, 1000, 100003}) {
    float* x = nullptr;
    must(cudaMallocHost(&x, static_cast<std::size_t>(n) * sizeof(float)));
    for (std::int64_t i = 0; i < n; ++i) {
      x[i] = std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
    }
    const auto op = r::fuse(r::variance{}, r::arg_min{});
    const auto got = tilefold::reduce(gpus, x, x + n, op);
    const auto expected = tilefold::reduce(host, x, x + n, op);
    EXPECT_EQ(0, std::memcmp(&tilefold::get<0>(got), &tilefold::get<0>(expected), sizeof(double)));
    EXPECT_EQ(tilefold::get<1>(got).index, tilefold::get<1>(expected).index);
    const float a = tilefold::transform_reduce(gpus, x, x + n, x, 0.0f);
    const float b = tilefold::transform_reduce(host, x, x + n, x, 0.0f);
    EXPECT_EQ(0, std::memcmp(&a, &b, sizeof a)) << n;
    must(cudaFreeHost(x));
  }
}

TEST(CudaGroup, SegmentsThatCrossCuts) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  constexpr std::int64_t n = 20000;
  constexpr std::size_t most_segments = 300;
  const auto leaves = tilefold::test::leaf_hashes(n);
  const int second = num_gpus() > 1 ? 1 : 0;
  const tilefold::cuda_group gpus({0, second, 0});
  const tilefold::host_executor host;
  const auto op = tilefold::if_empty(node_hash{}, tree_hash{1, 2});
  std::int64_t* offsets = nullptr;
  tree_hash* managed = nullptr;
  tree_hash* out = nullptr;
  must(cudaMallocHost(&offsets, (most_segments + 1) * sizeof(std::int64_t)));
  must(cudaMallocHost(&out, most_segments * sizeof(tree_hash)));
  must(cudaMallocManaged(&managed, n * sizeof(tree_hash)));
  std::copy(leaves.begin(), leaves.end(), managed);
  for (int round = 0; round < 30; ++round) {
    const std::size_t segments = round % 2 == 0 ? 3 : most_segments;
    for (std::size_t i = 0; i <= segments; ++i) {
      offsets[i] = i > 0 && bits.one_in(3) ? offsets[i - 1] : bits.below(n + 1);
    }
    std::sort(offsets, offsets + segments + 1);
    std::vector<tree_hash> expected(segments);
    tilefold::segmented_reduce(host, leaves.data(), offsets, segments, expected.data(), op);
    const std::int64_t cut = round == 0 ? 0 : round == 1 ? n : bits.below(n + 1);
    const std::int64_t next = round == 2 ? n : cut + bits.below(n - cut + 1);
    const on_device<tree_hash> a(0, leaves.data(), cut);
    const on_device<tree_hash> b(second, leaves.data() + cut, next - cut);
    const on_device<tree_hash> c(0, leaves.data() + next, n - next);
    const tilefold::shards<tree_hash> whole({a.get(), b.get(), c.get()},
                                            {cut, next - cut, n - next});
    tilefold::segmented_reduce(gpus, whole.begin(), offsets, segments, out, op);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out)) << "shards, round " << round;
    tilefold::segmented_reduce(gpus, managed, offsets, segments, out, op);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out)) << "managed, round " << round;

    const std::int64_t size = 1 + bits.below(round % 2 == 0 ? 100 : 9000);
    const std::int64_t count = n / size < 300 ? n / size : 300;
    expected.resize(static_cast<std::size_t>(count));
    tilefold::segmented_reduce(host, leaves.data(), count, size, expected.data(), op);
    tilefold::segmented_reduce(gpus, whole.begin(), count, size, out, op);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out)) << "of " << size;
  }
  must(cudaFreeHost(offsets));
  must(cudaFreeHost(out));
  must(cudaFree(managed));
}

TEST(CudaGroup, Errors) {
  EXPECT_THROW(tilefold::cuda_group({}), tilefold::invalid_range_error);
  const tilefold::cuda_group gpus({0});
  const float* const null = nullptr;
  EXPECT_THROW((void)tilefold::reduce(gpus, null, null + 3), tilefold::null_pointer_error);
  const tilefold::shards<float> two({null, null}, {1, 1});
  EXPECT_THROW((void)tilefold::reduce(gpus, two), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::shards<float>({null}, {1, 2}), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::shards<float>({null}, {-1}), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::shards<float>({null, null}, {std::numeric_limits<std::int64_t>::max(), 1}),
               tilefold::invalid_range_error);
}

// Of a group of one GPU it alone could read them.
TEST(CudaGroup, OffsetsAndResultsThatTheHostCannotReach) {
  const tilefold::cuda_group gpus({0});
  const std::vector<float> x(10, 1.0f);
  const std::vector<std::int64_t> ends{0, 4, 10};
  const on_device<float> items(0, x.data(), 10);
  const on_device<std::int64_t> offsets(0, ends.data(), 3);
  std::int64_t* pinned = nullptr;
  must(cudaMallocHost(&pinned, 3 * sizeof(std::int64_t)));
  std::copy(ends.begin(), ends.end(), pinned);
  float* out = nullptr;
  must(cudaMallocHost(&out, 2 * sizeof(float)));
  EXPECT_THROW(tilefold::segmented_reduce(gpus, items.get(), offsets.get(), 2, out),
               tilefold::memory_space_error);
  EXPECT_THROW(
      tilefold::segmented_reduce(gpus, items.get(), pinned, 2, const_cast<float*>(items.get())),
      tilefold::memory_space_error);
  tilefold::segmented_reduce(gpus, items.get(), pinned, 2, out);
  EXPECT_EQ(out[0], 4.0f);
  EXPECT_EQ(out[1], 6.0f);
  // No shard at all.
  std::copy_n(std::vector<std::int64_t>{0, 0, 0}.data(), 3, pinned);
  tilefold::segmented_reduce(gpus, tilefold::shards<float>({}, {}).begin(), pinned, 2, out);
  EXPECT_EQ(out[0], 0.0f);
  must(cudaFreeHost(pinned));
  must(cudaFreeHost(out));
}

// Offsets and ranges that lead behind the last shard; shards that are not cut alike.
TEST(CudaGroup, ItemsBeyondTheShards) {
  const std::vector<float> x(10, 1.0f);
  const int second = num_gpus() > 1 ? 1 : 0;
  const tilefold::cuda_group gpus({0, second});
  const on_device<float> front(0, x.data(), 6);
  const on_device<float> back(second, x.data(), 4);
  const tilefold::shards<float> whole({front.get(), back.get()}, {6, 4});
  std::int64_t* offsets = nullptr;
  float* out = nullptr;
  must(cudaHostAlloc(&offsets, 3 * sizeof(std::int64_t), cudaHostAllocPortable));
  must(cudaHostAlloc(&out, 2 * sizeof(float), cudaHostAllocPortable));
  std::copy_n(std::vector<std::int64_t>{0, 5, 11}.data(), 3, offsets);
  out[0] = out[1] = -1.0f;
  EXPECT_THROW(tilefold::segmented_reduce(gpus, whole.begin(), offsets, 2, out),
               tilefold::invalid_range_error);
  EXPECT_THROW((void)tilefold::reduce(gpus, whole.begin(), whole.end() + 1),
               tilefold::invalid_range_error);
  EXPECT_EQ(out[0], -1.0f);
  // Before the first.
  EXPECT_THROW((void)tilefold::reduce(gpus, whole.begin() + -2, whole.end()),
               tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::segmented_reduce(gpus, whole.begin() + -2, offsets, 1, out),
               tilefold::invalid_range_error);
  EXPECT_EQ(out[0], -1.0f);
  offsets[2] = 10;
  tilefold::segmented_reduce(gpus, whole.begin(), offsets, 2, out);
  EXPECT_EQ(out[0], 5.0f);
  EXPECT_EQ(out[1], 5.0f);

  const on_device<float> short_front(0, x.data(), 5);
  const on_device<float> long_back(second, x.data(), 5);
  const tilefold::shards<float> other({short_front.get(), long_back.get()}, {5, 5});
  EXPECT_THROW(
      (void)tilefold::transform_reduce(gpus, whole.begin(), whole.end(), other.begin(), 0.0f),
      tilefold::invalid_range_error);
  must(cudaFreeHost(offsets));
  must(cudaFreeHost(out));
}

TEST(TwoGpus, RanksOfAGpuEach) {
  const int gpus = num_gpus();
  constexpr std::int64_t n = 300000;
  std::vector<float> x(n);
  for (std::int64_t i = 0; i < n; ++i) {
    x[static_cast<std::size_t>(i)] =
        std::ldexp(static_cast<float>(i * 7919 % 1009) - 504.0f, static_cast<int>(i % 24));
  }
  const float expected = tilefold::reduce(tilefold::host_executor(), x);
  tilefold::thread_communicator::run(2, [&](tilefold::thread_communicator& comm) {
    const int device = comm.rank() % gpus;
    must(cudaSetDevice(device));
    tilefold::cuda_executor gpu;
    const std::int64_t begin = comm.rank() == 0 ? 0 : 100001;
    const std::int64_t end = comm.rank() == 0 ? 100001 : n;
    float* items = nullptr;
    must(cudaMalloc(&items, n * sizeof(float)));
    must(cudaMemcpy(items, x.data() + begin, static_cast<std::size_t>(end - begin) * sizeof(float),
                    cudaMemcpyHostToDevice));
    const float got = tilefold::reduce(tilefold::ranks(comm, gpu), items, items + (end - begin));
    EXPECT_EQ(0, std::memcmp(&got, &expected, sizeof got)) << comm.rank();
    must(cudaFree(items));
  });
}

}  // namespace
