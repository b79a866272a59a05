// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length around the limits up to which each is a short range of its own, in one block
// or in a cluster (short_kernel.cuh): the host's bits, whichever kernel takes them, by default
// and under a policy, which leaves them to the kernels of forests; of numbers, by sums and by
// reducers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_rows.cuh"
#include "folds.hpp"

namespace tilefold::test {
namespace {

/// The same with an initial value.
template <class Item>
struct mix_rows_from_a_value {
  template <class Exec, class It>
  void operator()(Exec&& exec, It first, const rows& of, Item* out) const {
    Item initial{};
    initial.word[0] = 0x9e3779b9u;
    tilefold::segmented_reduce_into(exec, first, of.num, of.length, out, initial, mix_words{});
  }
};

template <class Item>
struct mix_rows_under_a_policy {
  template <class Exec, class It>
  void operator()(Exec&& exec, It first, const rows& of, Item* out) const {
    if constexpr (std::is_same_v<std::remove_cvref_t<Exec>, cuda_executor>) {
      mix_rows<Item>{}(with_policy<tile_policy{128, 4}>(exec), first, of, out);
    } else {
      mix_rows<Item>{}(exec, first, of, out);
    }
  }
};

TEST(CudaRows, OfOneWord) {
  using item = words<std::uint32_t, 1>;
  have_the_hosts_bits<item, item>(shapes(), mix_rows<item>{});
}

TEST(CudaRows, FromAnInitialValue) {
  using item = words<std::uint32_t, 1>;
  have_the_hosts_bits<item, item>(shapes(), mix_rows_from_a_value<item>{});
}

TEST(CudaRows, UnderAPolicy) {
  using item = words<std::uint32_t, 1>;
  have_the_hosts_bits<item, item>(shapes(), mix_rows_under_a_policy<item>{});
}

TEST(CudaRows, AreTheFoldsOfTheirItems) {
  using item = words<std::uint32_t, 1>;
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto items = items_of<item>(most_items);
  const gpu_array<item> device(items);
  cuda_executor gpu;
  for (const rows shape : {rows{512, 33}, rows{640, 1000}, rows{100, 9001}, rows{7, 131072}}) {
    const gpu_array<item> out(shape.num);
    mix_rows<item>{}(gpu, static_cast<const item*>(device.data()), shape, out.data());
    const auto got = out.to_host();
    for (std::int64_t i = 0; i < shape.num; i += 3) {
      const item* const first = items.data() + i * shape.length;
      ASSERT_EQ(got[static_cast<std::size_t>(i)].word[0],
                tilefold::reduce(first, first + shape.length, mix_words{}).word[0])
          << "row " << i << " of " << shape.length;
    }
  }
}

// More rows than a dimension of 16 bits has, of one block each; and more clusters than a GPU holds
// at once, of small blocks, of full and of half full large ones.
TEST(CudaRows, OfMoreBlocksThanAGpuHolds) {
  using item = words<std::uint32_t, 1>;
  many_have_the_hosts_bits<item>({70001, 1100}, 1009);
  many_have_the_hosts_bits<item>({4099, 8193}, 97);
  many_have_the_hosts_bits<item>({1500, 40000}, 31);
  many_have_the_hosts_bits<item>({1500, 65536}, 31);
  many_have_the_hosts_bits<item>({260, 131072}, 17);
  many_have_the_hosts_bits<item>({600, 131072}, 17);
}

/// The grid of the only kernel that `call` launches.
template <class Call>
dim3 grid_of(cuda_executor& exec, const Call& call) {
  const cudaStream_t stream = exec.stream();
  call();  // loads and asks
  must(cudaStreamSynchronize(stream));
  cudaGraph_t graph = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  call();
  must(cudaStreamEndCapture(stream, &graph));
  std::size_t count = 0;
  must(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  cudaGraphNode_t node = nullptr;
  count = 1;
  must(cudaGraphGetNodes(graph, &node, &count));
  cudaKernelNodeParams params{};
  must(cudaGraphKernelNodeGetParams(node, &params));
  must(cudaGraphDestroy(graph));
  return params.gridDim;
}

// Which kernel it is cannot be seen in the bits.
TEST(CudaRows, AreOneInEachPlaceOfTheGrid) {
  using item = words<std::uint32_t, 1>;
  int device = 0, major = 0;
  must(cudaGetDevice(&device));
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  cuda_executor gpu;
  const gpu_array<item> items(items_of<item>(300 * 9999));
  const gpu_array<item> out(300);
  const auto of = [&](auto fold, const rows& shape) {
    return test::grid_of(
        gpu, [&] { fold(gpu, static_cast<const item*>(items.data()), shape, out.data()); });
  };
  const dim3 blocks = of(mix_rows<item>{}, {300, 1000});
  EXPECT_EQ(blocks.x, 300u);
  EXPECT_EQ(blocks.y, 1u);
  const dim3 other = of(mix_rows_under_a_policy<item>{}, {300, 1000});
  EXPECT_NE(other.x, 300u);
  if (major < 9) return;
  const dim3 clusters = of(mix_rows<item>{}, {300, 9999});
  EXPECT_EQ(clusters.x, 300u);
  EXPECT_EQ(clusters.y, 8u);
}

// Each call reads what the one before wrote, in a stream whose launches begin early, and in a
// graph.
TEST(CudaRows, ReadWhatTheCallBeforeWrote) {
  using item = words<std::uint32_t, 1>;
  SCOPED_TRACE("seed " + std::to_string(seed()));
  constexpr std::int64_t rounds = 40;
  const auto items = items_of<item>(rounds * 600 * 999);
  const gpu_array<item> device(items);
  const gpu_array<item> middle(600), out(rounds);
  std::vector<item> expected_middle(600), expected(rounds);
  cuda_executor gpu;
  const auto calls = [&](auto&& exec, const item* from, item* mid, item* to) {
    for (std::int64_t i = 0; i < rounds; ++i) {
      mix_rows<item>{}(exec, from + i * 600 * 999, {600, 999}, mid);
      mix_rows<item>{}(exec, static_cast<const item*>(mid), {1, 600}, to + i);
    }
  };
  calls(host_executor{}, items.data(), expected_middle.data(), expected.data());
  const auto are_right = [&] {
    const auto got = out.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].word[0], expected[i].word[0]) << "round " << i;
    }
  };
  calls(gpu, device.data(), middle.data(), out.data());
  gpu.synchronize();
  are_right();
  must(cudaMemset(out.data(), 0xee, rounds * sizeof(item)));
  must(cudaDeviceSynchronize());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  must(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
  calls(gpu, device.data(), middle.data(), out.data());
  must(cudaStreamEndCapture(gpu.stream(), &graph));
  must(cudaGraphInstantiate(&replay, graph, 0));
  must(cudaGraphLaunch(replay, gpu.stream()));
  must(cudaStreamSynchronize(gpu.stream()));
  are_right();
  must(cudaGraphExecDestroy(replay));
  must(cudaGraphDestroy(graph));
}

TEST(CudaRows, SanitizeBlocksAndClusters) {
  using item = words<std::uint32_t, 1>;
  have_the_hosts_bits<item, item>({{1, 1}, {3, 33}, {5, 1000}, {2, 9999}, {3, 70001}},
                                  mix_rows<item>{});
}

namespace r = tilefold::reducers;

template <class Acc>
struct sum_rows {
  template <class Exec, class It, class Out>
  void operator()(Exec&& exec, It first, const rows& of, Out* out) const {
    tilefold::segmented_reduce_into<Acc>(exec, first, of.num, of.length, out);
  }
};

template <class Reducer>
struct reduce_rows {
  template <class Exec, class It, class Out>
  void operator()(Exec&& exec, It first, const rows& of, Out* out) const {
    tilefold::segmented_reduce_into(exec, first, of.num, of.length, out,
                                    if_empty(Reducer{}, Out{}));
  }
};

struct statistics_of_rows {
  template <class Exec, class It>
  void operator()(Exec&& exec, It first, const rows& of, statistics* out) const {
    tilefold::segmented_reduce_into(exec, first, of.num, of.length, out,
                                    statistics_of<float>::initial(), four_statistics{});
  }
};

TEST(CudaRowsOfReducers, OfHalvesIntoFloats) {
  have_the_hosts_bits<float, half>(shapes(), sum_rows<float>{});
}

TEST(CudaRowsOfReducers, OfFloatsAndDoubles) {
  have_the_hosts_bits<float, float>(shapes(), sum_rows<float>{});
  have_the_hosts_bits<double, double>(shapes(), sum_rows<double>{});
}

TEST(CudaRowsOfReducers, OfReducersWithLargeAccumulators) {
  have_the_hosts_bits<double, float>(shapes(), reduce_rows<r::mean>{});
  have_the_hosts_bits<double, float>(shapes(), reduce_rows<r::logsumexp>{});
  have_the_hosts_bits<statistics, float>(shapes(), statistics_of_rows{});
}

TEST(CudaRowsOfReducers, OfIndices) {
  have_the_hosts_bits<r::indexed_value<float>, float>(shapes(), reduce_rows<r::arg_min<>>{});
}

TEST(CudaRowsOfReducers, SanitizeLargeAccumulators) {
  have_the_hosts_bits<statistics, float>({{2, 300}, {2, 20000}}, statistics_of_rows{});
}

}  // namespace
}  // namespace tilefold::test
