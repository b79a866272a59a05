// SPDX-License-Identifier: Apache-2.0
//
// One test body for reducers on a GPU: the same bits as on the host, whose bits definition_test.cpp
// holds against the definition.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "cases.hpp"

namespace tilefold::test {

/// Every pattern at three sizes, and every size with mixed data: n, kind of data.
template <class T>
std::vector<std::pair<std::int64_t, pattern>> gpu_cases() {
  std::vector<std::pair<std::int64_t, pattern>> cases;
  for (const std::int64_t n : reducer_sizes()) {
    cases.emplace_back(n, layout_known<T> ? pattern::mixed : pattern::any_bits);
  }
  for (const pattern p : reducer_patterns<T>()) {
    for (const std::int64_t n : {3, 1000, 20011}) cases.emplace_back(n, p);
  }
  return cases;
}

/// reduce() with `reducer` on the GPU, at an aligned address and past it, and on the host.
template <class T, class R>
void expect_host_bits(cuda_executor& exec, const char* name, const R& reducer) {
  for (const auto& [n, p] : gpu_cases<T>()) {
    const auto x = make_items<T>(p, n, static_cast<std::uint64_t>(n) + 5);
    const auto expected = bits_of(tilefold::reduce(host_executor(), x, reducer));
    gpu_array<T> device(n + 1);
    for (const std::int64_t shift : {0, 1}) {
      device.assign(x.data(), n, shift);
      const T* first = device.data() + shift;
      ASSERT_EQ(bits_of(tilefold::reduce(exec, first, first + n, reducer)), expected)
          << name << ", " << name_of(p) << ", n = " << n << ", shift = " << shift;
    }
  }
}

/// The same over two ranges.
template <class T, class R>
void expect_host_bits_of_pairs(cuda_executor& exec, const char* name, const R& reducer) {
  for (const auto& [n, p] : gpu_cases<T>()) {
    const auto x = make_items<T>(p, n, static_cast<std::uint64_t>(n) + 5);
    const auto y = make_items<T>(pattern::mixed, n, static_cast<std::uint64_t>(n) + 6);
    const auto expected = bits_of(
        tilefold::transform_reduce(host_executor(), x.begin(), x.end(), y.begin(), reducer));
    const gpu_array<T> first(x);
    const gpu_array<T> second(y);
    ASSERT_EQ(bits_of(tilefold::transform_reduce(exec, first.begin(), first.end(), second.begin(),
                                                 reducer)),
              expected)
        << name << ", " << name_of(p) << ", n = " << n;
  }
}

template <class T>
struct check_on_gpu {
  cuda_executor& exec;
  template <class R>
  void operator()(const char* name, const R& reducer) const {
    if (!::testing::Test::HasFatalFailure()) expect_host_bits<T>(exec, name, reducer);
  }
};

template <class T>
struct check_pairs_on_gpu {
  cuda_executor& exec;
  template <class R>
  void operator()(const char* name, const R& reducer) const {
    if (!::testing::Test::HasFatalFailure()) expect_host_bits_of_pairs<T>(exec, name, reducer);
  }
};

}  // namespace tilefold::test
