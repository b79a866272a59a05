// SPDX-License-Identifier: Apache-2.0
//
// Reducers that answer a question about items, by name.
#pragma once

#include <concepts>

#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/custom.hpp>

#include "cases.hpp"

namespace tilefold::test {

/// Calls visit(name, reducer) for the reducers of one range of T that answer questions.
template <class T, class Visit>
void visit_questions(Visit visit) {
  visit("count", r::count{});
  visit("count_if", r::count_if{positive{}});
  visit("any", r::any{});
  visit("all", r::all{positive{}});
  visit("none", r::none{positive{}});
  visit("logical_xor", r::logical_xor{positive{}});
  visit("custom", r::make_reducer(lift_sign{}, join_runs{}, count_changes{}));
  if constexpr (std::integral<T>) {
    visit("bit_and", r::bit_and{});
    visit("bit_or", r::bit_or{});
    visit("bit_xor", r::bit_xor{});
  }
}

}  // namespace tilefold::test
