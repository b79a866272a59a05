// SPDX-License-Identifier: Apache-2.0
//
// The kernels of docs/kernels.md, as they stand there, and that they give what reduce() gives.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/device.cuh"

namespace {

// ---- docs/kernels.md: a row of at most 32 numbers to a warp

__global__ void row_sums(const float* matrix, int rows, int columns, float* sums) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int column = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp
  const float x = column < columns ? matrix[row * columns + column] : 0;
  const float sum = tilefold::warp_fold(x, columns, tilefold::plus{});
  if (column == 0) sums[row] = sum;
}

// ---- docs/kernels.md: a tile to a block

__global__ void tile_sums(const float* items, int n, float* sums) {
  __shared__ tilefold::block_storage<256, float> storage;
  constexpr int tile = 256 * 4;
  const int first = blockIdx.x * tile;
  const int count = min(n - first, tile);
  float mine[4];  // neighbours: items 4 t, ..., 4 t + 3 of the tile
  for (int j = 0; j < 4; ++j) {
    const int i = threadIdx.x * 4 + j;
    if (i < count) mine[j] = items[first + i];
  }
  const float sum = tilefold::block_fold(storage, mine, count, tilefold::plus{});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// ---- docs/kernels.md: three sums at once

__global__ void centroid(const float3* points, float* sums) {
  __shared__ tilefold::block_storage<128, float, 3> storage;
  const float3 p = points[threadIdx.x];
  const float xyz[3] = {p.x, p.y, p.z};
  const float sum = tilefold::block_fold_each(storage, xyz, tilefold::plus{});
  if (threadIdx.x < 3) sums[threadIdx.x] = sum / 128;
}

// ---- docs/kernels.md: reducers

__global__ void row_statistics(const float* rows, int columns, double* means, float* largest) {
  namespace r = tilefold::reducers;
  const auto statistics = r::fuse(r::mean{}, r::max{});
  __shared__ tilefold::block_storage<128, tilefold::accumulated_t<float, decltype(statistics)>>
      storage;
  const int column = threadIdx.x;
  const float x = column < columns ? rows[blockIdx.x * columns + column] : 0;
  const auto [mean, most] = tilefold::block_fold(storage, x, columns, statistics);
  if (column == 0) means[blockIdx.x] = mean;
  if (column == 0) largest[blockIdx.x] = most;
}

}  // namespace

namespace tilefold::test {
namespace {

std::vector<float> waves(int n) {
  std::vector<float> items;
  for (int i = 0; i < n; ++i) items.push_back(std::ldexp(std::sin(1.0f + i), i % 17));
  return items;
}

void expect_bits(float got, float expected) {
  EXPECT_EQ(std::memcmp(&got, &expected, sizeof got), 0) << got << " is not " << expected;
}

TEST(KernelsExample, RowSumsAreThoseOfReduce) {
  constexpr int rows = 37;
  constexpr int columns = 19;
  const auto matrix = waves(rows * columns);
  const gpu_array<float> device_matrix(matrix);
  gpu_array<float> sums(rows);
  row_sums<<<(rows + 3) / 4, 128>>>(device_matrix.data(), rows, columns, sums.data());
  must(cudaGetLastError());
  const auto got = sums.to_host();
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = matrix.data() + r * columns;
    expect_bits(got[r], reduce(host_executor(), row, row + columns));
  }
}

TEST(KernelsExample, TileSumsFoldToReduce) {
  for (const int n : {1, 1023, 1024, 5000, 12'345}) {
    const auto items = waves(n);
    const gpu_array<float> device_items(items);
    gpu_array<float> sums((n + 1023) / 1024);
    tile_sums<<<static_cast<unsigned>(sums.size()), 256>>>(device_items.data(), n, sums.data());
    must(cudaGetLastError());
    // Tiles are aligned blocks, so the fold of their values is that of the items.
    expect_bits(reduce(host_executor(), sums.to_host()), reduce(host_executor(), items));
  }
}

TEST(KernelsExample, CentroidsAreThoseOfReduce) {
  const auto numbers = waves(3 * 128);
  const gpu_array<float> device_numbers(numbers);
  gpu_array<float> sums(3);
  centroid<<<1, 128>>>(reinterpret_cast<const float3*>(device_numbers.data()), sums.data());
  must(cudaGetLastError());
  const auto got = sums.to_host();
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<float> axis;
    for (std::size_t i = 0; i < 128; ++i) axis.push_back(numbers[3 * i + k]);
    expect_bits(got[k], reduce(host_executor(), axis) / 128);
  }
}

TEST(KernelsExample, RowStatisticsAreThoseOfReduce) {
  constexpr int rows = 5;
  constexpr int columns = 101;
  const auto matrix = waves(rows * columns);
  const gpu_array<float> device_matrix(matrix);
  gpu_array<double> means(rows);
  gpu_array<float> largest(rows);
  row_statistics<<<rows, 128>>>(device_matrix.data(), columns, means.data(), largest.data());
  must(cudaGetLastError());
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = matrix.data() + r * columns;
    EXPECT_EQ(means.to_host()[r], reduce(row, row + columns, reducers::mean{}));
    expect_bits(largest.to_host()[r], reduce(host_executor(), row, row + columns, maximum{}));
  }
}

}  // namespace
}  // namespace tilefold::test
