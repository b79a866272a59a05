// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU where sizes are known to the GPU alone; and sizes that a call
// before has written, in a stream and in a graph.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_fp16.h>

#include <gtest/gtest.h>

#include <tilefold/checked.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/arg.hpp>

#include "../support/device.cuh"
#include "../support/oracle.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

using runs = ::testing::Types<segments_run<on_gpu, by_deferred_offsets, index_hashes>,
                              segments_run<on_gpu, by_deferred_length, index_hashes>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfDeferredSizes, Segments, runs);
INSTANTIATE_TYPED_TEST_SUITE_P(OfDeferredSizes, SanitizeSegments, runs);

class DeferredSizes : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

// What is past the number stays as it was.
TEST_F(DeferredSizes, LeaveWhatIsBehindThem) {
  const gpu_array<float> items(std::vector<float>(100, 1.0f));
  const gpu_array<int> offsets(std::vector<int>{0, 10, 30, 60, 100});
  for (const std::int64_t most : {4, 100, 2000, 3000000}) {
    for (const int number : {-7, 0, 1, 3}) {
      const gpu_array<int> told(std::vector<int>{number});
      gpu_array<float> out(std::vector<float>(4, -5.0f));
      segmented_reduce(exec_, items.data(), offsets.data(), deferred(told.data(), most),
                       out.data());
      std::vector<float> expected{10, 20, 30, 40};
      for (int i = number < 0 ? 0 : number; i < 4; ++i) expected[static_cast<std::size_t>(i)] = -5;
      EXPECT_EQ(out.to_host(), expected) << number << " of " << most;
    }
  }
}

TEST_F(DeferredSizes, AreNoMoreThanWasSaid) {
  const gpu_array<float> items(std::vector<float>(100, 1.0f));
  const gpu_array<unsigned> told(std::vector<unsigned>{90});
  gpu_array<float> out(1);
  reduce_into(exec_, items.data(), deferred(told.data(), 50), out.data());
  exec_.synchronize();
  EXPECT_EQ(out.to_host()[0], 50.0f);
  EXPECT_THROW(
      reduce_into(checked(exec_, 100), items.data(), deferred(told.data(), 50), out.data()),
      invalid_range_error);
  EXPECT_THROW(reduce_into(checked(exec_, 80), items.data(), deferred(told.data(), 99), out.data()),
               invalid_range_error);
  EXPECT_THROW(deferred(told.data(), -1), invalid_range_error);
}

// One range of a length that the GPU reads: none, parts of tiles, a tile for some blocks, several
// for all; with bounds of which the last is too large for partials of tiles. Folded in T.
template <class T, class Item = T>
void expect_ranges_of_any_length(cuda_executor& exec) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  constexpr std::int64_t n = 9'000'001;
  std::vector<Item> items;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t bits = mixed_bits(seed() + static_cast<std::uint64_t>(i));
    const T value =
        static_cast<T>(static_cast<std::int32_t>(bits)) / static_cast<T>(1 + (bits >> 60));
    items.push_back(static_cast<Item>(sizeof(Item) == 2 ? value / (1 << 20) : value));
  }
  const gpu_array<Item> on_gpu(items);
  gpu_array<T> out(1);
  const auto minus = [] TILEFOLD_HD(T a, T b) { return a - b; };
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{31}, std::int64_t{1000},
        std::int64_t{4095}, std::int64_t{4096}, std::int64_t{4097}, std::int64_t{8191},
        std::int64_t{8192}, std::int64_t{8193}, std::int64_t{16384}, std::int64_t{16385},
        std::int64_t{100'000}, std::int64_t{1'081'345}, n}) {
    const gpu_array<std::int64_t> told(std::vector<std::int64_t>{number});
    const T tree = number == 0 ? T{-7}
                               : tree_of_leaves<T>(
                                     minus, [&](std::size_t i) { return static_cast<T>(items[i]); },
                                     0, static_cast<std::size_t>(number));
    for (const std::int64_t most : {number, n, std::int64_t{1} << 29, std::int64_t{1} << 40}) {
      reduce_into<T>(exec, on_gpu.data(), deferred(told.data(), most), out.data(),
                     if_empty(minus, T{-7}));
      const T got = out.to_host()[0];
      EXPECT_TRUE(std::memcmp(&got, &tree, sizeof got) == 0) << number << " of " << most;
    }
  }
}

TEST_F(DeferredSizes, OfOneRangeGiveItsTree) {
  expect_ranges_of_any_length<float>(exec_);
  expect_ranges_of_any_length<double>(exec_);
  expect_ranges_of_any_length<float, __half>(exec_);
}

struct minus_of {
  TILEFOLD_HD float operator()(float a, float b) const { return a - b; }
};
struct is_negative {
  TILEFOLD_HD bool operator()(float x) const { return x < 0; }
};

// An index that counts from the first item, a fold that ends early, tiles that the caller chose;
// each from every place in 16 bytes.
TEST_F(DeferredSizes, OfOneRangeTakeReducersAndPoliciesAtAnyAlignment) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  constexpr std::int64_t n = 1'200'000;
  constexpr std::int64_t negative = 250'000;  // the only one
  std::vector<float> items;
  for (std::int64_t i = 0; i < n; ++i) {
    // Many are equal, so that the first of the largest is told from others.
    items.push_back(static_cast<float>(mixed_bits(seed() + static_cast<std::uint64_t>(i)) % 5000));
  }
  items[negative] = -1;
  const gpu_array<float> on_gpu(items);
  const gpu_array<reducers::indexed_value<float>> place(1);
  const gpu_array<bool> answer(1);
  const gpu_array<float> out(1);
  const auto none = reducers::indexed_value<float>{-7, -1};
  for (std::int64_t off = 0; off < 4; ++off) {
    const float* const first = on_gpu.data() + off;
    for (const std::int64_t number :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{37}, std::int64_t{5000},
          std::int64_t{8193}, negative - off, negative - off + 1, n - off}) {
      const gpu_array<std::int64_t> told(std::vector<std::int64_t>{number});
      for (const std::int64_t most : {number, n, std::int64_t{1} << 28, std::int64_t{1} << 40}) {
        SCOPED_TRACE(std::to_string(number) + " of " + std::to_string(most) + " from item " +
                     std::to_string(off));
        const auto size = deferred(told.data(), most);
        const auto begin = items.begin() + off;
        reduce_into(exec_, first, size, place.data(), if_empty(reducers::arg_max{}, none));
        const reducers::indexed_value<float> found = place.to_host()[0];
        const auto largest = std::max_element(begin, begin + number);
        EXPECT_EQ(found.index, number == 0 ? -1 : largest - begin);
        EXPECT_EQ(found.value, number == 0 ? -7 : *largest);
        reduce_into(exec_, first, size, answer.data(), reducers::any<is_negative>{});
        bool any = false;
        must(cudaMemcpy(&any, answer.data(), sizeof any, cudaMemcpyDefault));
        EXPECT_EQ(any, off + number > negative);
        const float tree =
            number == 0 ? -7
                        : tree_of_leaves<float>(
                              minus_of{}, [&](std::size_t i) { return items[i]; },
                              static_cast<std::size_t>(off), static_cast<std::size_t>(number));
        const auto minus = if_empty(minus_of{}, -7.0f);
        reduce_into(with_policy<tile_policy{128, 4}>(exec_), first, size, out.data(), minus);
        EXPECT_EQ(out.to_host()[0], tree);
        reduce_into(with_policy<tile_policy{256, 16}>(exec_), first, size, out.data(), minus);
        EXPECT_EQ(out.to_host()[0], tree);
      }
    }
  }
}

TEST_F(DeferredSizes, OfOneRangeTakeAnInitialValueAndItsWorkspace) {
  const gpu_array<float> items(std::vector<float>(50'000, 0.5f));
  gpu_array<float> out(1);
  cuda_executor exec;
  exec.reserve(cuda_executor::segments_workspace_bytes(1, sizeof(float)));
  const std::int64_t reserved = exec.workspace_bytes();
  for (const int number : {0, 1, 49'999}) {
    const gpu_array<int> told(std::vector<int>{number});
    for (const std::int64_t most : {std::int64_t{50'000}, std::int64_t{1} << 27,
                                    std::int64_t{1} << 31, std::int64_t{1} << 50}) {
      reduce_into(exec, items.data(), deferred(told.data(), most), out.data(), 10.0f);
      EXPECT_EQ(out.to_host()[0], 10.0f + 0.5f * static_cast<float>(number)) << most;
    }
  }
  EXPECT_EQ(exec.workspace_bytes(), reserved);
}

// The sums of runs are summed without anyone on the host knowing how many there are; in a graph
// again and again, with other keys.
TEST_F(DeferredSizes, FollowRunsOfKeys) {
  constexpr int n = 100000;
  gpu_array<int> keys(n);
  const gpu_array<int> values(std::vector<int>(n, 1));
  gpu_array<int> run_keys(n), sums(n);
  gpu_array<std::int64_t> num_runs(1);
  gpu_array<int> longest(1), total(1);
  const auto work = [&] {
    reduce_by_key_into(exec_, keys.data(), keys.data() + n, values.data(), run_keys.data(),
                       sums.data(), num_runs.data());
    reduce_into(exec_, sums.data(), deferred(num_runs.data(), n), longest.data(), maximum{});
    reduce_into(exec_, sums.data(), deferred(num_runs.data(), n), total.data());
  };
  work();  // gets the workspace
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  work();
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  cudaGraphExec_t launchable = nullptr;
  must(cudaGraphInstantiate(&launchable, graph, 0));
  for (const int run : {1, 3, 1000, n}) {
    std::vector<int> all(n);
    for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i / run;
    keys.assign(all.data(), all.size());
    must(cudaGraphLaunch(launchable, exec_.stream()));
    exec_.synchronize();
    EXPECT_EQ(longest.to_host()[0], run);
    EXPECT_EQ(total.to_host()[0], n);
  }
  must(cudaGraphExecDestroy(launchable));
  must(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace tilefold::test
