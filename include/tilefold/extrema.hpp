// SPDX-License-Identifier: Apache-2.0
//
// The smallest and the largest element: where they stand, or their values.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/detail/verbs/reducer_verb.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/compared.hpp>

namespace tilefold {

namespace detail {

struct iterator_to_one {
  template <class It>
  It operator()(const It& first, no_result = {}) const {
    return first;
  }
  template <class It, class Found>
  It operator()(const It& first, const Found& found) const {
    return first + static_cast<std::iter_difference_t<It>>(found.index);
  }
};

struct iterators_to_both {
  template <class It>
  std::pair<It, It> operator()(const It& first, no_result = {}) const {
    return {first, first};
  }
  template <class It, class Found>
  std::pair<It, It> operator()(const It& first, const Found& found) const {
    return {iterator_to_one{}(first, found.min), iterator_to_one{}(first, found.max)};
  }
};

// The reducers of the verbs' last arguments: a comparator or none, and which of equal elements.
template <bool Largest>
struct make_arg_extreme {
  template <tie_rule Ties = tie_rule::first>
  std::conditional_t<Largest, reducers::arg_max<nan_rule::propagate, Ties>,
                     reducers::arg_min<nan_rule::propagate, Ties>>
  operator()(of_equal<Ties> = {}) const {
    return {};
  }
  template <tie_rule Ties, comparator_argument Comp>
  auto operator()(of_equal<Ties> ties, const Comp& comp) const {
    return (*this)(comp, ties);
  }
  template <comparator_argument Comp, tie_rule Ties = tie_rule::first>
  auto operator()(const Comp& comp, of_equal<Ties> = {}) const {
    return arg_extreme_by<Largest, Ties, comparator_in_kernels_t<Comp>>{
        {detail::normalized_comparator(comp)}};
  }
};
using make_arg_min = make_arg_extreme<false>;
using make_arg_max = make_arg_extreme<true>;
struct make_arg_minmax {
  // One rule alone is that of both.
  template <tie_rule MinTies = tie_rule::first, tie_rule MaxTies = MinTies>
  reducers::arg_minmax<nan_rule::propagate, MinTies, MaxTies> operator()(
      of_equal<MinTies> = {}, of_equal<MaxTies> = {}) const {
    return {};
  }
  template <tie_rule Ties, comparator_argument Comp>
  auto operator()(of_equal<Ties> ties, const Comp& comp) const {
    return (*this)(comp, ties);
  }
  template <tie_rule MinTies, tie_rule MaxTies, comparator_argument Comp>
  auto operator()(of_equal<MinTies> min_ties, of_equal<MaxTies> max_ties, const Comp& comp) const {
    return (*this)(comp, min_ties, max_ties);
  }
  template <comparator_argument Comp, tie_rule MinTies = tie_rule::first,
            tie_rule MaxTies = MinTies>
  auto operator()(const Comp& comp, of_equal<MinTies> = {}, of_equal<MaxTies> = {}) const {
    return arg_extremes_by<MinTies, MaxTies, comparator_in_kernels_t<Comp>>{
        {detail::normalized_comparator(comp)}};
  }
};

}  // namespace detail

/// An iterator to the smallest element; to the first of equal ones, or to the last (last_of_equal).
///
///     min_element([exec,] first, last)             min_element([exec,] range)
///     min_element([exec,] first, last, comp)       min_element([exec,] range, comp)
///     min_element(..., last_of_equal)              min_element(..., comp, last_of_equal)
///
/// (The rule for equal elements may stand before the comparator as well.)
/// Without a comparator the order of elements is that of `minimum`: -0 before +0, and a NaN, the
/// first one, before everything (std::min_element is not defined there). With one, comp(a, b) says
/// whether a is less than b, as in std: a strict weak order, const, called from many threads, on
/// the GPU if the elements are there. Only the comparator is used, so elements need no <, and -0
/// and +0 may be equal. If it is not a strict weak order over the elements (as < is not if there is
/// a NaN), the result is an unspecified element, the same on every executor. The call is
/// synchronous. Executors, memory and errors are as for reduce(). Empty: `last`. Work: n - 1
/// comparisons.
///
/// With a comparator each node of the tree copies its element: for large elements pass iterators to
/// the members that are compared. Over segments, reduce with reducers::arg_min_by.
inline constexpr detail::value_verb<detail::make_arg_min, detail::iterator_to_one> min_element{
    "min_element"};

/// An iterator to the largest element; to the first of equal ones, also with a comparator, as
/// std::max_element. Everything else as for min_element.
inline constexpr detail::value_verb<detail::make_arg_max, detail::iterator_to_one> max_element{
    "max_element"};

/// A std::pair of both, in one read. Each is the first of equal ones, unless told otherwise:
///
///     minmax_element(..., first_of_equal, last_of_equal)
///     minmax_element(..., comp, first_of_equal, last_of_equal)
///
/// find the first smallest and the last largest element, as std::minmax_element does. A single rule
/// holds for both. Work: 2 n - 2 comparisons.
inline constexpr detail::value_verb<detail::make_arg_minmax, detail::iterators_to_both>
    minmax_element{"minmax_element"};

/// The smallest value, as reduce(..., minimum{}). Empty: the largest of the type, or infinity.
///
///     min_value([exec,] first, last)          min_value([exec,] range)
///     min_value([exec,] first, last, comp)    min_value([exec,] range, comp)
///     min_value_into(exec, first, last, out [, comp])
///
/// With a comparator the value of min_element(..., comp); empty: empty_range_error.
inline constexpr detail::value_verb<detail::make_extreme<reducers::min<>, detail::least_by>>
    min_value{"min_value"};
inline constexpr detail::value_verb_into<detail::make_extreme<reducers::min<>, detail::least_by>>
    min_value_into{"min_value_into"};

/// The largest value; as min_value.
inline constexpr detail::value_verb<detail::make_extreme<reducers::max<>, detail::greatest_by>>
    max_value{"max_value"};
inline constexpr detail::value_verb_into<detail::make_extreme<reducers::max<>, detail::greatest_by>>
    max_value_into{"max_value_into"};

/// Both, as reducers::extremes{min, max}, in one read; as min_value.
inline constexpr detail::value_verb<detail::make_extreme<reducers::minmax<>, detail::extremes_by>>
    minmax_value{"minmax_value"};
inline constexpr detail::value_verb_into<
    detail::make_extreme<reducers::minmax<>, detail::extremes_by>>
    minmax_value_into{"minmax_value_into"};

}  // namespace tilefold
