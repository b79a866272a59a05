// SPDX-License-Identifier: Apache-2.0
//
// sequential_blocks() of rows and axes on a GPU: the bits of the host executor.
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "cuda/sequential_blocks.cuh"
#include "support/device.cuh"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

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

}  // namespace

}  // namespace tilefold::test
