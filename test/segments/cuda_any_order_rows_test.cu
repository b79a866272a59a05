// SPDX-License-Identifier: Apache-2.0
//
// Long rows of reducers whose order does not matter, on a GPU: a block folds a row. Against loops
// on the host, where the same extreme stands more than once, with NaN, from any address.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/memory_resource.cuh"
#include "../support/random.hpp"
#include "../support/seed.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

struct shape {
  std::int64_t rows, length;
};

/// Rows by other kernels, by a block each and by several; lengths around a tile, two and many.
constexpr shape shapes[] = {{320, 8191},  {320, 16384},  {320, 16385},   {320, 32768},
                            {7, 16385},   {1000, 20001}, {1000, 40003},  {150, 65537},
                            {64, 131072}, {64, 131073},  {8, 1'000'003}, {1, 3'000'001}};

bool is_nan(double x) { return x != x; }

/// The first greatest item, or the first NaN; or the least.
template <class T>
std::int64_t place_of(const T* row, std::int64_t n, bool greatest) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    if (is_nan(row[best])) break;
    if (is_nan(row[i]) || (greatest ? row[best] < row[i] : row[i] < row[best])) best = i;
  }
  return best;
}

/// Few values, so that each row has its extremes more than once; where there are NaNs, in some
/// rows.
template <class T>
std::vector<T> items_of(std::int64_t n, bool with_nans, shape_stream& bits) {
  std::vector<T> items(static_cast<std::size_t>(n));
  for (T& x : items) x = static_cast<T>(bits.below(5000)) - T{2500};
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    if (with_nans) {
      for (int i = 0; i < 40; ++i) {
        items[static_cast<std::size_t>(bits.below(n))] = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
  return items;
}

/// The greatest of narrow items, the least of wide ones: one kernel of each type is enough.
template <class T>
inline constexpr bool is_greatest = sizeof(T) == 4;
template <class T>
using place_reducer = std::conditional_t<is_greatest<T>, r::arg_max<>, r::arg_min<>>;

template <class T>
class CudaAnyOrderRows : public testing::Test {};
using types = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaAnyOrderRows, types);

TYPED_TEST(CudaAnyOrderRows, PlacesOfExtremes) {
  using T = TypeParam;
  using place = r::indexed_value<T>;
  SCOPED_TRACE("TILEFOLD_TEST_SEED=" + std::to_string(seed()));
  shape_stream bits(seed());
  cuda_executor gpu;
  for (const auto& [rows, length] : shapes) {
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(length));
    const std::int64_t offset = bits.below(8);
    const auto items = items_of<T>(rows * length + offset, bits.one_in(2), bits);
    const gpu_array<T> x(items);
    const gpu_array<place> out(rows);
    segmented_reduce_into(gpu, x.data() + offset, rows, length, out.data(),
                          if_empty(place_reducer<T>{}, place{T{}, -1}));
    const auto got = out.to_host();
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* const row = items.data() + offset + i * length;
      const std::int64_t expected = place_of(row, length, is_greatest<T>);
      const place& found = got[static_cast<std::size_t>(i)];
      ASSERT_EQ(found.index, expected) << "row " << i;
      ASSERT_TRUE(found.value == row[expected] || is_nan(row[expected])) << "row " << i;
    }
  }
}

struct is_five {
  template <class T>
  __host__ __device__ bool operator()(const T& x) const {
    return x == T{5};
  }
};

// One item decides, wherever it stands, or none, or there are many, which are counted once each.
TYPED_TEST(CudaAnyOrderRows, AnyAndCount) {
  using T = TypeParam;
  SCOPED_TRACE("TILEFOLD_TEST_SEED=" + std::to_string(seed()));
  shape_stream bits(seed());
  cuda_executor gpu;
  for (const auto& [rows, length] : shapes) {
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(length));
    const std::int64_t offset = bits.below(8);
    std::vector<T> items(static_cast<std::size_t>(rows * length + offset), T{1});
    std::vector<std::int64_t> expected(static_cast<std::size_t>(rows), 0);
    for (std::int64_t i = 0; i < rows; i += 1 + bits.below(3)) {
      const std::int64_t where = bits.one_in(3)   ? length - 1
                                 : bits.one_in(2) ? 0
                                                  : bits.below(length);
      const std::int64_t many = bits.one_in(4) ? length / 3 : 1;
      for (std::int64_t k = 0; k < many; ++k) {
        items[static_cast<std::size_t>(offset + i * length + (where + k) % length)] = T{5};
      }
      expected[static_cast<std::size_t>(i)] = many;
    }
    const gpu_array<T> x(items);
    const gpu_array<bool> any(rows);
    const gpu_array<std::int64_t> count(rows);
    segmented_reduce_into(gpu, x.data() + offset, rows, length, any.data(), r::any{is_five{}});
    segmented_reduce_into(gpu, x.data() + offset, rows, length, count.data(),
                          r::count_if{is_five{}});
    std::vector<char> got_any(static_cast<std::size_t>(rows));
    must(cudaMemcpy(got_any.data(), any.data(), got_any.size(), cudaMemcpyDefault));
    const auto got_count = count.to_host();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(got_any[i] != 0, expected[i] != 0) << "row " << i;
      ASSERT_EQ(got_count[i], expected[i]) << "row " << i;
    }
  }
}

/// 24 bytes, whose tiles are small: a row of many has more tiles than a group of blocks.
struct three {
  double a, b, c;
};
struct is_odd {
  __host__ __device__ bool operator()(const three& x) const {
    return static_cast<std::int64_t>(x.b) % 2 != 0;
  }
};

TEST(CudaAnyOrderRowsOfStructs, TwoRowsOfManyBlocks) {
  const std::int64_t rows = 2, length = 2'300'000;
  shape_stream bits(seed());
  std::vector<three> items(static_cast<std::size_t>(rows * length));
  std::vector<std::int64_t> expected(2, 0);
  for (std::int64_t i = 0; i < rows * length; ++i) {
    const auto b = static_cast<double>(bits.below(1000));
    items[static_cast<std::size_t>(i)] = {0, b, 0};
    expected[static_cast<std::size_t>(i / length)] += is_odd{}(items[static_cast<std::size_t>(i)]);
  }
  const gpu_array<three> x(items);
  const gpu_array<std::int64_t> count(rows);
  const std::int64_t bytes = cuda_executor::equal_segments_workspace_bytes(
      rows, length, sizeof(three), sizeof(std::int64_t));
  const gpu_array<unsigned char> space(bytes);
  must(cudaMemset(space.data(), 0xcd, static_cast<std::size_t>(bytes)));
  tracking_resource memory;
  cuda_executor gpu(memory);
  gpu.use_workspace(space.data(), bytes);
  for (int round = 0; round < 3; ++round) {  // on the same workspace
    segmented_reduce_into(gpu, x.data(), rows, length, count.data(), r::count_if{is_odd{}});
    ASSERT_EQ(count.to_host(), expected) << "round " << round;
  }
  ASSERT_EQ(memory.allocations(), 0);
}

// For compute-sanitizer, at the ends of memory: a block a row, and several, which settle.
// (Of doubles, since a place of a float has bytes that nobody writes.)
TEST(CudaAnyOrderRowsOfDoubles, SanitizeRows) {
  cuda_executor gpu;
  for (const auto& [rows, length] : {shape{1500, 16385}, shape{16, 600001}}) {
    shape_stream bits(seed());
    const auto items = items_of<double>(rows * length + 1, false, bits);
    const gpu_array<double> x(items);
    const gpu_array<r::indexed_value<double>> out(rows);
    const gpu_array<bool> any(rows);
    segmented_reduce_into(gpu, x.data() + 1, rows, length, out.data(),
                          if_empty(r::arg_min{}, r::indexed_value<double>{0.0, -1}));
    segmented_reduce_into(gpu, x.data() + 1, rows, length, any.data(), r::any{is_five{}});
    const auto got = out.to_host();
    std::vector<char> got_any(static_cast<std::size_t>(rows));
    must(cudaMemcpy(got_any.data(), any.data(), got_any.size(), cudaMemcpyDefault));
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* const row = items.data() + 1 + i * length;
      ASSERT_EQ(got[static_cast<std::size_t>(i)].index, place_of(row, length, false));
      ASSERT_EQ(got_any[static_cast<std::size_t>(i)] != 0,
                std::find(row, row + length, 5.0) != row + length);
    }
  }
}

}  // namespace
}  // namespace tilefold::test
