// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_index on a GPU: the neighbour tree over the items of each result in their order,
// whatever the indices are; forms of a call, and what is refused. Other operators and values are in
// by_index_values_test.cu.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thrust/iterator/transform_iterator.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce_by_index.hpp>

#include "support/device.cuh"
#include "support/indexed.hpp"
#include "support/message_of.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};

/// Index j is j modulo `period`. Not a pointer, and reads no memory.
struct periodic {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;
  using reference = std::int64_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  std::int64_t period;
  std::int64_t at = 0;

  TILEFOLD_HD std::int64_t operator*() const { return at % period; }
  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const { return (at + i) % period; }
  TILEFOLD_HD friend periodic operator+(const periodic& it, std::int64_t n) {
    return {it.period, it.at + n};
  }
  TILEFOLD_HD friend std::int64_t operator-(const periodic& a, const periodic& b) {
    return a.at - b.at;
  }
};

struct half_of {
  TILEFOLD_HD int operator()(int x) const { return x / 2; }
};

class CudaByIndex : public ::testing::Test {
 protected:
  /// Whether the results have the trees that a serial oracle makes; of n indices that begin at
  /// `first`, and that the oracle reads in `indices`.
  template <class First, class Index>
  ::testing::AssertionResult right_from(First first, const std::vector<Index>& indices,
                                        std::int64_t num_results) {
    const auto n = static_cast<std::int64_t>(indices.size());
    if (items_.size() < indices.size()) items_ = own_positions(2 * n);
    const gpu_array<std::uint32_t> items(
        std::vector<std::uint32_t>(items_.begin(), items_.begin() + n));
    gpu_array<lifted_hash> out(num_results + 2);
    must(cudaMemset(out.data(), 0xee,
                    sizeof(lifted_hash) * static_cast<std::size_t>(num_results + 2)));
    reduce_by_index_into(exec_, first, first + n, items.data(), num_results, out.data() + 1,
                         initial, lifted_node_hash{});
    exec_.synchronize();
    auto got = out.to_host();
    constexpr std::uint64_t untouched = 0xeeeeeeeeeeeeeeee;
    if (got.front().low != untouched || got.back().high != untouched) {
      return ::testing::AssertionFailure() << "something else was written";
    }
    got = {got.begin() + 1, got.end() - 1};
    const std::string text = differences(got, hashes_by_index(initial, indices, num_results));
    if (text.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << text;
  }

  template <class Index>
  ::testing::AssertionResult right(const std::vector<Index>& indices, std::int64_t num_results) {
    const gpu_array<Index> device_indices(indices);
    return right_from(static_cast<const Index*>(device_indices.data()), indices, num_results);
  }

  template <class Index>
  void every_shape(std::int64_t n, std::int64_t num_results) {
    for (const index_shape shape : index_shapes) {
      EXPECT_TRUE(right(indices_of<Index>(shape, n, num_results, seed()), num_results))
          << name_of(shape) << " of " << n << " items, " << num_results << " results";
    }
  }

  cuda_executor exec_;

 private:
  std::vector<std::uint32_t> items_;
};

TEST_F(CudaByIndex, SanitizeOneOfEach) {
  every_shape<int>(3000, 40);
  every_shape<int>(70001, 1500);
}

TEST_F(CudaByIndex, EveryShapeAroundEdges) {
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 1023, 1024, 1025, 8191, 8192, 8193}) {
    for (const std::int64_t num_results : {1, 2, 3, 31, 32, 33, 255, 256, 257, 1000}) {
      every_shape<int>(n, num_results);
    }
  }
}

// As many as take one launch of the forest, and more; as many bits as CUB sorts in one pass, and
// more.
TEST_F(CudaByIndex, ManyResults) {
  for (const std::int64_t num_results : {1023, 1024, 1025, 65535, 65536, 65537, 1100000}) {
    for (const std::int64_t n : {0, 1, 5000, 300001}) every_shape<std::int64_t>(n, num_results);
  }
}

TEST_F(CudaByIndex, ManyItems) {
  for (const std::int64_t num_results : {1, 10, 5000, 1000000}) {
    every_shape<std::uint32_t>(1000000, num_results);
  }
  every_shape<int>(10000001, 300);
}

TEST_F(CudaByIndex, IntegersOfAnyType) {
  for (const std::int64_t num_results : {1, 100, 127, 128, 129, 255, 256, 257, 40000, 70000}) {
    every_shape<std::int8_t>(5000, num_results);
    every_shape<std::uint8_t>(5000, num_results);
    every_shape<std::int16_t>(5000, num_results);
    every_shape<std::uint16_t>(5000, num_results);
    every_shape<std::uint32_t>(5000, num_results);
    every_shape<std::int64_t>(5000, num_results);
    every_shape<std::uint64_t>(5000, num_results);
  }
}

TEST_F(CudaByIndex, RandomShapes) {
  shape_stream bits(seed());
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t shape_seed = bits() >> 1;
    const auto shape = index_shapes[bits() % std::size(index_shapes)];
    const std::int64_t n = bits.below(std::int64_t{1} << bits.below(18));
    const std::int64_t num_results = 1 + bits.below(std::int64_t{1} << bits.below(18));
    ASSERT_TRUE(right(indices_of<int>(shape, n, num_results, shape_seed), num_results))
        << name_of(shape) << " of " << n << ", " << num_results << ", " << shape_seed;
  }
}

TEST_F(CudaByIndex, IndicesThatBeginAnywhere) {
  const auto all = indices_of<std::uint8_t>(index_shape::uniform, 20000, 200, seed());
  const gpu_array<std::uint8_t> indices(all);
  for (std::int64_t begin = 0; begin < 17; ++begin) {
    const std::vector<std::uint8_t> mine(all.begin() + begin, all.begin() + begin + 9999);
    EXPECT_TRUE(right_from(indices.data() + begin, mine, 200)) << begin;
  }
}

TEST_F(CudaByIndex, IteratorsThatAreNoPointers) {
  std::vector<std::int64_t> counted;
  for (std::int64_t j = 0; j < 100000; ++j) counted.push_back(j % 1000);
  EXPECT_TRUE(right_from(periodic{1000}, counted, 1000));
  EXPECT_TRUE(right_from(periodic{1000}, counted, 700));  // some have no result

  const auto twice = indices_of<int>(index_shape::uniform, 50000, 600, seed());
  std::vector<int> halves;
  for (const int x : twice) halves.push_back(x / 2);
  const gpu_array<int> indices(twice);
  EXPECT_TRUE(right_from(thrust::make_transform_iterator(indices.data(), half_of{}), halves, 300));
}

// ---- forms of a call, with sums of integers

class CudaByIndexCalls : public ::testing::Test {
 protected:
  static constexpr std::int64_t n = 200000;
  static constexpr std::int64_t num_results = 3000;

  std::vector<std::int64_t> expected() const {
    std::vector<std::int64_t> sums(num_results);
    for (std::size_t j = 0; j < host_indices.size(); ++j) {
      const std::int64_t i = result_of_index(host_indices[j], num_results);
      if (i >= 0) sums[static_cast<std::size_t>(i)] += host_items[j];
    }
    return sums;
  }
  void clear() { must(cudaMemset(out.data(), 0xee, num_results * sizeof(std::int64_t))); }

  const std::vector<int> host_indices =
      indices_of<int>(index_shape::outside, n, num_results, seed());
  const std::vector<std::int64_t> host_items = [] {
    shape_stream bits(seed());
    std::vector<std::int64_t> items;
    for (std::int64_t j = 0; j < n; ++j) items.push_back(bits.below(1000000) - 500000);
    return items;
  }();
  const gpu_array<int> indices{host_indices};
  const gpu_array<std::int64_t> items{host_items};
  gpu_array<std::int64_t> out{num_results};
  cuda_executor exec_;
};

TEST_F(CudaByIndexCalls, WithoutAnExecutorAndInAStream) {
  clear();
  reduce_by_index(indices.data(), indices.data() + n, items.data(), num_results, out.data());
  EXPECT_EQ(out.to_host(), expected());
  clear();
  const scoped_stream stream(cudaStreamNonBlocking);
  reduce_by_index_into(static_cast<cudaStream_t>(stream), indices.data(), indices.data() + n,
                       items.data(), num_results, out.data());
  must(cudaStreamSynchronize(stream));
  EXPECT_EQ(out.to_host(), expected());
  clear();
  reduce_by_index(with_policy<tile_policy{64, 4}>(exec_), indices.data(), indices.data() + n,
                  items.data(), num_results, out.data());
  EXPECT_EQ(out.to_host(), expected());
}

// All calls use the same workspace, one after the other.
TEST_F(CudaByIndexCalls, ManyInFlight) {
  constexpr int calls = 40;
  gpu_array<std::int64_t> outs(calls * num_results);
  for (int call = 0; call < calls; ++call) {
    // Of other lengths, so that things lie elsewhere in the workspace.
    const std::int64_t begin = call % 2 == 0 ? 0 : n - 1000 * call;
    reduce_by_index_into(exec_, indices.data() + begin, indices.data() + n, items.data() + begin,
                         num_results, outs.data() + call * num_results);
  }
  exec_.synchronize();
  const auto got = outs.to_host();
  const auto all = expected();
  for (int call = 0; call < calls; ++call) {
    auto sums = all;
    if (call % 2 != 0) {
      std::fill(sums.begin(), sums.end(), 0);
      for (std::int64_t j = n - 1000 * call; j < n; ++j) {
        const std::int64_t i =
            result_of_index(host_indices[static_cast<std::size_t>(j)], num_results);
        if (i >= 0) sums[static_cast<std::size_t>(i)] += host_items[static_cast<std::size_t>(j)];
      }
    }
    const auto first = got.begin() + call * num_results;
    ASSERT_EQ(std::vector<std::int64_t>(first, first + num_results), sums) << call;
  }
}

TEST_F(CudaByIndexCalls, InAGraphWithReservedWorkspace) {
  const auto call = [&] {
    reduce_by_index_into(exec_, indices.data(), indices.data() + n, items.data(), num_results,
                         out.data());
  };
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(call(), capture_error);  // there is no workspace yet
  EXPECT_THROW(reduce_by_index(exec_, indices.data(), indices.data() + n, items.data(), num_results,
                               out.data()),
               capture_error);
  EXPECT_THROW(reduce_by_index_into(checked(exec_), indices.data(), indices.data() + n,
                                    items.data(), num_results, out.data()),
               capture_error);
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  must(cudaGraphDestroy(graph));

  exec_.reserve(reduce_by_index_workspace_bytes(exec_, n, num_results, sizeof(std::int64_t)));
  const std::int64_t reserved = exec_.workspace_bytes();
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  call();
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  for (int launch = 0; launch < 3; ++launch) {
    clear();
    must(cudaGraphLaunch(launchable, exec_.stream()));
    exec_.synchronize();
    ASSERT_EQ(out.to_host(), expected());
  }
  EXPECT_EQ(exec_.workspace_bytes(), reserved);
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

TEST_F(CudaByIndexCalls, ReservedWorkspaceServesSmallerCalls) {
  const std::int64_t bytes =
      reduce_by_index_workspace_bytes(exec_, n, num_results, sizeof(std::int64_t));
  EXPECT_GT(bytes, 16 * n + 8 * num_results);
  EXPECT_LT(bytes, 18 * n + (std::int64_t{1} << 22));
  exec_.reserve(bytes);
  const std::int64_t reserved = exec_.workspace_bytes();
  shape_stream bits(seed());
  for (int i = 0; i < 100; ++i) {
    reduce_by_index_into(exec_, indices.data(), indices.data() + bits.below(n + 1), items.data(),
                         bits.below(num_results + 1), out.data());
  }
  exec_.synchronize();
  EXPECT_EQ(exec_.workspace_bytes(), reserved);
  EXPECT_THROW((void)reduce_by_index_workspace_bytes(exec_, -1, 1, 4), invalid_range_error);
  EXPECT_THROW((void)reduce_by_index_workspace_bytes(exec_, 1, -1, 4), invalid_range_error);
  EXPECT_THROW((void)reduce_by_index_workspace_bytes(exec_, 1, 1, 0), invalid_range_error);
}

TEST_F(CudaByIndexCalls, TheCallersWorkspace) {
  const std::int64_t bytes =
      reduce_by_index_workspace_bytes(exec_, n, num_results, sizeof(std::int64_t));
  gpu_array<char> memory(bytes);
  must(cudaMemset(memory.data(), 0xff, static_cast<std::size_t>(bytes)));
  exec_.use_workspace(memory.data(), bytes);
  for (int call = 0; call < 2; ++call) {
    clear();
    reduce_by_index(exec_, indices.data(), indices.data() + n, items.data(), num_results,
                    out.data());
    EXPECT_EQ(out.to_host(), expected());
  }
  EXPECT_EQ(exec_.workspace_bytes(), bytes);
}

TEST_F(CudaByIndexCalls, AnEarlierErrorOfTheCallersIsNotOurs) {
  clear();
  EXPECT_EQ(cudaMemset(nullptr, 0, 16), cudaErrorInvalidValue);
  reduce_by_index(exec_, indices.data(), indices.data() + n, items.data(), num_results, out.data());
  (void)cudaGetLastError();
  EXPECT_EQ(out.to_host(), expected());
}

// Of a call that is refused nothing is in the graph.
TEST_F(CudaByIndexCalls, OutIsLookedAtBeforeTheSort) {
  const scoped_stream stream;
  cuda_executor exec(stream);
  exec.reserve(reduce_by_index_workspace_bytes(exec, n, num_results, sizeof(std::int64_t)));
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(reduce_by_index_into(exec, indices.data(), indices.data() + n, items.data(),
                                    num_results, static_cast<std::int64_t*>(nullptr)),
               null_pointer_error);
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 1;
  must(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 0u);
  must(cudaGraphDestroy(graph));
}

TEST_F(CudaByIndexCalls, NoItemsAndNoResults) {
  clear();
  reduce_by_index(exec_, indices.data(), indices.data(), items.data(), num_results, out.data());
  EXPECT_EQ(out.to_host(), std::vector<std::int64_t>(num_results, 0));
  const int* const no_indices = nullptr;
  const std::int64_t* const no_items = nullptr;
  clear();
  reduce_by_index(exec_, no_indices, no_indices, no_items, num_results, out.data());
  EXPECT_EQ(out.to_host(), std::vector<std::int64_t>(num_results, 0));
  clear();
  reduce_by_index(exec_, indices.data(), indices.data() + n, items.data(), 0, out.data());
  EXPECT_EQ(static_cast<std::uint64_t>(out.to_host()[0]), 0xeeeeeeeeeeeeeeee);
}

TEST_F(CudaByIndexCalls, CheckedNamesTheFirstWrongIndex) {
  auto wrong = indices_of<int>(index_shape::uniform, n, num_results, seed());
  const gpu_array<int> sound(wrong);
  reduce_by_index(checked(exec_), sound.data(), sound.data() + n, items.data(), num_results,
                  out.data());
  wrong[123456] = wrong[150000] = -7;
  const gpu_array<int> unsound(wrong);
  clear();
  const auto call = [&] {
    reduce_by_index(checked(exec_), unsound.data(), unsound.data() + n, items.data(), num_results,
                    out.data());
  };
  EXPECT_EQ(message_of<index_error>(call),
            "tilefold::reduce_by_index: item 123456 has the index -7, but there are 3000 results");
  EXPECT_EQ(static_cast<std::uint64_t>(out.to_host()[0]), 0xeeeeeeeeeeeeeeee);
}

TEST_F(CudaByIndexCalls, RefusesWrongNumbersAndMemory) {
  const auto call = [&](const int* first, std::int64_t count, const std::int64_t* values,
                        std::int64_t results, std::int64_t* to) {
    reduce_by_index(exec_, first, first + count, values, results, to);
  };
  EXPECT_THROW(call(indices.data(), n, items.data(), -1, out.data()), invalid_range_error);
  EXPECT_THROW(call(indices.data(), -1, items.data(), 5, out.data()), invalid_range_error);
  EXPECT_THROW(call(nullptr, n, items.data(), 5, out.data()), null_pointer_error);
  EXPECT_THROW(call(indices.data(), n, nullptr, 5, out.data()), null_pointer_error);
  EXPECT_THROW(call(indices.data(), n, items.data(), 5, nullptr), null_pointer_error);
  EXPECT_THROW(call(indices.data(), n, items.data(), std::int64_t{1} << 32, out.data()),
               invalid_range_error);
  const periodic first{5};
  EXPECT_THROW(
      reduce_by_index(exec_, first, first + (std::int64_t{1} << 32), items.data(), 5, out.data()),
      invalid_range_error);
  clear();
  call(indices.data(), n, items.data(), num_results, out.data());
  EXPECT_EQ(out.to_host(), expected());
}

}  // namespace
}  // namespace tilefold::test
