// SPDX-License-Identifier: Apache-2.0
//
// Calls of reduce_by_key: keys that begin anywhere, none, without an executor, in a graph, and what
// is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce_by_key.hpp>

#include "by_key_calls.cuh"
#include "support/device.cuh"
#include "support/random.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

class CudaByKeyCalls : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

TEST_F(CudaByKeyCalls, KeysThatBeginOffTheirRows) {
  std::vector<int> different;
  for (int i = 0; i < 50000; ++i) different.push_back(10 * i);
  gpu_array<int> keys_out(50000), out(50000);
  for (const auto& all : {keys_of_runs(random_lengths(50000, seed()), 1), different}) {
    const gpu_array<int> keys(all);
    for (std::int64_t begin = 0; begin < 9; ++begin) {
      for (const std::int64_t n : {5, 3056, 3057, 8176, 8192, 8193, 49000}) {
        const std::vector<int> mine(all.begin() + begin, all.begin() + begin + n);
        const auto heads = heads_of(mine, same_tens{});
        const int* const first = keys.data() + begin;
        const std::int64_t runs = reduce_by_key(exec_, first, first + n, first, keys_out.data(),
                                                out.data(), same_tens{}, maximum{});
        ASSERT_EQ(runs, static_cast<std::int64_t>(heads.size())) << begin << ", " << n;
        const auto got_keys = first_items(keys_out, runs);
        const auto got = first_items(out, runs);
        for (std::size_t r = 0; r < heads.size(); ++r) {
          const auto from = mine.begin() + heads[r];
          const auto to = r + 1 < heads.size() ? mine.begin() + heads[r + 1] : mine.end();
          ASSERT_EQ(got_keys[r], *from) << begin << ", " << n << ", run " << r;
          ASSERT_EQ(got[r], *std::max_element(from, to)) << begin << ", " << n << ", run " << r;
        }
      }
    }
  }
}

TEST_F(CudaByKeyCalls, NoKeysAreNoRuns) {
  const gpu_array<int> keys(std::vector<int>{1});
  gpu_array<std::int64_t> runs(std::vector<std::int64_t>{5});
  EXPECT_EQ(reduce_by_key(exec_, keys.data(), keys.data(), keys.data(), keys.data(), keys.data()),
            0);
  reduce_by_key_into(exec_, keys.data(), keys.data(), keys.data(), keys.data(), keys.data(),
                     runs.data());
  exec_.synchronize();
  EXPECT_EQ(runs.to_host()[0], 0);
}

TEST_F(CudaByKeyCalls, MemoryDecidesWithoutAnExecutor) {
  const gpu_array<int> keys(std::vector<int>{1, 1, 2});
  gpu_array<int> keys_out(3), out(3);
  EXPECT_EQ(reduce_by_key(keys.begin(), keys.end(), keys.data(), keys_out.data(), out.data(), 10),
            2);
  EXPECT_EQ(out.to_host()[0], 12);
}

TEST_F(CudaByKeyCalls, WorksInAGraphAfterReserve) {
  const auto host_keys = keys_of_runs(power_law_lengths(500000, seed()), 1);
  const auto n = static_cast<std::int64_t>(host_keys.size());
  const gpu_array<int> keys(host_keys);
  gpu_array<int> keys_out(n), out(n);
  gpu_array<std::int64_t> runs(std::vector<std::int64_t>{-1});
  const auto call = [&] {
    reduce_by_key_into(exec_, keys.begin(), keys.end(), keys.data(), keys_out.data(), out.data(),
                       runs.data(), same_tens{}, maximum{});
  };
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(call(), capture_error);  // there is no workspace yet
  EXPECT_THROW(
      reduce_by_key(exec_, keys.begin(), keys.end(), keys.data(), keys_out.data(), out.data()),
      capture_error);
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  must(cudaGraphDestroy(graph));

  exec_.reserve(cuda_executor::by_key_workspace_bytes(n, sizeof(int)));
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  call();
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  const auto heads = heads_of(host_keys, same_tens{});
  for (int launch = 0; launch < 3; ++launch) {
    must(cudaMemset(runs.data(), 0xee, 8));
    must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(n) * 4));
    must(cudaGraphLaunch(launchable, exec_.stream()));
    exec_.synchronize();
    ASSERT_EQ(runs.to_host()[0], static_cast<std::int64_t>(heads.size()));
    const auto got = out.to_host();
    for (std::size_t r = 0; r < heads.size(); ++r) {
      const auto begin = host_keys.begin() + heads[r];
      const auto end = r + 1 < heads.size() ? host_keys.begin() + heads[r + 1] : host_keys.end();
      ASSERT_EQ(got[r], *std::max_element(begin, end)) << r;
    }
  }
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

TEST_F(CudaByKeyCalls, RefusesNullPointersAndHostMemory) {
  const gpu_array<int> keys(std::vector<int>{1, 1, 2});
  gpu_array<int> out(3);
  gpu_array<std::int64_t> runs(1);
  const int* const none = nullptr;
  int* const nowhere = nullptr;
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const int* const first = keys.data();
  EXPECT_TRUE(contains(
      message([&] { reduce_by_key(exec_, first + 3, first, first, out.data(), out.data()); }),
      "reduce_by_key: last lies 3 items before first"));
  EXPECT_TRUE(contains(
      message([&] { reduce_by_key(exec_, none, none + 3, first, out.data(), out.data()); }),
      "keys_first"));
  EXPECT_TRUE(contains(
      message([&] { reduce_by_key(exec_, first, first + 3, none, out.data(), out.data()); }),
      "values is a null pointer"));
  EXPECT_TRUE(
      contains(message([&] { reduce_by_key(exec_, first, first + 3, first, nowhere, out.data()); }),
               "keys_out"));
  EXPECT_TRUE(
      contains(message([&] { reduce_by_key(exec_, first, first + 3, first, out.data(), nowhere); }),
               "values_out"));
  std::int64_t* const no_runs = nullptr;
  EXPECT_TRUE(contains(message([&] {
                         reduce_by_key_into(exec_, first, first + 3, first, out.data(), out.data(),
                                            no_runs);
                       }),
                       "num_runs_out"));
  const std::vector<int> host{1, 2, 3};
  EXPECT_THROW(reduce_by_key(host_executor(), first, first + 3, first, out.data(), out.data()),
               memory_space_error);
}

}  // namespace
}  // namespace tilefold::test
