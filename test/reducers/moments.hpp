// SPDX-License-Identifier: Apache-2.0
//
// Sums and moments, by name.
#pragma once

#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/moments.hpp>

#include "cases.hpp"

namespace tilefold::test {

/// Calls visit(name, reducer) for the reducers of one range of T that sum, and for moments.
template <class T, class Visit>
void visit_moments(Visit visit) {
  visit("sum", r::sum{});
  visit("product", r::product{});
  visit("mean", r::mean{});
  visit("variance", r::variance{});
  visit("standard_deviation", r::standard_deviation(divisor::population));
  visit("mean_variance", r::mean_variance{});
  visit("skewness", r::skewness{});
  visit("kurtosis", r::kurtosis{});
}

}  // namespace tilefold::test
