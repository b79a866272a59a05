// SPDX-License-Identifier: Apache-2.0
//
// sequential_blocks() on a GPU: the bits of the host executor, which sequential_blocks_test.cpp
// compares with an oracle, in every verb; and the hashes that PyTorch pins.
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reduce_by_index.hpp>
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/tilefold.cuh>

#include "support/device.cuh"
#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/seed.hpp"
#include "support/torch_order.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

namespace r = tilefold::reducers;

/// Bytes of a result, to compare.
template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<unsigned char> bytes_of(const T& value) {
  return bytes_of(std::vector<T>{value});
}

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

/// Items of a type, an operator on them, and an initial value.
struct float_sums {
  static auto items(std::int64_t n) { return make_items<float>(pattern::mixed, n, seed()); }
  plus op;
  float init = 0.5f;
};
struct double_sums {
  static auto items(std::int64_t n) { return make_items<double>(pattern::mixed, n, seed()); }
  plus op;
  double init = 0.5;
};
/// Of which no two can change places.
struct hashes {
  static auto items(std::int64_t n) { return leaf_hashes(static_cast<std::size_t>(n)); }
  node_hash op;
  tree_hash init{1, 2};
};

/// The same in 64 bytes.
struct wide_hash {
  tree_hash of[4];
};
struct wide_node_hash {
  TILEFOLD_HD wide_hash operator()(const wide_hash& a, const wide_hash& b) const {
    return {{node_hash{}(a.of[0], b.of[0]), node_hash{}(a.of[1], b.of[1]),
             node_hash{}(a.of[2], b.of[2]), node_hash{}(a.of[3], b.of[3])}};
  }
};
struct wide_hashes {
  static std::vector<wide_hash> items(std::int64_t n) {
    std::vector<wide_hash> all;
    for (std::int64_t i = 0; i < n; ++i) {
      all.push_back({{leaf_hash(i), leaf_hash(i + 1), leaf_hash(2 * i), leaf_hash(-i)}});
    }
    return all;
  }
  wide_node_hash op;
  wide_hash init{};
};

template <class Case>
void folds_rows(const Case& of, std::int64_t most_items) {
  for (const auto& [rows, length] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 100000},
                                                          {3, 1025},
                                                          {3, 256 * 600 + 1},
                                                          {17, 1024},
                                                          {40, 5000},
                                                          {300, 1025},
                                                          {3000, 1100},
                                                          {50, 768},
                                                          {70000, 800},
                                                          {5000, 2000}}) {
    if (rows * length > most_items) continue;
    const auto items = of.items(rows * length);
    const gpu_array x(items);
    auto expected = std::vector(static_cast<std::size_t>(rows), of.init);
    const gpu_array out(expected);
    cuda_executor exec;
    segmented_reduce(exec, x.data(), rows, length, out.data(), of.init,
                     sequential_blocks<256>(of.op));
    segmented_reduce(host_executor(), items.begin(), rows, length, expected.begin(), of.init,
                     sequential_blocks<256>(of.op));
    ASSERT_EQ(bytes_of(out.to_host()), bytes_of(expected)) << rows << " rows of " << length;
  }
}

TEST(SequentialBlocksGpu, FoldsRowsFewAndMany) {
  folds_rows(float_sums{}, 100000000);
  folds_rows(hashes{}, 4000000);
  folds_rows(wide_hashes{}, 1000000);
}

// Segments of every length, few and many, by offsets, with a bound, and as arrays.
template <class Case>
void folds_segments(const Case& of) {
  for (const std::int64_t times : {1, 60}) {
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t i = 0; i < times; ++i) {
      for (const std::int64_t n : {0, 3, 300, 768, 769, 1024, 5000, 17, 0, 2000}) {
        offsets.push_back(offsets.back() + n);
      }
    }
    const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
    const auto items = of.items(offsets.back());
    const gpu_array x(items);
    const gpu_array at(offsets);
    const auto op = sequential_blocks<256>(of.op);
    auto expected = std::vector(static_cast<std::size_t>(count), of.init);
    const gpu_array out(expected);
    segmented_reduce(host_executor(), items.begin(), offsets.begin(), count, expected.begin(),
                     of.init, op);
    cuda_executor exec;
    segmented_reduce(exec, x.data(), at.data(), count, out.data(), of.init, op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
    segmented_reduce(exec, x.data(), at.data(), count, segment_bound(5000), out.data(), of.init,
                     op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
    segmented_reduce(exec, x.data(), at.data(), at.data() + 1, count, out.data(), of.init, op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
    std::vector<decltype(x.data())> arrays;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      arrays.push_back(x.data() + offsets[i]);
      lengths.push_back(offsets[i + 1] - offsets[i]);
    }
    const gpu_array pointers(arrays);
    const gpu_array sizes(lengths);
    batched_reduce(exec, pointers.data(), sizes.data(), count, out.data(), of.init, op);
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
  }
}

TEST(SequentialBlocksGpu, FoldsSegmentsAndArrays) {
  folds_segments(double_sums{});
  folds_segments(hashes{});
}

template <class Case>
void folds_axes(const Case& of) {
  for (const std::int64_t width : {1, 5, 600}) {
    for (const std::int64_t rows : {700, 1025}) {
      const auto items = of.items(rows * width);
      const gpu_array x(items);
      auto expected = std::vector(static_cast<std::size_t>(width), of.init);
      const gpu_array out(expected);
      cuda_executor exec;
      const view_layout layout = right_layout({rows, width});
      const auto op = sequential_blocks<256>(of.op);
      axis_reduce(exec, test_view{x.data(), layout}, test_view{out.data(), right_layout({width})},
                  axes{0}, of.init, op);
      axis_reduce(host_executor(), test_view{items.data(), layout},
                  test_view{expected.data(), right_layout({width})}, axes{0}, of.init, op);
      EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected)) << rows << " x " << width;
    }
  }
}

TEST(SequentialBlocksGpu, FoldsAxes) {
  folds_axes(float_sums{});
  folds_axes(hashes{});
}

template <class Case>
void folds_deferred_sizes(const Case& of) {
  const auto items = of.items(90000);
  const gpu_array x(items);
  const gpu_array out(std::vector{of.init});
  const auto op = sequential_blocks<256>(of.op);
  cuda_executor exec;
  for (const int size : {0, 768, 769, 70000}) {
    const gpu_array<int> n(std::vector<int>{size});
    reduce_into(exec, x.data(), deferred(n.data(), 90000), out.data(), of.init, op);
    exec.synchronize();
    EXPECT_EQ(bytes_of(out.to_host()[0]),
              bytes_of(tilefold::reduce(items.begin(), items.begin() + size, of.init, op)))
        << size;
  }
}

TEST(SequentialBlocksGpu, FoldsDeferredSizes) {
  folds_deferred_sizes(float_sums{});
  folds_deferred_sizes(hashes{});
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

TEST(SequentialBlocksGpu, FoldsItemsByIndex) {
  const auto items = make_items<float>(pattern::mixed, 90000, seed());
  std::vector<int> index;
  for (int i = 0; i < 90000; ++i) index.push_back(i % 7 == 0 ? 2 : i % 2);
  const auto of = [&](int k) {
    std::vector<float> some;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (index[i] == k) some.push_back(items[i]);
    }
    return some;
  };
  const gpu_array<float> x(items);
  const gpu_array<int> at(index);
  const gpu_array<float> out(3);
  cuda_executor exec;
  reduce_by_index(exec, at.data(), at.data() + at.size(), x.data(), 3, out.data(),
                  sequential_blocks<256>(plus{}));
  const std::vector<float> found = out.to_host();
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(bytes_of(found[static_cast<std::size_t>(k)]),
              bytes_of(tilefold::reduce(of(k), sequential_blocks<256>(plus{}))));
  }
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
