// SPDX-License-Identifier: Apache-2.0
//
// Reducers of two ranges, by name.
#pragma once

#include <concepts>

#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>

#include "cases.hpp"

namespace tilefold::test {

/// Calls visit(name, reducer) for the reducers of two ranges of T.
template <class T, class Visit>
void visit_pair_reducers(Visit visit) {
  visit("covariance", r::covariance{});
  visit("correlation", r::correlation{});
  visit("weighted_mean", r::weighted_mean{});
  visit("dot", r::dot{});
  visit("cosine", r::cosine{});
  if constexpr (!std::integral<T>) visit("compensated_dot", r::compensated_dot{});
  visit("fuse of two ranges", r::fuse(r::count{}, r::covariance{}, r::dot{}));
}

}  // namespace tilefold::test
