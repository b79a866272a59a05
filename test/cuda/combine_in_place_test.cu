// SPDX-License-Identifier: Apache-2.0
//
// A combine that changes a copy of an operand while it reads both, over long and short ranges and
// columns: the host's bits.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cuda/std/mdspan>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "combine_in_place.cuh"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

TYPED_TEST_SUITE(CudaCombineInPlace, reducers_that_copy);

TYPED_TEST(CudaCombineInPlace, Ranges) {
  cuda_executor exec;
  for (const std::int64_t n : {1, 2, 33, 1000, 70000, 3000001}) {
    const auto x = items(n);
    const gpu_array<std::uint32_t> device(x);
    EXPECT_EQ(bytes_of(tilefold::reduce(exec, device.begin(), device.end(), TypeParam{})),
              bytes_of(tilefold::reduce(x, TypeParam{})))
        << "n = " << n;
  }
}

TYPED_TEST(CudaCombineInPlace, Columns) {
  cuda_executor exec;
  constexpr std::int64_t rows = 3001;
  constexpr std::int64_t width = 70;
  const auto x = items(rows * width);
  const gpu_array<std::uint32_t> device(x);
  gpu_array<mixed_four> out(width);
  using matrix = cuda::std::mdspan<const std::uint32_t, cuda::std::dextents<std::int64_t, 2>>;
  using vector = cuda::std::mdspan<mixed_four, cuda::std::dextents<std::int64_t, 1>>;
  std::vector<mixed_four> expected(width);
  for (std::int64_t c = 0; c < width; ++c) {
    std::vector<std::uint32_t> column;
    for (std::int64_t r = 0; r < rows; ++r) {
      column.push_back(x[static_cast<std::size_t>(r * width + c)]);
    }
    expected[static_cast<std::size_t>(c)] = tilefold::reduce(column, TypeParam{});
  }
  tilefold::axis_reduce(exec, matrix(device.data(), rows, width), vector(out.data(), width), 0,
                        TypeParam{});
  exec.synchronize();
  EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
}

}  // namespace
}  // namespace tilefold::test
