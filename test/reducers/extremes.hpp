// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select items, by name.
#pragma once

#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "cases.hpp"

namespace tilefold::test {

/// Calls visit(name, reducer) for the reducers of one range of T that select items.
template <class T, class Visit>
void visit_extremes(Visit visit) {
  constexpr auto ignore = nan_rule::ignore;
  visit("min", r::min{});
  visit("max ignoring NaN", r::max<ignore>{});
  visit("minmax", r::minmax{});
  visit("minmax ignoring NaN", r::minmax<ignore>{});
  visit("arg_min", r::arg_min{});
  visit("arg_min ignoring NaN", r::arg_min<ignore>{});
  visit("arg_max", r::arg_max{});
  visit("arg_max ignoring NaN", r::arg_max<ignore>{});
  visit("arg_minmax", r::arg_minmax{});
  visit("arg_min_by", r::arg_min_by{distance_from_two{}, farther{}});
  visit("first", r::first{});
  visit("last", r::last{});
  visit("top_k", r::top_k<3>{});
  visit("bottom_k ignoring NaN", r::bottom_k<8, ignore>{});
}

}  // namespace tilefold::test
