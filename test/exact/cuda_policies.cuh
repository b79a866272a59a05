// SPDX-License-Identifier: Apache-2.0
//
// Exact sums on a GPU under tile policies of the caller's: the bits are those of the default. Sums
// of floats have kernels that take none; integers, complex numbers and fused ones obey.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "exact_types.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::exact_result_of;
using test::exact_sum_of;

constexpr std::size_t num_items = 60000;

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

template <class T>
class CudaExactPolicies : public testing::Test {
 protected:
  using result = exact_result_of<T>;

  exact_accumulator<T> sum_of(std::size_t begin, std::size_t end) const {
    exact_accumulator<T> sum;
    for (std::size_t i = begin; i < end; ++i) sum.add(items_[i]);
    return sum;
  }

  void expect_sums(const char* what) const {
    const auto got = out_.to_host();
    for (std::size_t s = 0; s + 1 < bounds_.size(); ++s) {
      ASSERT_EQ(bytes_of(got[s]), bytes_of(sum_of(static_cast<std::size_t>(bounds_[s]),
                                                  static_cast<std::size_t>(bounds_[s + 1]))
                                               .template value<exact_result_of<T>>()))
          << what << ", " << s;
    }
  }

  template <tile_policy Policy>
  void expect_host_bits() {
    SCOPED_TRACE(std::to_string(Policy.nt) + " threads, " + std::to_string(Policy.vt) + " items");
    const auto exec = with_policy<Policy>(gpu_);
    const T* const first = x_.data();
    for (const std::size_t n : {std::size_t{1}, std::size_t{777}, std::size_t{9000}, num_items}) {
      const auto expected = sum_of(0, n);
      const auto count = static_cast<std::int64_t>(n);
      EXPECT_EQ(bytes_of(reduce(exec, first, first + n, exact_sum_of<T>{})),
                bytes_of(expected.template value<exact_result_of<T>>()))
          << n;
      EXPECT_EQ(bytes_of(reduce(exec, first, first + n, r::exact_mean<double>{})),
                bytes_of(expected.template mean<double>(count)))
          << n;
    }
    segmented_reduce_into(exec, first, offsets_.data(),
                          static_cast<std::int64_t>(bounds_.size()) - 1, out_.data(),
                          exact_sum_of<T>{});
    expect_sums("by offsets");
  }

  // Apart from the others: with 32 threads each of these compiles for long.
  template <tile_policy Policy>
  void expect_host_bits_by_key() {
    SCOPED_TRACE(std::to_string(Policy.nt) + " threads, " + std::to_string(Policy.vt) + " items");
    const auto exec = with_policy<Policy>(gpu_);
    const T* const first = x_.data();
    ASSERT_EQ(reduce_by_key(exec, keys_.data(), keys_.data() + num_items, first, keys_out_.data(),
                            out_.data(), exact_sum_of<T>{}),
              static_cast<std::int64_t>(bounds_.size()) - 1);
    expect_sums("by key");
  }

  template <tile_policy Policy>
  void expect_fused_host_bits() {
    SCOPED_TRACE(std::to_string(Policy.nt) + " threads, " + std::to_string(Policy.vt) + " items");
    const auto exec = with_policy<Policy>(gpu_);
    const T* const first = x_.data();
    for (const std::size_t n : {std::size_t{1}, std::size_t{777}, std::size_t{9000}, num_items}) {
      const auto expected = sum_of(0, n);
      const auto count = static_cast<std::int64_t>(n);
      const auto both = reduce(exec, first, first + n, r::fuse(exact_sum_of<T>{}, r::count{}));
      EXPECT_EQ(bytes_of(both.template get<0>()),
                bytes_of(expected.template value<exact_result_of<T>>()))
          << n;
      EXPECT_EQ(both.template get<1>(), count) << n;
    }
  }

  void SetUp() override {
    std::mt19937_64 random(test::seed());
    items_ = test::any_items<T>(test::num_exact_kinds, num_items, random);
    x_ = test::gpu_array<T>(items_);
    bounds_ = {0};
    while (bounds_.back() < static_cast<int>(num_items)) {
      const int length = 1 + static_cast<int>(random() % (random() % 16 == 0 ? 20000 : 60));
      bounds_.push_back(std::min(static_cast<int>(num_items), bounds_.back() + length));
    }
    offsets_ = test::gpu_array<int>(bounds_);
    std::vector<int> keys(num_items);
    for (std::size_t s = 0; s + 1 < bounds_.size(); ++s) {
      std::fill(keys.begin() + bounds_[s], keys.begin() + bounds_[s + 1], static_cast<int>(s));
    }
    keys_ = test::gpu_array<int>(keys);
  }

 private:
  cuda_executor gpu_;
  std::vector<T> items_;
  std::vector<int> bounds_;
  test::gpu_array<T> x_;
  test::gpu_array<int> offsets_, keys_, keys_out_{num_items};
  test::gpu_array<result> out_{num_items};
};

}  // namespace
}  // namespace tilefold
