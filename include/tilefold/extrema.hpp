// SPDX-License-Identifier: Apache-2.0
//
// The smallest and the largest element: where they stand, or their values.
#pragma once

#include <iterator>
#include <utility>

#include <tilefold/detail/reducer_verb.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>

namespace tilefold {

namespace detail {

struct iterator_to_one {
  template <class It>
  It operator()(const It& first) const {
    return first;
  }
  template <class It, class Found>
  It operator()(const It& first, const Found& found) const {
    return first + static_cast<std::iter_difference_t<It>>(found.index);
  }
};

struct iterators_to_both {
  template <class It>
  std::pair<It, It> operator()(const It& first) const {
    return {first, first};
  }
  template <class It, class Found>
  std::pair<It, It> operator()(const It& first, const Found& found) const {
    return {iterator_to_one{}(first, found.min), iterator_to_one{}(first, found.max)};
  }
};

struct make_arg_min {
  template <tie_rule Ties = tie_rule::first>
  reducers::arg_min<nan_rule::propagate, Ties> operator()(of_equal<Ties> = {}) const {
    return {};
  }
};
struct make_arg_max {
  template <tie_rule Ties = tie_rule::first>
  reducers::arg_max<nan_rule::propagate, Ties> operator()(of_equal<Ties> = {}) const {
    return {};
  }
};
struct make_arg_minmax {
  template <tie_rule MinTies = tie_rule::first, tie_rule MaxTies = tie_rule::first>
  reducers::arg_minmax<nan_rule::propagate, MinTies, MaxTies> operator()(
      of_equal<MinTies> = {}, of_equal<MaxTies> = {}) const {
    return {};
  }
};

}  // namespace detail

/// An iterator to the smallest element; to the first of equal ones, or to the last.
///
///     min_element([exec,] first, last)     min_element([exec,] range)
///     min_element(..., last_of_equal)
///
/// The order of elements is that of `minimum`: -0 before +0, and a NaN, the first one, before
/// everything (std::min_element is not defined there). Blocks until the place is known. Executors,
/// memory and errors are as for reduce(). Empty: `last`.
inline constexpr detail::place_verb<detail::make_arg_min, detail::iterator_to_one> min_element{
    "min_element"};

/// An iterator to the largest element; as min_element.
inline constexpr detail::place_verb<detail::make_arg_max, detail::iterator_to_one> max_element{
    "max_element"};

/// A std::pair of both, in one read. Each is the first of equal ones, unless told otherwise:
///
///     minmax_element(..., first_of_equal, last_of_equal)
///
/// finds the first smallest and the last largest element, as std::minmax_element does.
inline constexpr detail::place_verb<detail::make_arg_minmax, detail::iterators_to_both>
    minmax_element{"minmax_element"};

/// The smallest value, as reduce(..., minimum{}). Empty: the largest of the type, or infinity.
///
///     min_value([exec,] first, last)     min_value([exec,] range)
///     min_value_into(exec, first, last, out)
inline constexpr detail::value_verb<detail::make<reducers::min<>>> min_value{"min_value"};
inline constexpr detail::value_verb_into<detail::make<reducers::min<>>> min_value_into{
    "min_value_into"};

/// The largest value; as min_value.
inline constexpr detail::value_verb<detail::make<reducers::max<>>> max_value{"max_value"};
inline constexpr detail::value_verb_into<detail::make<reducers::max<>>> max_value_into{
    "max_value_into"};

/// Both, as reducers::extremes{min, max}, in one read; as min_value.
inline constexpr detail::value_verb<detail::make<reducers::minmax<>>> minmax_value{"minmax_value"};
inline constexpr detail::value_verb_into<detail::make<reducers::minmax<>>> minmax_value_into{
    "minmax_value_into"};

}  // namespace tilefold
