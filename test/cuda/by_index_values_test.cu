// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_index on a GPU, of other operators, reducers and values: the bits of reduce() on the
// host over the items of each result.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <thrust/iterator/transform_iterator.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_index.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/moments.hpp>

#include "support/device.cuh"
#include "support/indexed.hpp"
#include "support/items.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

class CudaByIndexValues : public ::testing::Test {
 protected:
  static constexpr std::int64_t n = 60000;
  static constexpr std::int64_t num_results = 1500;

  /// Whether each result has the bits of reduce() on the host over its items.
  template <class Result, class T, class... Op>
  void same_as_reduce(const std::vector<T>& items, const Op&... op) {
    // Few results are folded in one launch.
    for (const std::int64_t results : {std::int64_t{60}, num_results}) {
      for (const index_shape shape : {index_shape::uniform, index_shape::power_law,
                                      index_shape::one, index_shape::outside, index_shape::rare}) {
        SCOPED_TRACE(name_of(shape) + (" of " + std::to_string(results)));
        same_as_reduce_of<Result>(items, shape, results, op...);
      }
    }
  }

  template <class Result, class T, class... Op>
  void same_as_reduce_of(const std::vector<T>& items, index_shape shape, std::int64_t results,
                         const Op&... op) {
    const gpu_array<T> device_items(items);
    const auto indices = indices_of<int>(shape, n, results, seed());
    const gpu_array<int> device_indices(indices);
    gpu_array<Result> out(results);
    reduce_by_index(exec_, device_indices.data(), device_indices.data() + n, device_items.data(),
                    results, out.data(), op...);
    const auto got = out.to_host();
    const auto positions = positions_by_index(indices, results);
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::vector<T> mine;
      for (const std::int64_t j : positions[i]) {
        mine.push_back(items[static_cast<std::size_t>(j)]);
      }
      const Result expected = reduce(host_, mine.begin(), mine.end(), op...);
      ASSERT_TRUE(same_bits(got[i], expected)) << "result " << i << " of " << mine.size();
    }
  }

  template <class T, class... Op>
  void every_pattern(const Op&... op) {
    for (const pattern p : {pattern::mixed, pattern::many_nans, pattern::zeros, pattern::subnormals,
                            pattern::both_infinities}) {
      SCOPED_TRACE(name_of(p));
      same_as_reduce<T>(make_items<T>(p, n, seed()), op...);
    }
  }

  cuda_executor exec_;
  host_executor host_;
};

TEST_F(CudaByIndexValues, SanitizeSums) {
  same_as_reduce<float>(make_items<float>(pattern::mixed, n, seed()));
}

TEST_F(CudaByIndexValues, SumsOfFloats) {
  every_pattern<float>();
  every_pattern<double>();
}

TEST_F(CudaByIndexValues, SumsOfFloatsFromAnInitialValue) { every_pattern<float>(3.0f); }

TEST_F(CudaByIndexValues, Minima) { every_pattern<float>(minimum{}); }

TEST_F(CudaByIndexValues, ExactSums) {
  every_pattern<float>(r::exact_sum{});
  every_pattern<double>(r::exact_sum{});
}

TEST_F(CudaByIndexValues, Statistics) {
  const auto items = mixed_floats(n, seed());
  same_as_reduce<double>(items, if_empty(r::variance{}, -1.0));
}

TEST_F(CudaByIndexValues, IndicesOfAReducerArePositionsInTheInput) {
  const auto items = mixed_floats(n, seed());
  const gpu_array<float> device_items(items);
  for (const index_shape shape :
       {index_shape::uniform, index_shape::power_law, index_shape::one, index_shape::outside}) {
    SCOPED_TRACE(name_of(shape));
    const auto indices = indices_of<int>(shape, n, num_results, seed());
    const gpu_array<int> device_indices(indices);
    gpu_array<r::indexed_value<float>> out(num_results);
    reduce_by_index(exec_, device_indices.data(), device_indices.data() + n, device_items.data(),
                    num_results, out.data(),
                    if_empty(r::arg_max{}, r::indexed_value<float>{0, -1}));
    const auto got = out.to_host();
    const auto positions = positions_by_index(indices, num_results);
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::int64_t expected = -1;
      for (const std::int64_t j : positions[i]) {
        if (expected < 0 ||
            items[static_cast<std::size_t>(j)] > items[static_cast<std::size_t>(expected)]) {
          expected = j;
        }
      }
      ASSERT_EQ(got[i].index, expected) << i;
      ASSERT_EQ(got[i].value, expected < 0 ? 0 : items[static_cast<std::size_t>(expected)]) << i;
    }
  }
}

/// values[rows[j]]; nothing stands at a row of -1.
struct looked_up {
  using value_type = float;
  using difference_type = std::int64_t;
  using reference = float;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  const float* values;
  const std::int64_t* rows;

  TILEFOLD_HD float operator*() const { return values[*rows]; }
  TILEFOLD_HD float operator[](std::int64_t j) const { return values[rows[j]]; }
  [[maybe_unused]] TILEFOLD_HD friend looked_up operator+(const looked_up& it, std::int64_t n) {
    return {it.values, it.rows + n};
  }
  [[maybe_unused]] TILEFOLD_HD friend std::int64_t operator-(const looked_up& a,
                                                             const looked_up& b) {
    return a.rows - b.rows;
  }
};

// Rows that are left out have no value: -2^40 is no address.
TEST_F(CudaByIndexValues, ItemsThatAreLeftOutAreNotRead) {
  const auto items = mixed_floats(n, seed());
  auto indices = indices_of<int>(index_shape::uniform, n, num_results, seed());
  std::vector<std::int64_t> rows;
  std::vector<float> values;
  for (std::int64_t j = 0; j < n; ++j) {
    rows.push_back(j % 3 == 0 ? -(std::int64_t{1} << 40) : n - 1 - j);
    if (j % 3 == 0) indices[static_cast<std::size_t>(j)] = -1;
    values.push_back(j % 3 == 0 ? 0 : items[static_cast<std::size_t>(n - 1 - j)]);
  }
  const gpu_array<float> device_items(items), device_values(values);
  const gpu_array<int> device_indices(indices);
  const gpu_array<std::int64_t> device_rows(rows);
  gpu_array<float> out(num_results), expected(num_results);
  reduce_by_index(exec_, device_indices.data(), device_indices.data() + n,
                  looked_up{device_items.data(), device_rows.data()}, num_results, out.data());
  reduce_by_index(exec_, device_indices.data(), device_indices.data() + n, device_values.data(),
                  num_results, expected.data());
  const auto got = out.to_host(), wanted = expected.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(same_bits(got[i], wanted[i])) << i;
}

struct square {
  TILEFOLD_HD float operator()(float x) const { return x * x; }
};

// Items that are computed: their products must not be fused with the sums.
TEST_F(CudaByIndexValues, ItemsOfAnAdaptor) {
  const auto items = mixed_floats(n, seed());
  std::vector<float> squares;
  for (const float x : items) squares.push_back(square{}(x));
  const auto indices = indices_of<int>(index_shape::power_law, n, num_results, seed());
  const gpu_array<float> device_items(items), device_squares(squares);
  const gpu_array<int> device_indices(indices);
  gpu_array<float> out(num_results), expected(num_results);
  reduce_by_index(exec_, device_indices.data(), device_indices.data() + n,
                  thrust::make_transform_iterator(device_items.data(), square{}), num_results,
                  out.data());
  reduce_by_index(exec_, device_indices.data(), device_indices.data() + n, device_squares.data(),
                  num_results, expected.data());
  EXPECT_EQ(out.to_host(), expected.to_host());
}

}  // namespace
}  // namespace tilefold::test
