// SPDX-License-Identifier: Apache-2.0
//
// Norms and means of other kinds, by name.
#pragma once

#include <concepts>

#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/norms.hpp>

#include "cases.hpp"

namespace tilefold::test {

/// Calls visit(name, reducer) for the reducers of one range of T that are norms or means.
template <class T, class Visit>
void visit_norms(Visit visit) {
  visit("l1", r::l1{});
  visit("l2", r::l2{});
  visit("linf", r::linf{});
  visit("rms", r::rms{});
  visit("logsumexp", r::logsumexp{});
  visit("softmax_pair", r::softmax_pair{});
  visit("geometric_mean", r::geometric_mean{});
  visit("harmonic_mean", r::harmonic_mean{});
  if constexpr (!std::integral<T>) visit("compensated_sum", r::compensated_sum{});
}

}  // namespace tilefold::test
