// SPDX-License-Identifier: Apache-2.0
//
// What a caller's function computes before another of the caller's, on a GPU: rounded, not fused.
#include <cstdint>
#include <cstring>
#include <vector>

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/reference.hpp"
#include "support/device.cuh"
#include "support/items.hpp"
#include "support/oracle.hpp"

namespace tilefold::test {
namespace {

float sum(float a, float b) { return reference::plus()(a, b); }
float product(float a, float b) { return reference::multiplies()(a, b); }

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<float> random_items(std::int64_t n) {
  return make_items<float>(pattern::near_one, n, 7);
}

class CudaClosureOfFunctions : public ::testing::Test {
 protected:
  cuda_executor exec_;
};

struct square {
  TILEFOLD_HD float operator()(float x) const { return x * x; }
};
struct add_third {
  TILEFOLD_HD float operator()(float x) const { return x + 0.3f; }
};
struct add {
  TILEFOLD_HD float operator()(float a, float b) const { return a + b; }
};
struct same {
  TILEFOLD_HD float operator()(float x) const { return x; }
};
struct reaches {
  float least;
  TILEFOLD_HD bool operator()(float x) const { return x - least >= 0.0f; }
};

TEST_F(CudaClosureOfFunctions, OfWhatIsComputedToTheCallersFunctions) {
  for (const std::int64_t n : {1, 2, 5, 54, 1000, 30000, 1000003}) {
    const auto items = random_items(n);
    std::vector<float> squares, leaves;
    for (const float x : items) squares.push_back(product(x, x));
    for (const float x : squares) leaves.push_back(sum(x, 0.3f));
    const float expected = neighbour_tree(sum, leaves);
    const gpu_array<float> array(items);
    const auto first = thrust::make_transform_iterator(array.begin(), square());
    const auto lifts = reducers::make_reducer(add_third(), add(), same());
    EXPECT_TRUE(
        same_bits(transform_reduce(exec_, array.begin(), array.end(), lifts, square()), expected))
        << "n = " << n;
    EXPECT_TRUE(same_bits(tilefold::reduce(exec_, first, first + n, lifts), expected));
    EXPECT_TRUE(same_bits(transform_reduce(exec_, first, first + n, 0.5f, add(), add_third()),
                          sum(0.5f, expected)));
    // Predicates that the rounded product just satisfies, in reducers of ours.
    const float least = squares[static_cast<std::size_t>(n / 2)];
    std::int64_t count = 0;
    for (const float x : squares) count += x >= least ? 1 : 0;
    EXPECT_EQ(transform_reduce(exec_, array.begin(), array.end(),
                               reducers::count_if{reaches{least}}, square()),
              count);
  }
}

TEST_F(CudaClosureOfFunctions, OfTheProjectionToInitAndOutput) {
  const auto squares = reducers::make_reducer(same(), add(), square());
  for (const std::int64_t n : {1, 5, 1000, 1000003}) {
    const auto items = random_items(n);
    const float folded = sum(0.3f, neighbour_tree(sum, items));
    const gpu_array<float> array(items);
    gpu_array<float> out(1);
    reduce_into(exec_, array.begin(), array.end(),
                thrust::make_transform_output_iterator(out.data(), add_third()), 0.3f, squares);
    exec_.synchronize();
    EXPECT_TRUE(same_bits(out.to_host()[0], sum(product(folded, folded), 0.3f))) << "n = " << n;
  }
}

// Whether b is no more than a little greater than a.
struct close_by {
  TILEFOLD_HD bool operator()(float a, float b) const { return b - a <= 0.0f; }
};

TEST_F(CudaClosureOfFunctions, OfComputedKeys) {
  for (const std::int64_t n : {100, 100000}) {
    auto items = random_items(n);
    // Neighbours with the same key, which must count as the same: b - a is 0 if both are rounded.
    for (std::int64_t i = 0; i + 1 < n; i += 2) items[i + 1] = items[i];
    std::int64_t runs = 1;
    for (std::int64_t i = 1; i < n; ++i) {
      if (product(items[i], items[i]) > product(items[i - 1], items[i - 1])) ++runs;
    }
    const gpu_array<float> array(items);
    const auto keys = thrust::make_transform_iterator(array.begin(), square());
    gpu_array<float> keys_out(n), values_out(n);
    EXPECT_EQ(reduce_by_key(exec_, keys, keys + n, array.begin(),
                            thrust::make_transform_output_iterator(keys_out.data(), add_third()),
                            values_out.data(), close_by(), plus()),
              runs);
    EXPECT_TRUE(same_bits(keys_out.to_host()[0], sum(product(items[0], items[0]), 0.3f)));
  }
}

}  // namespace
}  // namespace tilefold::test
