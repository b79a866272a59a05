// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the axes of a view on a GPU: every result spells the neighbour tree of the elements
// that nested loops gather for it, on every path: rows, rows with gaps, columns in packets and one
// by one, rows that many blocks share.
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>

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
  // Several blocks of short columns.
  for (const std::int64_t width : {1024, 1028, 4092, 40000}) {
    ASSERT_NO_FATAL_FAILURE(folds_short_columns(exec_, items,
                                                static_cast<const std::uint32_t*>(array.data()),
                                                width, width, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
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

}  // namespace
}  // namespace tilefold::test
