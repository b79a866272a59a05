// SPDX-License-Identifier: Apache-2.0
//
// A reducer made of three functions of the user's.
#pragma once

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::detail {

template <class Lift, class Combine, class Project>
struct custom_reducer {
  using reducer_concept = reducer_tag;

  Lift lift_function;
  Combine combine_function;
  Project project_function;

  TILEFOLD_NO_EXEC_CHECK
  template <class... Values>
    requires function_on<Lift, Values...>
  TILEFOLD_HD auto lift(const Values&... values) const {
    return lift_function(values...);
  }
  TILEFOLD_NO_EXEC_CHECK
  template <class Acc>
    requires function_on<Combine, Acc, Acc>
  TILEFOLD_HD auto combine(const Acc& a, const Acc& b) const {
    return combine_function(a, b);
  }
  TILEFOLD_NO_EXEC_CHECK
  template <class Acc>
    requires function_on<Project, Acc>
  TILEFOLD_HD auto project(const Acc& value) const {
    return project_function(value);
  }
};

template <class Lift, class Combine, class Project>
struct functions_of<custom_reducer<Lift, Combine, Project>> {
  template <class... Values>
  static constexpr bool fit() {
    if constexpr (!detail::is_const<Lift, Values...>()) {
      return false;
    } else if constexpr (function_on<Lift, Values...>) {
      using accumulator = call_result_t<Lift, Values...>;
      return detail::is_const<Combine, accumulator, accumulator>() &&
             detail::is_const<Project, accumulator>();
    } else {
      return true;  // that lift cannot be called is told of every reducer
    }
  }
};

}  // namespace tilefold::detail

namespace tilefold::reducers {

/// lift(element), or lift(element1, element2), gives an accumulator; combine(acc, acc) joins two
/// neighbouring ones, associatively; project(acc) gives the result. What lift returns is the
/// accumulator, and combine must return the same type. On a GPU all three are __host__ __device__
/// and the accumulator is trivially copyable. An empty range is an error.
///
///     make_reducer([](float x) { return range{x, x}; },
///                  [](range a, range b) { return range{fmin(a.lo, b.lo), fmax(a.hi, b.hi)}; },
///                  [](range r) { return r.hi - r.lo; })
TILEFOLD_NO_EXEC_CHECK
template <class Lift, class Combine, class Project>
TILEFOLD_HD detail::custom_reducer<Lift, Combine, Project> make_reducer(Lift lift, Combine combine,
                                                                        Project project) {
  static_assert(
      !(detail::device_only<Lift> || detail::device_only<Combine> || detail::device_only<Project>),
      "tilefold: make_reducer needs functions that the host compiler can see through: "
      "make the lambdas __host__ __device__");
  return {lift, combine, project};
}

}  // namespace tilefold::reducers
