// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length around the limits up to which each is a short range of its own, in one block
// or in a cluster (short_rows_kernel.cuh): the host's bits, whichever kernel takes them, by default
// and under a policy, which leaves them to the kernels of forests.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/if_empty.hpp>
#include <tilefold/tilefold.cuh>

#include "../conformance/cases.hpp"
#include "../support/device.cuh"
#include "../support/items.hpp"
#include "../support/seed.hpp"
#include "folds.hpp"

namespace tilefold::test {
namespace {

namespace r = tilefold::reducers;

struct rows {
  std::int64_t num, length;
};

// Around a warp's, a block's and a cluster's longest row, of items of 2 to 16 bytes.
const std::vector<std::int64_t> lengths{1,     2,      31,     32,     33,    511,   512,   1000,
                                        1024,  1025,   2048,   2049,   4096,  8191,  8192,  8193,
                                        9999,  16384,  16385,  32768,  32769, 40000, 65536, 65537,
                                        70001, 131072, 131073, 262144, 262145};

// Around the numbers up to which short ones are taken; the rows of a shape are at most so many
// items.
constexpr std::int64_t most_items = std::int64_t{1} << 20;

std::vector<rows> shapes() {
  std::vector<rows> all;
  for (const std::int64_t length : lengths) {
    for (const std::int64_t num :
         {1, 2, 16, 17, 131, 133, 256, 257, 512, 513, 640, 641, 1024, 1025}) {
      if (num == 1 || num * length <= most_items) all.push_back({num, length});
    }
  }
  return all;
}

template <class Item>
std::vector<Item> items_of(std::int64_t n) {
  if constexpr (requires { Item::word; }) {
    using word = std::remove_extent_t<decltype(Item::word)>;
    constexpr std::int64_t count = sizeof(Item) / sizeof(word);
    const auto words = make_items<word>(pattern::any_bits, n * count, seed());
    std::vector<Item> items(static_cast<std::size_t>(n));
    std::memcpy(items.data(), words.data(), items.size() * sizeof(Item));
    return items;
  } else {
    return make_items<Item>(pattern::mixed, n, seed());
  }
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
// Between a value and its index lies memory that nobody writes.
template <class T>
bool same_bits(const r::indexed_value<T>& a, const r::indexed_value<T>& b) {
  return test::same_bits(a.value, b.value) && a.index == b.index;
}

/// Whether a GPU's rows have the host's bits, from aligned memory and not. `fold` folds rows with
/// an executor: (executor, first item, rows, results).
template <class Result, class Item, class Fold>
void have_the_hosts_bits(const std::vector<rows>& all, const Fold& fold) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto items = items_of<Item>(most_items + 3);
  const gpu_array<Item> device(items);
  cuda_executor gpu;
  for (const rows shape : all) {
    for (const int off : {0, 3}) {
      std::vector<Result> expected(static_cast<std::size_t>(shape.num));
      fold(host_executor{}, items.data() + off, shape, expected.data());
      const gpu_array<Result> out(shape.num);
      fold(gpu, static_cast<const Item*>(device.data()) + off, shape, out.data());
      const auto got = out.to_host();
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_TRUE(test::same_bits(got[i], expected[i]))
            << "row " << i << " of " << shape.num << " of " << shape.length << " items from "
            << off;
      }
    }
  }
}

/// An operator that is not associative, so that each order has bits of its own.
template <class Item>
struct mix_rows {
  template <class Exec, class It>
  void operator()(Exec&& exec, It first, const rows& of, Item* out) const {
    tilefold::segmented_reduce_into(exec, first, of.num, of.length, out,
                                    if_empty(mix_words{}, Item{}));
  }
};

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

TEST(CudaRows, OfStructs) {
  have_the_hosts_bits<words<std::uint32_t, 2>, words<std::uint32_t, 2>>(
      shapes(), mix_rows<words<std::uint32_t, 2>>{});
  have_the_hosts_bits<words<std::uint32_t, 3>, words<std::uint32_t, 3>>(
      shapes(), mix_rows<words<std::uint32_t, 3>>{});
  have_the_hosts_bits<words<std::uint32_t, 4>, words<std::uint32_t, 4>>(
      shapes(), mix_rows<words<std::uint32_t, 4>>{});
  have_the_hosts_bits<words<std::uint32_t, 8>, words<std::uint32_t, 8>>(
      shapes(), mix_rows<words<std::uint32_t, 8>>{});
}

TEST(CudaRows, OfNarrowItems) {
  have_the_hosts_bits<words<std::uint8_t, 1>, words<std::uint8_t, 1>>(
      shapes(), mix_rows<words<std::uint8_t, 1>>{});
  have_the_hosts_bits<words<std::uint16_t, 1>, words<std::uint16_t, 1>>(
      shapes(), mix_rows<words<std::uint16_t, 1>>{});
}

TEST(CudaRows, OfHalvesIntoFloatsAndHalves) {
  have_the_hosts_bits<float, half>(shapes(), sum_rows<float>{});
  have_the_hosts_bits<half, half>(shapes(), sum_rows<float>{});
}

TEST(CudaRows, OfFloatsAndDoubles) {
  have_the_hosts_bits<float, float>(shapes(), sum_rows<float>{});
  have_the_hosts_bits<double, double>(shapes(), sum_rows<double>{});
}

TEST(CudaRows, OfReducersWithLargeAccumulators) {
  have_the_hosts_bits<double, float>(shapes(), reduce_rows<r::mean>{});
  have_the_hosts_bits<double, float>(shapes(), reduce_rows<r::logsumexp>{});
  have_the_hosts_bits<statistics, float>(shapes(), statistics_of_rows{});
}

TEST(CudaRows, OfIndices) {
  have_the_hosts_bits<r::indexed_value<float>, float>(shapes(), reduce_rows<r::arg_min<>>{});
  have_the_hosts_bits<r::indexed_value<double>, double>(shapes(), reduce_rows<r::arg_max<>>{});
}

TEST(CudaRows, OfAccumulatorsTooLargeForThem) {
  using item = words<std::uint32_t, 16>;
  have_the_hosts_bits<item, item>({{1, 100}, {3, 33}, {17, 1000}, {2, 9999}}, mix_rows<item>{});
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

/// Whether rows that repeat after `period` have the host's bits; it folds one period.
template <class Item>
void many_have_the_hosts_bits(const rows& shape, std::int64_t period) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto some = items_of<Item>(period * shape.length);
  std::vector<Item> items;
  items.reserve(static_cast<std::size_t>(shape.num * shape.length));
  for (std::int64_t i = 0; i < shape.num; i += period) {
    const std::int64_t num = std::min(period, shape.num - i);
    items.insert(items.end(), some.begin(), some.begin() + num * shape.length);
  }
  std::vector<Item> expected(static_cast<std::size_t>(period));
  mix_rows<Item>{}(host_executor{}, some.data(), {period, shape.length}, expected.data());
  const gpu_array<Item> device(items);
  const gpu_array<Item> out(shape.num);
  cuda_executor gpu;
  mix_rows<Item>{}(gpu, static_cast<const Item*>(device.data()), shape, out.data());
  const auto got = out.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(test::same_bits(got[i], expected[i % static_cast<std::size_t>(period)]))
        << "row " << i << " of " << shape.num << " of " << shape.length;
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
  many_have_the_hosts_bits<words<std::uint16_t, 1>>({300, 151936}, 17);
  many_have_the_hosts_bits<words<std::uint32_t, 4>>({1030, 4097}, 31);
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
  have_the_hosts_bits<statistics, float>({{2, 300}, {2, 20000}}, statistics_of_rows{});
}

}  // namespace
}  // namespace tilefold::test
