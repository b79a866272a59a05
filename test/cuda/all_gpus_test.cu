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
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/if_empty.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

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
using tilefold::test::num_gpus;
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

// ---- groups of one GPU and two: with one GPU a group has it twice, which tests all but the second
// device

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

}  // namespace
