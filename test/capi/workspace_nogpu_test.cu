// SPDX-License-Identifier: Apache-2.0
//
// What tilefold_workspace() answers is enough for what kernels ask for, in every verb and on GPUs
// of any size. Needs no GPU.
#include <cstdint>

#include <gtest/gtest.h>

#include "../../src/capi/cuda/demand.cuh"

namespace tilefold::capi {
namespace {

namespace gpu = detail::cuda;

constexpr std::int64_t most_keys = std::int64_t{1} << 35;

TEST(Workspace, IsKnownOfMoreItemsThanByKeyTakes) {
  const fold_bytes narrow{1, 4};
  EXPECT_GE(capi::demand_of_any_verb(most_keys, 1, narrow, 132),
            cuda_executor::by_key_workspace_bytes(most_keys, 4));
  for (const std::int64_t n : {most_keys + 1, 2 * most_keys, std::int64_t{1} << 45}) {
    const std::int64_t found = capi::demand_of_any_verb(n, 1, narrow, 132);
    EXPECT_GE(found, cuda_executor::workspace_bytes(n, 1, 4)) << n;
    EXPECT_LE(found, n / 64) << n;
  }
  EXPECT_THROW((void)capi::demand_of_any_verb(INT64_MAX, 1, {16, 288}, 132), invalid_range_error);
  EXPECT_EQ(capi::demand_of_any_verb(0, 0, narrow, 132), 0);
}

// sum64 of int8 reads 8 bytes an item, arg_max of it an index, too, and any() of float64 a byte.
TEST(Workspace, IsEnoughForItemsThatAreReadAsOthers) {
  for (const std::int64_t accumulator : {1, 8, 16, 288}) {
    for (std::int64_t n = 1; n < std::int64_t{1} << 50; n = n * 5 + 1) {
      const std::int64_t found = capi::demand_of_any_verb(n, 1, {2, accumulator}, 132);
      for (const std::int64_t item : {1, 2, 8, 10, 16}) {
        EXPECT_GE(found, cuda_executor::workspace_bytes(n, item, accumulator)) << n << " " << item;
        EXPECT_GE(found, cuda_executor::equal_segments_workspace_bytes(1, n, item, accumulator));
      }
    }
  }
}

/// What launch_columns() asks for, of items in bundles of `width` and with so many blocks at once.
std::int64_t asked(std::int64_t columns, std::int64_t rows, int width, const fold_bytes& bytes,
                   std::int64_t stride, std::int64_t resident) {
  const gpu::column_shape shape = gpu::column_shape_for(width, static_cast<int>(bytes.item),
                                                        static_cast<int>(bytes.accumulator));
  const gpu::column_plan plan =
      gpu::plan_columns(shape, {1, {columns}, {stride}}, {1, {rows}, {columns * stride}}, resident);
  return gpu::column_demand(plan, shape, bytes.accumulator).bytes();
}

TEST(Workspace, IsEnoughForColumns) {
  for (const fold_bytes& bytes : {fold_bytes{1, 4}, fold_bytes{2, 4}, fold_bytes{4, 32},
                                  fold_bytes{8, 8}, fold_bytes{8, 288}, fold_bytes{16, 16}}) {
    for (int width = 1; width * bytes.item <= 16; width *= 2) {
      if (gpu::column_width_for(width, static_cast<int>(bytes.item),
                                static_cast<int>(bytes.accumulator)) != width) {
        continue;
      }
      for (std::int64_t columns = width; columns < 200000;
           columns = columns / width * 3 / 2 * width + width) {
        for (const std::int64_t rows : {1, 16, 17, 100, 1000, 10000, 100000, 1000000}) {
          for (const int sms : {1, 16, 132, 200}) {
            const std::int64_t found =
                capi::demand_of_any_verb(rows * columns, columns, bytes, sms);
            for (const std::int64_t stride : {0, 1, 1000}) {
              for (const int blocks : {1, 2, 3, 8}) {
                ASSERT_GE(found, asked(columns, rows, width, bytes, stride, blocks * sms))
                    << columns << " columns of " << rows << " rows, items of " << bytes.item
                    << " bytes by " << width << ", accumulators of " << bytes.accumulator;
              }
            }
          }
        }
      }
    }
  }
}

// Means and places have accumulators of 16 bytes, and of 8 where the length is known.
TEST(Workspace, IsEnoughForKnownLengths) {
  for (const std::int64_t item : {2, 4}) {
    for (const int width : {1, 2, 4}) {
      for (std::int64_t columns = 4; columns < 200000; columns = columns / 4 * 6 + 4) {
        for (const std::int64_t rows : {1, 17, 1000, 100000}) {
          const std::int64_t found =
              capi::demand_of_any_verb(rows * columns, columns, {item, 16}, 132);
          for (const int blocks : {1, 2, 8}) {
            ASSERT_GE(found, asked(columns, rows, width, {item, 8}, 1, blocks * 132))
                << columns << " columns of " << rows << " rows, by " << width;
          }
          ASSERT_GE(found,
                    cuda_executor::equal_segments_workspace_bytes(columns, rows, item + 8, 8));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::capi
