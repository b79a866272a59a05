// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the axes of mdspans on a GPU: floats, reducers and strides as the host has them, in
// a graph, and what is refused.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>

#include "support/axis_trees.hpp"
#include "support/device.cuh"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

class CudaAxisViews : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

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

TEST_F(CudaAxisViews, SumsOfFloatsInMdspans) {
  auto items = mixed_floats(37 * 300 * 52, seed());
  items[12345] = std::numeric_limits<float>::quiet_NaN();
  items[54321] = -std::numeric_limits<float>::infinity();
  for (int axis = 0; axis < 3; ++axis) {
    same_as_host<mds::layout_right>(exec_, items, extents_3(37, 300, 52), axis, plus{});
    same_as_host<mds::layout_left>(exec_, items, extents_3(37, 300, 52), axis, plus{});
    same_as_host<mds::layout_right>(exec_, items, extents_3(3, 3700, 52), axis, plus{});
  }
}

TEST_F(CudaAxisViews, ReducersOfFloatsInMdspans) {
  const auto items = mixed_floats(30 * 70 * 44, seed());
  const auto both = reducers::fuse(reducers::mean{}, reducers::min{});
  for (int axis = 0; axis < 3; ++axis) {
    same_as_host<mds::layout_right>(exec_, items, extents_3(30, 70, 44), axis, both);
    same_as_host<mds::layout_right>(exec_, items, extents_3(30, 70, 44), axis, reducers::arg_min{});
  }
}

TEST_F(CudaAxisViews, NarrowFloatsAndStridedMdspans) {
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

TEST_F(CudaAxisViews, CapturedIntoAGraph) {
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

TEST_F(CudaAxisViews, RefusesHostMemoryAndMeansOfNothing) {
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
