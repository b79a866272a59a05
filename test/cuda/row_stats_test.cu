// SPDX-License-Identifier: Apache-2.0
//
// The worked example examples/row_stats.hpp on a GPU: the bits of the host, in batches of every
// kind. (row_stats_test.cpp holds those against long double.)
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>

#include "../examples/row_stats.hpp"
#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

template <class T>
void rows_of(pattern p, std::int64_t rows, std::int64_t width) {
  const auto items = make_items<T>(p, rows * width, seed());
  std::vector<row_stats::row> expected(static_cast<std::size_t>(rows));
  row_stats::of_rows(host_executor(), items.data(), rows, width, expected.data());
  const gpu_array<T> matrix(items);
  gpu_array<row_stats::row> out(rows);
  cuda_executor exec;
  row_stats::of_rows(exec, static_cast<const T*>(matrix.data()), rows, width, out.data());
  exec.synchronize();
  const auto got = out.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof got[i]), 0)
        << "row " << i << " of " << rows << ", " << width << " wide: " << got[i].sum_of_squares
        << " " << got[i].max << " " << got[i].sum_of_exp;
  }
}

TEST(CudaRowStats, OfFloats) {
  rows_of<float>(pattern::near_one, 1, 5000);
  rows_of<float>(pattern::mixed, 1000, 33);
  rows_of<float>(pattern::near_one, 5000, 100);
}

TEST(CudaRowStats, OfHalves) {
  rows_of<half>(pattern::near_one, 3, 16384);
  rows_of<half>(pattern::mixed, 64, 4096);
  rows_of<half>(pattern::near_one, 5000, 101);
}

}  // namespace
}  // namespace tilefold::test
