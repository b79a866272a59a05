// SPDX-License-Identifier: Apache-2.0
//
// Arguments of verbs that read more than one range: offsets, keys, a second range.
#pragma once

#include <tilefold/detail/verbs/verb.hpp>

namespace tilefold::detail {

/// Whether the argument at a place, counted without an executor, leads to items that cannot be
/// indexed.
template <int Place, class... Arguments>
inline constexpr bool not_indexed_at = false;
template <int Place, class First, class... More>
inline constexpr bool not_indexed_at<Place, First, More...> =
    executor<First> ? not_indexed_at<Place, More...> : not_indexed_at<Place - 1, More...>;
template <class First, class... More>
inline constexpr bool not_indexed_at<0, First, More...> =
    executor<First> ? not_indexed_at<0, More...>
                    : detail::why_refused<First>() == refusal::not_indexed;

/// As refuse(), for verbs with a second sequence: where nothing is wrong with the first one, the
/// second cannot be indexed.
template <class... Arguments>
no_result refuse_sequences() {
  constexpr refusal why = refusal_of<Arguments...>;
  constexpr refusal told = why == refusal::none ? refusal::not_indexed : why;
  return detail::refuse_for<told>();
}

}  // namespace tilefold::detail
