// SPDX-License-Identifier: Apache-2.0
//
// sequential_blocks() of ranges on a GPU: the bits of the host executor, which
// sequential_blocks_test.cpp compares with an oracle; and the hashes that PyTorch pins.
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "cuda/sequential_blocks.cuh"
#include "support/device.cuh"
#include "support/torch_order.hpp"

namespace tilefold::test {
namespace {

namespace r = tilefold::reducers;

std::vector<std::int64_t> lengths_around(std::int64_t block) {
  std::vector<std::int64_t> lengths{1, 2, 31};
  for (const std::int64_t blocks : {1, 3, 4, 5, 255, 256, 257, 700}) {
    for (const std::int64_t more : {-1, 0, 1}) lengths.push_back(blocks * block + more);
  }
  return lengths;
}

template <std::int64_t Block, class T, class Op>
void folds_ranges(const std::vector<T>& items, const Op& op) {
  cuda_executor exec;
  const host_executor host;
  const gpu_array<T> x(items);
  for (const std::int64_t n : lengths_around(Block)) {
    if (n > x.size()) continue;
    const auto expected =
        tilefold::reduce(host, items.begin(), items.begin() + n, sequential_blocks<Block>(op));
    using result = std::remove_const_t<decltype(expected)>;
    ASSERT_EQ(
        bytes_of(tilefold::reduce(exec, x.data(), x.data() + n, sequential_blocks<Block>(op))),
        bytes_of(expected))
        << n << " items in blocks of " << Block;
    const gpu_array<result> out(1);
    reduce_into(exec, x.data(), x.data() + n, out.data(), sequential_blocks<Block>(op));
    exec.synchronize();
    ASSERT_EQ(bytes_of(out.to_host()[0]), bytes_of(expected)) << n;
  }
}

TEST(SequentialBlocksGpu, FoldsRangesOfFloatsAndDoubles) {
  folds_ranges<8192>(make_items<float>(pattern::mixed, 701 * 8192, seed()), plus{});
  folds_ranges<8192>(make_items<double>(pattern::mixed, 701 * 8192, seed()), plus{});
  folds_ranges<8192>(make_items<half>(pattern::near_one, 701 * 8192, seed()), plus{});
  folds_ranges<256>(make_items<float>(pattern::near_one, 701 * 256, seed()), multiplies{});
  folds_ranges<65536>(make_items<float>(pattern::mixed, 6 * 65536, seed()), plus{});
}

TEST(SequentialBlocksGpu, KeepsTheOrderOfItems) {
  folds_ranges<256>(leaf_hashes(701 * 256), node_hash{});
  folds_ranges<1024>(leaf_hashes(701 * 1024), node_hash{});
}

TEST(SequentialBlocksGpu, TakesReducers) {
  const auto x = make_items<double>(pattern::near_one, 260 * 1024, seed());
  folds_ranges<1024>(x, r::variance{});
  folds_ranges<1024>(x, r::mean{});
}

TEST(SequentialBlocksGpu, FollowsOneLaunchWithTheNext) {
  const auto items = make_items<float>(pattern::mixed, 100 * 8192 + 5, seed());
  const gpu_array<float> x(items);
  const gpu_array<float> out(50);
  cuda_executor exec;
  for (int i = 0; i < 50; ++i) {
    reduce_into(exec, x.data(), x.data() + (x.size() - 1000 * i), out.data() + i, 0.5f,
                sequential_blocks<8192>(plus{}));
  }
  exec.synchronize();
  const std::vector<float> found = out.to_host();
  for (std::size_t i = 0; i < 50; ++i) {
    const auto last = items.end() - static_cast<std::ptrdiff_t>(1000 * i);
    ASSERT_EQ(bytes_of(found[i]), bytes_of(tilefold::reduce(items.begin(), last, 0.5f,
                                                            sequential_blocks<8192>(plus{}))))
        << i;
  }
}

// Calls that share counters, in one workspace.
TEST(SequentialBlocksGpu, GoesBetweenOtherFolds) {
  const std::int64_t rows = 20, length = 257 * 256, n = rows * length;
  const auto items = leaf_hashes(static_cast<std::size_t>(n));
  const gpu_array x(items);
  std::vector<std::int64_t> offsets{0, 5, 5, 900, 3000, 70000, n};
  const gpu_array at(offsets);
  const tree_hash init{1, 2};
  const auto op = sequential_blocks<256>(node_hash{});
  const auto fold = [&](auto& exec, auto first, auto ends, auto out) {
    for (int i = 0; i < 3; ++i) {
      reduce_into(exec, first, first + (n - i), out++, init, op);
      reduce_into(exec, first, first + (n - i), out++, init, node_hash{});
      segmented_reduce(exec, first, rows, length, out, init, op);
      segmented_reduce(exec, first, rows, length, out + rows, init, node_hash{});
      out += 2 * rows;
      segmented_reduce(exec, first, ends, 6, out, init, op);
      segmented_reduce(exec, first, ends, 6, out + 6, init, node_hash{});
      out += 12;
    }
  };
  std::vector<tree_hash> expected(3 * (2 + 2 * 20 + 12));
  const gpu_array out(expected);
  cuda_executor exec;
  const host_executor host;
  fold(exec, static_cast<const tree_hash*>(x.data()), at.data(), out.data());
  fold(host, items.data(), offsets.data(), expected.data());
  exec.synchronize();
  EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
}

TEST(SequentialBlocksGpu, TellsItsWorkspace) {
  EXPECT_EQ(sequential_workspace_bytes<8192>(1000, 3 * 8192, 4), 0);
  EXPECT_EQ(sequential_workspace_bytes<8192>(0, 1 << 28, 4), 0);
  EXPECT_GT(sequential_workspace_bytes<8192>(1, 1 << 28, 4), 4 * 32768);
  EXPECT_GT(sequential_workspace_bytes<256>(1000, 1025, 4), 1000 * 5 * 4);
  EXPECT_THROW(sequential_workspace_bytes<256>(-1, 1025, 4), invalid_range_error);
  EXPECT_THROW(sequential_workspace_bytes<256>(2, std::int64_t{1} << 62, 4), invalid_range_error);
}

TEST(SequentialBlocksGpu, GoesIntoAGraph) {
  const auto items = make_items<float>(pattern::mixed, 300 * 8192, seed());
  const gpu_array<float> x(items);
  const gpu_array<float> out(1);
  cuda_executor exec;
  exec.reserve(sequential_workspace_bytes<8192>(1, x.size(), sizeof(float)));
  cudaGraph_t graph{};
  cudaGraphExec_t ready{};
  must(cudaStreamBeginCapture(exec.stream(), cudaStreamCaptureModeThreadLocal));
  reduce_into(exec, x.data(), x.data() + x.size(), out.data(), sequential_blocks<8192>(plus{}));
  must(cudaStreamEndCapture(exec.stream(), &graph));
  must(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 3; ++i) must(cudaGraphLaunch(ready, exec.stream()));
  exec.synchronize();
  EXPECT_EQ(bytes_of(out.to_host()[0]),
            bytes_of(tilefold::reduce(items, sequential_blocks<8192>(plus{}))));
  must(cudaGraphExecDestroy(ready));
  must(cudaGraphDestroy(graph));
}

TEST(SequentialBlocksGpu, HasTheHashesThatPyTorchPins) {
  for_every_torch_case([]<class T>(const torch_case& one, T) {
    const gpu_array<T> x(torch_rows<T>(one));
    const gpu_array<T> out(one.rows);
    cuda_executor exec;
    if (one.product) {
      segmented_reduce(exec, x.data(), one.rows, one.columns, out.data(),
                       sequential_blocks<8192>(multiplies{}));
    } else {
      segmented_reduce(exec, x.data(), one.rows, one.columns, out.data(),
                       sequential_blocks<8192>(plus{}));
    }
    EXPECT_EQ(hash_of(out.to_host()), one.hash)
        << one.rows << " rows of " << one.columns << ", type " << static_cast<int>(one.type);
  });
}

}  // namespace

}  // namespace tilefold::test
