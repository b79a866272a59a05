// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers on a GPU against committed results, which were made without the library; whole
// ranges, at every alignment that their places give them. Some reducers of one type to a program:
// nvcc takes its time for each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "exact_golden.hpp"

namespace tilefold::test {
namespace {

namespace r = reducers;

// Nobody waits for a result before all sets are under way: there are thousands.
template <class T, class Reduce>
std::vector<T> results_of(const std::vector<std::vector<T>>& sets, const Reduce& reduce_one_into) {
  std::vector<T> items;
  for (const auto& set : sets) items.insert(items.end(), set.begin(), set.end());
  const gpu_array<T> x(items);
  const gpu_array<T> reversed(std::vector<T>(items.rbegin(), items.rend()));
  gpu_array<T> results(sets.size());
  const T* first = x.data();
  const T* end_of_reversed = reversed.data() + items.size();
  T* out = results.data();
  for (const auto& set : sets) {
    const auto n = static_cast<std::ptrdiff_t>(set.size());
    end_of_reversed -= n;
    reduce_one_into(first, first + n, end_of_reversed, out);
    first += n;
    ++out;
  }
  return results.to_host();
}

template <class T>
void expect_committed_sums_and_means() {
  cuda_executor gpu;
  exact_golden::expect_all<T>(
      [&](const std::string& reducer, const std::vector<std::vector<T>>& sets) {
        return results_of(sets, [&](const T* first, const T* last, const T*, T* out) {
          if (reducer == "sum") return reduce_into(gpu, first, last, out, r::exact_sum{});
          reduce_into(gpu, first, last, out, r::exact_mean{});
        });
      },
      exact_golden::sums_and_means);
}

template <class T>
void expect_committed_products() {
  cuda_executor gpu;
  exact_golden::expect_all<T>(
      [&](const std::string& reducer, const std::vector<std::vector<T>>& sets) {
        return results_of(sets, [&](const T* first, const T* last, const T* reversed, T* out) {
          if (reducer == "sum_of_squares")
            return reduce_into(gpu, first, last, out, r::exact_sum_of_squares{});
          if (reducer == "l2") return reduce_into(gpu, first, last, out, r::exact_l2{});
          transform_reduce_into(gpu, first, last, reversed, out, r::exact_dot{});
        });
      },
      exact_golden::products);
}

/// Dot products that cancel almost everything.
template <class T>
void expect_committed_dots() {
  cuda_executor gpu;
  exact_golden::expect_dots<T>([&](const std::vector<T>& x, const std::vector<T>& y) {
    const gpu_array<T> dx(x), dy(y);
    const T* const first = dx.data();
    return transform_reduce(gpu, first, first + x.size(), dy.data(), r::exact_dot{});
  });
}

}  // namespace
}  // namespace tilefold::test
