// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the axes of a view on a GPU: every result spells the neighbour tree of the elements
// that nested loops gather for it, on every path: rows, rows with gaps, columns in packets and one
// by one, rows that many blocks share.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/axis_trees.hpp"
#include "support/device.cuh"
#include "support/order.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

class CudaAxis : public ::testing::Test {
 protected:
  // Folds `shift` items past an aligned address and compares with nested loops.
  void folds_in_order(const view_layout& layout, unsigned reduced, const view_layout& out_layout,
                      std::int64_t shift = 0) {
    const auto items = counted(layout.span());
    gpu_array<std::uint32_t> array(layout.span() + shift + 1);
    array.assign(items.data(), layout.span(), shift);
    gpu_array<lifted_hash> out(out_layout.span() + 1);
    must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(out.size()) * sizeof(lifted_hash)));
    axis_reduce(exec_, test_view{static_cast<const std::uint32_t*>(array.data() + shift), layout},
                test_view{out.data(), out_layout}, named(reduced), initial, lifted_node_hash{});
    ASSERT_TRUE(holds_trees(out.to_host(), out_layout, layout, reduced)) << "shift " << shift;
  }

  cuda_executor exec_;
};

TEST_F(CudaAxis, EveryAxisSubsetOfRank4) {
  const std::vector<std::vector<std::int64_t>> shapes{
      {3, 1, 5, 7}, {2, 3, 4, 1}, {1, 1, 1, 1}, {4, 8, 16, 2}, {11, 13, 3, 5}, {20, 33, 30, 41}};
  for_every_axis_subset(shapes, [this](const view_layout& layout, unsigned reduced) {
    if (HasFatalFailure()) return;
    const auto dropped = result_extents(layout, reduced, false);
    ASSERT_NO_FATAL_FAILURE(folds_in_order(layout, reduced, right_layout(dropped)));
    if (layout.extents[0] > 16) return;
    ASSERT_NO_FATAL_FAILURE(
        folds_in_order(layout, reduced, left_layout(result_extents(layout, reduced, true)), 1));
    ASSERT_NO_FATAL_FAILURE(folds_in_order(layout, reduced, right_layout(dropped, 3, 2)));
  });
}

TEST_F(CudaAxis, RanksFrom0To8) {
  for_every_rank([this](const view_layout& layout, unsigned reduced) {
    if (HasFatalFailure()) return;
    folds_in_order(layout, reduced, right_layout(result_extents(layout, reduced, false)));
  });
}

TEST_F(CudaAxis, ResultsOfNothing) {
  for_every_result_of_nothing(
      [this](const view_layout& layout, unsigned reduced, const view_layout& out) {
        if (HasFatalFailure()) return;
        folds_in_order(layout, reduced, out);
      });
}

// Rows shared by many blocks, in one and in several rounds of partials, twice in a row: counters
// are zero again.
TEST_F(CudaAxis, TallMatrices) {
  const std::vector<std::pair<std::vector<std::int64_t>, unsigned>> shapes{
      {{1000003, 2}, 1u},   {{500001, 7}, 1u},    {{262145, 64}, 1u},    {{3000000, 4}, 1u},
      {{40000, 130}, 1u},   {{2049, 4096}, 1u},   {{3, 100003, 5}, 2u},  {{2, 40001, 36}, 2u},
      {{70, 70, 1030}, 2u}, {{300, 2, 5000}, 5u}, {{64, 5, 3000, 2}, 5u}};
  for (const auto& [extents, reduced] : shapes) {
    const auto layout = right_layout(extents);
    const auto out = right_layout(result_extents(layout, reduced, false));
    ASSERT_NO_FATAL_FAILURE(folds_in_order(layout, reduced, out));
    ASSERT_NO_FATAL_FAILURE(folds_in_order(layout, reduced, out, 1));
  }
}

// Items whose accumulator is one word, so that packets are as wide as they get.
template <class T>
void folds_short_columns(cuda_executor& exec, const std::vector<T>& items, const T* array,
                         std::int64_t width, std::int64_t row_stride,
                         const std::vector<std::int64_t>& heights) {
  gpu_array<std::uint32_t> out(static_cast<std::int64_t>(heights.size()) * width);
  must(cudaMemset(out.data(), 0xee, static_cast<std::size_t>(out.size()) * 4));
  for (std::size_t h = 0; h < heights.size(); ++h) {
    axis_reduce_into<std::uint32_t>(
        exec, test_view{array, view_layout{{heights[h], width}, {row_stride, 1}}},
        test_view{out.data() + static_cast<std::int64_t>(h) * width, right_layout({width})},
        axes{0}, 7u, short_node_hash{});
  }
  exec.synchronize();
  const auto got = out.to_host();
  for (std::int64_t c = 0; c < width; ++c) {
    running_fold<short_node_hash, std::uint32_t> fold(short_node_hash{});
    std::int64_t row = 0;
    for (std::size_t h = 0; h < heights.size(); ++h) {
      for (; row < heights[h]; ++row) {
        fold.push(
            static_cast<std::uint32_t>(items[static_cast<std::size_t>(row * row_stride + c)]));
      }
      const std::uint32_t expected = row == 0 ? 7u : short_node_hash{}(7u, fold.value());
      ASSERT_EQ(got[h * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)], expected)
          << "column " << c << " of " << width << " with " << heights[h] << " rows, stride "
          << row_stride << ", item of " << sizeof(T) << " bytes";
    }
  }
}

std::vector<std::int64_t> edges(std::int64_t all_to) {
  std::vector<std::int64_t> heights{0};
  for (std::int64_t n = 1; n <= all_to; ++n) heights.push_back(n);
  for (std::int64_t n = 128; n <= 4096; n *= 2) {
    for (const std::int64_t near : {-1, 0, 1}) heights.push_back(n + near);
  }
  return heights;
}

TEST_F(CudaAxis, EveryWidthAndHeight) {
  const auto items = counted(4097 * 600);
  const gpu_array<std::uint32_t> array(items);
  for (std::int64_t width = 1; width <= 70; ++width) {
    ASSERT_NO_FATAL_FAILURE(folds_short_columns(
        exec_, items, static_cast<const std::uint32_t*>(array.data()), width, width, edges(70)));
  }
  for (const std::int64_t width : {127, 128, 129, 132, 255, 256, 260, 512, 600}) {
    ASSERT_NO_FATAL_FAILURE(folds_short_columns(
        exec_, items, static_cast<const std::uint32_t*>(array.data()), width, width, edges(17)));
  }
}

TEST_F(CudaAxis, EveryAlignmentOfBytes) {
  std::vector<std::uint8_t> items;
  for (std::int64_t i = 0; i < 300 * 200; ++i) items.push_back(order_byte(i));
  for (std::int64_t shift = 0; shift < 17; ++shift) {
    gpu_array<std::uint8_t> array(static_cast<std::int64_t>(items.size()) + shift);
    array.assign(items.data(), static_cast<std::int64_t>(items.size()), shift);
    for (const std::int64_t width : {2, 8, 16, 33, 64, 128}) {
      for (const std::int64_t padding : {0, 1, 4, 8, 16}) {
        ASSERT_NO_FATAL_FAILURE(folds_short_columns(
            exec_, items, static_cast<const std::uint8_t*>(array.data()) + shift, width,
            width + padding, {1, 8, 9, 100, 128, 300}))
            << "shift " << shift;
      }
    }
  }
}

namespace mds = cuda::std;
using extents_3 = mds::dextents<std::int64_t, 3>;
using extents_2 = mds::dextents<std::int64_t, 2>;

// Padding between the members of a result is nobody's.
template <class T>
bool same_result(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class Indices, class... T>
bool same_result(const detail::pack_of<Indices, T...>& a, const detail::pack_of<Indices, T...>& b) {
  return same_result(a.template get<0>(), b.template get<0>()) &&
         same_result(a.template get<1>(), b.template get<1>());
}
template <class T>
bool same_result(const reducers::indexed_value<T>& a, const reducers::indexed_value<T>& b) {
  return same_result(a.value, b.value) && a.index == b.index;
}

// Every result as the host gives it and as reduce() over its items does, to the bit.
template <class Layout, class Op>
void same_as_host(cuda_executor& exec, const std::vector<float>& items, const extents_3& extents,
                  int axis, Op op) {
  using result = decltype(tilefold::reduce(items, op));
  const gpu_array<float> array(items);
  const std::int64_t n = static_cast<std::int64_t>(items.size()) / extents.extent(axis);
  std::vector<std::int64_t> kept;
  for (int i = 0; i < 3; ++i) {
    if (i != axis) kept.push_back(extents.extent(i));
  }
  const extents_2 out_extents(kept[0], kept[1]);
  gpu_array<result> out(n);
  std::vector<result> expected(static_cast<std::size_t>(n));
  using view = mds::mdspan<const float, extents_3, Layout>;
  axis_reduce(exec, view(array.data(), extents), mds::mdspan(out.data(), out_extents), axis, op);
  axis_reduce(host_executor(), view(items.data(), extents),
              mds::mdspan(expected.data(), out_extents), axis, op);
  const auto got = out.to_host();
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_TRUE(same_result(got[k], expected[k])) << "axis " << axis << ", result " << k;
  }
  const typename Layout::template mapping<extents_3> mapping(extents);
  for (std::int64_t k = 0; k < n; k += n / 13 + 1) {
    std::vector<float> some;
    std::int64_t at[3] = {};
    int next = 0;
    for (int i = 0; i < 3; ++i) {
      if (i != axis) at[i] = next++ == 0 ? k / kept[1] : k % kept[1];
    }
    for (at[axis] = 0; at[axis] < extents.extent(axis); ++at[axis]) {
      some.push_back(items[static_cast<std::size_t>(mapping(at[0], at[1], at[2]))]);
    }
    const result alone = tilefold::reduce(some, op);
    ASSERT_TRUE(same_result(got[static_cast<std::size_t>(k)], alone))
        << "axis " << axis << ", result " << k;
  }
}

TEST_F(CudaAxis, SumsOfFloatsInMdspans) {
  auto items = mixed_floats(37 * 300 * 52, seed());
  items[12345] = std::numeric_limits<float>::quiet_NaN();
  items[54321] = -std::numeric_limits<float>::infinity();
  for (int axis = 0; axis < 3; ++axis) {
    same_as_host<mds::layout_right>(exec_, items, extents_3(37, 300, 52), axis, plus{});
    same_as_host<mds::layout_left>(exec_, items, extents_3(37, 300, 52), axis, plus{});
    same_as_host<mds::layout_right>(exec_, items, extents_3(3, 3700, 52), axis, plus{});
  }
}

TEST_F(CudaAxis, ReducersOfFloatsInMdspans) {
  const auto items = mixed_floats(30 * 70 * 44, seed());
  const auto both = reducers::fuse(reducers::mean{}, reducers::min{});
  for (int axis = 0; axis < 3; ++axis) {
    same_as_host<mds::layout_right>(exec_, items, extents_3(30, 70, 44), axis, both);
    same_as_host<mds::layout_right>(exec_, items, extents_3(30, 70, 44), axis, reducers::arg_min{});
  }
}

TEST_F(CudaAxis, NarrowFloatsAndStridedMdspans) {
  const std::int64_t rows = 1000, columns = 96, pitch = 104;
  const auto floats = mixed_floats(rows * pitch, seed());
  std::vector<half> items;
  for (const float x : floats) items.push_back(half(std::fmod(x, 100.0f)));
  const gpu_array<half> array(items);
  gpu_array<float> out(columns);
  const mds::array<std::int64_t, 2> strides{pitch, 1};
  const mds::layout_stride::mapping<extents_2> mapping(extents_2(rows, columns), strides);
  const mds::mdspan<const half, extents_2, mds::layout_stride> view(array.data(), mapping);
  // No executor: the memory decides.
  axis_reduce(view, mds::mdspan(out.data(), mds::dextents<int, 1>(columns)), 0);
  const auto got = out.to_host();
  for (std::int64_t c = 0; c < columns; ++c) {
    std::vector<half> column;
    for (std::int64_t r = 0; r < rows; ++r) {
      column.push_back(items[static_cast<std::size_t>(r * pitch + c)]);
    }
    const float expected = tilefold::reduce(column);
    EXPECT_EQ(std::memcmp(&got[static_cast<std::size_t>(c)], &expected, 4), 0) << c;
  }
}

TEST_F(CudaAxis, CapturedIntoAGraph) {
  const std::int64_t rows = 100000, columns = 24;
  const auto items = mixed_floats(rows * columns, seed());
  const gpu_array<float> array(items);
  gpu_array<float> out(columns);
  const mds::mdspan in(static_cast<const float*>(array.data()), extents_2(rows, columns));
  const mds::mdspan results(out.data(), mds::dextents<std::int64_t, 1>(columns));
  axis_reduce(exec_, in, results, 0);
  const auto expected = out.to_host();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t runnable = nullptr;
  must(cudaStreamBeginCapture(exec_.stream(), cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(axis_reduce(exec_, in, results, 0), capture_error);
  axis_reduce_into(exec_, in, results, 0);
  must(cudaStreamEndCapture(exec_.stream(), &graph));
  must(cudaGraphInstantiate(&runnable, graph, 0));
  for (int again = 0; again < 3; ++again) {
    must(cudaMemset(out.data(), 0xee, columns * sizeof(float)));
    must(cudaGraphLaunch(runnable, exec_.stream()));
    exec_.synchronize();
    EXPECT_EQ(std::memcmp(out.to_host().data(), expected.data(), columns * sizeof(float)), 0);
  }
  must(cudaGraphExecDestroy(runnable));
  must(cudaGraphDestroy(graph));
}

TEST_F(CudaAxis, RefusesHostMemoryAndMeansOfNothing) {
  std::vector<float> items(12, 1.0f), out(4, 3.0f);
  const test_view host_in{static_cast<const float*>(items.data()), right_layout({3, 4})};
  const test_view host_out{out.data(), right_layout({4})};
  EXPECT_THROW(axis_reduce(exec_, host_in, host_out, 0), memory_space_error);
  const float* volatile null_items = nullptr;
  const test_view nothing{static_cast<const float*>(null_items), right_layout({3, 4})};
  gpu_array<float> device_out(4);
  const test_view results{device_out.data(), right_layout({4})};
  EXPECT_THROW(axis_reduce(exec_, nothing, results, 0), null_pointer_error);
  const test_view empty{static_cast<const float*>(null_items), right_layout({0, 4})};
  const auto both = reducers::fuse(reducers::mean{}, reducers::min{});
  gpu_array<decltype(tilefold::reduce(items, both))> device_pairs(4);
  EXPECT_THROW(
      axis_reduce(exec_, empty, test_view{device_pairs.data(), right_layout({4})}, 0, both),
      empty_range_error);
  axis_reduce(exec_, empty, results, 0);
  for (const float sum : device_out.to_host()) EXPECT_TRUE(sum == 0 && std::signbit(sum));
}

}  // namespace
}  // namespace tilefold::test
