// SPDX-License-Identifier: Apache-2.0
//
// Reductions of many arrays on a GPU, beside what the suite of segments asks of them: bytes at
// every address, memory that ends where an array does, graphs, and memory that nobody reaches.
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/batched_reduce.hpp>
#include <tilefold/reducers/arg.hpp>

#include "support/index_forest.cuh"
#include "support/items.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

// An array for each segment, of items from `first` on; null where there are none.
template <class T>
std::vector<const T*> pointers_to(const segments& all, const T* first) {
  std::vector<const T*> pointers;
  for (const auto& [begin, end] : all) pointers.push_back(begin < end ? first + begin : nullptr);
  return pointers;
}

std::vector<std::int32_t> lengths_of(const segments& all) {
  std::vector<std::int32_t> lengths;
  for (const auto& [begin, end] : all) lengths.push_back(static_cast<std::int32_t>(end - begin));
  return lengths;
}

template <class Exec, class Array>
std::vector<lifted_hash> folded(cuda_executor& base, Exec&& exec, const std::vector<Array>& arrays,
                                const segments& all) {
  const gpu_array<Array> pointers(arrays);
  const gpu_array<std::int32_t> lengths(lengths_of(all));
  gpu_array<lifted_hash> out(static_cast<std::int64_t>(all.size()));
  must(cudaMemset(out.data(), 0xee, all.size() * sizeof(lifted_hash)));
  batched_reduce_into(exec, pointers.data(), lengths.data(), all.size(), out.data(), initial,
                      lifted_node_hash{});
  base.synchronize();
  return out.to_host();
}

// Arrays of these lengths anywhere among n items, in any order.
segments scattered(shape_stream& bits, const std::vector<std::int64_t>& lengths, std::int64_t n) {
  segments all;
  for (const std::int64_t length : lengths) {
    const auto room = static_cast<std::uint64_t>(n - length + 1);
    const auto begin = static_cast<std::int64_t>(bits() % room);
    all.emplace_back(begin, begin + length);
  }
  return all;
}

class CudaBatched : public ::testing::Test {
 protected:
  cuda_executor exec_;
  shape_stream bits_{seed()};
};

TEST_F(CudaBatched, RandomShapes) {
  const std::int64_t n = 1 << 21;
  const index_items items(n);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t longest = std::int64_t{1} << (bits_() % 21);
    const std::int64_t most = std::min<std::int64_t>(200000, (std::int64_t{1} << 22) / longest);
    const auto count = static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(most)) + 1;
    const segments all = scattered(bits_, random_lengths(bits_, count, longest), n);
    EXPECT_TRUE(same_trees(folded(exec_, exec_, pointers_to(all, items.at(round % 4)), all),
                           trees_of(all), all))
        << count << " arrays of " << longest << " at most";
  }
}

TEST_F(CudaBatched, BytesAtEveryAddress) {
  const std::int64_t n = 60000;
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < n; ++i) bytes.push_back(order_byte(i));
  const gpu_array<std::uint8_t> array(bytes);
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 3000; ++i) lengths.push_back(static_cast<std::int64_t>(bits_() % 70));
  lengths.insert(lengths.end(), {1024, 1025, 3000, 20001, 50000});
  const segments all = scattered(bits_, lengths, n);
  std::vector<lifted_hash> expected;
  for (const auto& [begin, end] : all) {
    running_fold<lifted_node_hash, lifted_hash> fold(lifted_node_hash{});
    for (std::int64_t i = begin; i < end; ++i) fold.push(lifted_hash(leaf_hash(order_byte(i))));
    expected.push_back(begin == end ? initial : lifted_node_hash{}(initial, fold.value()));
  }
  EXPECT_TRUE(same_trees(folded(exec_, exec_, pointers_to(all, array.data()), all), expected, all));
}

// Each in memory of its own, which ends where the array ends; without an executor.
TEST_F(CudaBatched, SumsSeparateAllocationsAsReduceDoes) {
  std::vector<gpu_array<double>> arrays;
  std::vector<const double*> pointers;
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 0; n <= 140; ++n) lengths.push_back(n % 71);
  lengths.insert(lengths.end(), {511, 513, 1025, 8193, 16384, 300001});
  for (const std::int64_t n : lengths) {
    arrays.emplace_back(make_items<double>(pattern::mixed, n, bits_()));
    pointers.push_back(arrays.back().data());
  }
  const gpu_array<const double*> device_pointers(pointers);
  const gpu_array<std::int64_t> device_lengths(lengths);
  gpu_array<double> out(static_cast<std::int64_t>(lengths.size()));
  batched_reduce(device_pointers.data(), device_lengths.data(), lengths.size(), out.data());
  const auto got = out.to_host();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double expected = reduce(exec_, arrays[i].begin(), arrays[i].end());
    const auto on_host = arrays[i].to_host();
    EXPECT_EQ(std::memcmp(&got[i], &expected, sizeof(double)), 0) << lengths[i] << " items";
    const double host = tilefold::reduce(host_executor(), on_host);
    EXPECT_EQ(std::memcmp(&got[i], &host, sizeof(double)), 0) << lengths[i] << " items";
  }
}

TEST_F(CudaBatched, IndicesCountFromTheArray) {
  const std::int64_t n = 100000;
  auto items = make_items<float>(pattern::mixed, n, bits_());
  const gpu_array<float> array(items);
  std::vector<std::int64_t> lengths = random_lengths(bits_, 2000, 300);
  lengths.insert(lengths.end(), {0, 5000, 90000});
  const segments all = scattered(bits_, lengths, n);
  const gpu_array<const float*> pointers(pointers_to(all, array.data()));
  const gpu_array<std::int32_t> device_lengths(lengths_of(all));
  const auto least = reducers::arg_min{};
  const auto none = least.lift(std::numeric_limits<float>::infinity(), std::int64_t{-1});
  gpu_array<reducers::indexed_value<float>> out(static_cast<std::int64_t>(all.size()));
  batched_reduce(exec_, pointers.data(), device_lengths.data(), all.size(), out.data(), none,
                 least);
  const auto got = out.to_host();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto expected = tilefold::reduce(host_executor(), items.data() + all[i].first,
                                           items.data() + all[i].second, none, least);
    ASSERT_EQ(got[i].index, expected.index) << "array " << i;
    ASSERT_EQ(got[i].value, expected.value) << "array " << i;
  }
}

TEST_F(CudaBatched, RunsInAGraph) {
  const segments all = scattered(bits_, random_lengths(bits_, 500, 20000), 1 << 20);
  const index_items items(1 << 20);
  const gpu_array<const std::uint32_t*> pointers(pointers_to(all, items.at(3)));
  const gpu_array<std::int32_t> lengths(lengths_of(all));
  gpu_array<lifted_hash> out(static_cast<std::int64_t>(all.size()));
  exec_.reserve(cuda_executor::segments_workspace_bytes(static_cast<std::int64_t>(all.size()),
                                                        sizeof(lifted_hash)));
  exec_.synchronize();
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  batched_reduce_into(exec_, pointers.data(), lengths.data(), all.size(), out.data(), initial,
                      lifted_node_hash{});
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  for (int again = 0; again < 2; ++again) {
    must(cudaMemset(out.data(), 0xee, all.size() * sizeof(lifted_hash)));
    must(cudaGraphLaunch(launchable, exec_.stream()));
    exec_.synchronize();
    EXPECT_TRUE(same_trees(out.to_host(), trees_of(all), all));
  }
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

// Without an executor the pointers are read where they lie, on the host.
TEST_F(CudaBatched, ArraysInDeviceMemoryAreRefusedOnTheHost) {
  const gpu_array<float> array(std::vector<float>{1, 2, 3});
  const std::vector<const float*> pointers{nullptr, array.data()};
  const std::vector<int> lengths{0, 3};
  std::vector<float> out(2, 5.0f);
  EXPECT_THROW(batched_reduce(pointers.data(), lengths.data(), 2, out.data()), memory_space_error);
  EXPECT_EQ(out, std::vector<float>(2, 5.0f));
}

TEST_F(CudaBatched, PointersInHostMemoryAreRefused) {
  const gpu_array<float> array(std::vector<float>{1, 2, 3});
  const std::vector<const float*> pointers{array.data()};
  const gpu_array<int> lengths(std::vector<int>{3});
  gpu_array<float> out(1);
  int pageable = 0;
  must(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
  if (pageable != 0) GTEST_SKIP() << "this GPU reads pageable memory";
  EXPECT_THROW(batched_reduce(exec_, pointers.data(), lengths.data(), 1, out.data()),
               memory_space_error);
}

}  // namespace
}  // namespace tilefold::test
