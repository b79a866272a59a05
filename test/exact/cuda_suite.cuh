// SPDX-License-Identifier: Apache-2.0
//
// What the suites of exact reducers on a GPU share: cuda_suite_of_sums.cuh, of_products and
// of_verbs, for each type in programs of its own: reducers against accumulators on the host, which
// others compare with MPFR. (cuda_policies.cuh has policies.)
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reducers/exact.hpp>

#include "exact_types.hpp"
#include "many_items.hpp"
#include "random_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::any_items;
using test::bytes_of;
using test::exact_dot_of;
using test::exact_result_of;
using test::exact_sum_of;
using test::forest_items;
using test::items_of;

/// A reducer whose result is a double. Of doubles it is the one that names no type, for nvcc would
/// compile the same kernels a second time for the other.
template <template <class> class Reducer, class T>
using with_double_result =
    std::conditional_t<std::is_same_v<T, double>, Reducer<void>, Reducer<double>>;

template <class T>
exact_accumulator<T> sum_of(const std::vector<T>& items, std::size_t begin, std::size_t end) {
  exact_accumulator<T> sum;
  for (std::size_t i = begin; i < end; ++i) sum.add(items[i]);
  return sum;
}

}  // namespace
}  // namespace tilefold
