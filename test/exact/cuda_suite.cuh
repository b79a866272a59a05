// SPDX-License-Identifier: Apache-2.0
//
// What the suites of exact reducers on a GPU share: cuda_suite_of_sums.cuh, of_products and
// of_verbs, for each type in programs of its own: reducers against accumulators on the host, which
// others compare with MPFR. (cuda_policies.cuh has policies.)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reducers/exact.hpp>

#include "exact_types.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::any_items;
using test::exact_dot_of;
using test::exact_result_of;
using test::exact_sum_of;
using test::forest_items;
using test::items_of;

template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

template <class T>
exact_accumulator<T> sum_of(const std::vector<T>& items, std::size_t begin, std::size_t end) {
  exact_accumulator<T> sum;
  for (std::size_t i = begin; i < end; ++i) sum.add(items[i]);
  return sum;
}

}  // namespace
}  // namespace tilefold
