// SPDX-License-Identifier: Apache-2.0
//
// nvcc makes one rounding of a product and the sum that takes it where it sees both. It must not
// across the border between the caller's code and the library's, whichever kernel folds and
// whatever its tile. No function here multiplies and adds, so that every bit is the oracle's, whose
// operations go through memory one at a time.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/segmented_reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/reference.hpp"
#include "support/device.cuh"
#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

float sum(float a, float b) { return reference::plus()(a, b); }
float product(float a, float b) { return reference::multiplies()(a, b); }

template <class T>
std::uint32_t differing(const std::vector<T>& got, const std::vector<T>& expected) {
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0) ++wrong;
  }
  return wrong;
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<float> random_items(std::int64_t n) {
  return make_items<float>(pattern::near_one, n, 7);
}

// ---- an operator that passes one number on and adds it one node later

struct two {
  float u, v;
};
struct pass_on {
  TILEFOLD_HD two operator()(const two& a, const two& b) const { return {b.u, (a.v + b.v) + a.u}; }
};
struct scale {
  TILEFOLD_HD two operator()(float x) const { return {x * 3.3f, 0.0f}; }
};
// An initial value that changes nothing: the numbers' sum is not -0.
constexpr two nothing{0.0f, 0.0f};
two expected_pass_on(const float* items, std::int64_t n) {
  std::vector<two> leaves;
  for (std::int64_t i = 0; i < n; ++i) leaves.push_back({product(items[i], 3.3f), 0.0f});
  return neighbour_tree(
      [](const two& a, const two& b) { return two{b.u, sum(sum(a.v, b.v), a.u)}; }, leaves);
}

class CudaClosure : public ::testing::Test {
 protected:
  // The fold of rows of `length` items by reduce_rows(first item of all, number of rows, out).
  template <class ReduceRows>
  void expect_rows(std::int64_t rows, std::int64_t length, const ReduceRows& reduce_rows) {
    const auto items = random_items(rows * length);
    const gpu_array<float> array(items);
    gpu_array<two> out(rows);
    reduce_rows(array.data(), out.data());
    exec_.synchronize();
    std::vector<two> expected;
    for (std::int64_t i = 0; i < rows; ++i) {
      expected.push_back(expected_pass_on(items.data() + i * length, length));
    }
    EXPECT_EQ(differing(out.to_host(), expected), 0u)
        << "of " << rows << " rows of " << length << " items";
  }

  template <class Executor>
  void expect_one(Executor&& exec, std::int64_t n) {
    const auto items = random_items(n);
    const gpu_array<float> array(items);
    const two got = transform_reduce(exec, array.begin(), array.end(), nothing, pass_on(), scale());
    const two expected = expected_pass_on(items.data(), n);
    EXPECT_EQ(std::memcmp(&got, &expected, sizeof(two)), 0) << "n = " << n;
  }

  cuda_executor exec_;
};

TEST_F(CudaClosure, OfWhatAnOperatorPassesOnUnderAnyPolicy) {
  for (const std::int64_t n :
       {1, 2, 3, 5, 8, 33, 100, 1000, 1025, 5000, 65537, 100003, 1000003, 3000001}) {
    expect_one(exec_, n);
    expect_one(with_policy<tile_policy{32, 1}>(exec_), n);
    expect_one(with_policy<tile_policy{128, 16}>(exec_), n);
  }
}

TEST_F(CudaClosure, OfRowsInEveryKernelForThem) {
  // By length and number: level, dealt, trees by warps, few, and long ones.
  struct shape {
    std::int64_t rows, length;
  };
  for (const auto& [rows, length] :
       {shape{5000, 8}, shape{700, 64}, shape{5000, 13}, shape{700, 100}, shape{600, 1500},
        shape{5, 100}, shape{3, 100003}, shape{700, 5000}}) {
    expect_rows(rows, length, [&](const float* items, two* out) {
      segmented_reduce_into(exec_, thrust::make_transform_iterator(items, scale()), rows, length,
                            out, nothing, pass_on());
    });
    std::vector<std::int64_t> offsets;
    for (std::int64_t i = 0; i <= rows; ++i) offsets.push_back(i * length);
    const gpu_array<std::int64_t> device_offsets(offsets);
    expect_rows(rows, length, [&](const float* items, two* out) {
      segmented_reduce_into(exec_, thrust::make_transform_iterator(items, scale()),
                            device_offsets.data(), device_offsets.data() + 1, rows, out, nothing,
                            pass_on());
    });
  }
}

TEST_F(CudaClosure, OfRuns) {
  for (const std::int64_t length : {1, 7, 40, 5000}) {
    const std::int64_t rows = length < 1000 ? 3000 : 30;
    std::vector<int> keys;
    for (std::int64_t i = 0; i < rows * length; ++i) keys.push_back(static_cast<int>(i / length));
    const gpu_array<int> device_keys(keys);
    gpu_array<int> keys_out(rows);
    expect_rows(rows, length, [&](const float* items, two* out) {
      EXPECT_EQ(reduce_by_key(exec_, device_keys.begin(), device_keys.end(),
                              thrust::make_transform_iterator(items, scale()), keys_out.data(), out,
                              pass_on()),
                rows);
    });
  }
}

// ---- columns: their items lie in memory, and the operator itself multiplies what it passes on

struct three {
  float u, v, w;
};
struct multiply_and_pass_on {
  TILEFOLD_HD three operator()(const three& a, const three& b) const {
    return {b.v, b.u * 1.1f, (a.w + b.w) + a.u};
  }
};

TEST_F(CudaClosure, OfColumns) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{37, 200}, {5000, 40}}) {
    const auto numbers = random_items(3 * rows * columns);
    std::vector<three> items(static_cast<std::size_t>(rows * columns));
    std::memcpy(items.data(), numbers.data(), items.size() * sizeof(three));
    std::vector<three> expected;
    for (std::int64_t c = 0; c < columns; ++c) {
      std::vector<three> leaves;
      for (std::int64_t r = 0; r < rows; ++r) leaves.push_back(items[r * columns + c]);
      expected.push_back(neighbour_tree(
          [](const three& a, const three& b) {
            return three{b.v, product(b.u, 1.1f), sum(sum(a.w, b.w), a.u)};
          },
          leaves));
    }
    const gpu_array<three> array(items);
    gpu_array<three> out(columns);
    axis_reduce(exec_,
                test_view{static_cast<const three*>(array.data()), right_layout({rows, columns})},
                test_view{out.data(), right_layout({columns})}, 0, multiply_and_pass_on());
    EXPECT_EQ(differing(out.to_host(), expected), 0u) << rows << " rows";
  }
}

// ---- folds in a kernel of the caller's

struct square {
  TILEFOLD_HD float operator()(float x) const { return x * x; }
};
struct add_third {
  TILEFOLD_HD float operator()(float x) const { return x + 0.3f; }
};
struct add {
  TILEFOLD_HD float operator()(float a, float b) const { return a + b; }
};

__global__ void fold_in_kernel(const float* items, int n, two* passed_on, float* projected) {
  __shared__ block_storage<128, two> pairs;
  __shared__ block_storage<128, float> numbers;
  const int i = static_cast<int>(threadIdx.x);
  const float x = i < n ? items[i] : 0.0f;
  const two pair = block_fold<128>(pairs, scale()(x), n, pass_on());
  const auto reducer = detail::custom_reducer<add_third, add, square>{};
  const float result = block_fold<128>(numbers, square()(x), n, reducer);
  if (i == 0) {
    *passed_on = pair;
    *projected = result + 0.3f;
  }
}

TEST_F(CudaClosure, OfFoldsInAKernel) {
  for (const int n : {1, 2, 31, 33, 100, 128}) {
    const auto items = random_items(n);
    const gpu_array<float> array(items);
    gpu_array<two> passed_on(1);
    gpu_array<float> projected(1);
    fold_in_kernel<<<1, 128>>>(array.data(), n, passed_on.data(), projected.data());
    must(cudaDeviceSynchronize());
    EXPECT_EQ(differing(passed_on.to_host(), {expected_pass_on(items.data(), n)}), 0u) << n;
    std::vector<float> leaves;
    for (const float x : items) leaves.push_back(sum(product(x, x), 0.3f));
    const float folded = neighbour_tree(sum, leaves);
    EXPECT_TRUE(same_bits(projected.to_host()[0], sum(product(folded, folded), 0.3f))) << n;
  }
}

}  // namespace
}  // namespace tilefold::test
