// SPDX-License-Identifier: Apache-2.0
//
// How verbs take a public reducer where an operator goes.
#pragma once

#include <concepts>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/verbs/verb.hpp>

namespace tilefold::detail {

/// Whether reducer R can lift what Lift makes of such values; says in one sentence why not.
template <class R, class Lift, class... Values>
constexpr bool reducible() {
  if constexpr (!std::same_as<Lift, as_is>) {
    return detail::reducible<R, as_is, call_result_t<Lift, Values...>>();
  } else if constexpr (functions_of<R>::template fit<Values...>()) {
    constexpr bool lifts = detail::lifts_values<R, Values...>();
    static_assert(
        lifts,
        "tilefold: this reducer does not take items of this type, or takes another number "
        "of ranges: its lift cannot be called with them; lift, combine and project must be "
        "const");
    if constexpr (lifts) return detail::copies_accumulator<reducer_accumulator_t<R, Values...>>();
    return false;
  } else {
    return false;
  }
}

/// Everything that a fold with a public reducer needs but the executor.
template <class Named, reducer R, class Lift, class Init, class... Its>
struct fold_types<Named, R, Lift, Init, Its...> {
  static_assert(std::is_void_v<Named>,
                "tilefold: a reducer chooses its accumulator by itself: reduce(...) without <Acc>");
  static_assert(result_known<Lift>,
                "tilefold: a __device__ lambda must name its result, [] __device__(...) -> T, for "
                "the host compiler cannot know it; or make it __host__ __device__");
  using lift = wanted_lift_t<Lift, Its...>;
  using bound = bound_reducer<R, lift, std::iter_value_t<Its>...>;
  using accumulator = typename bound::accumulator;
  static_assert(std::same_as<Init, no_init> || converts_to<Init, accumulator>,
                "tilefold: the initial value of a reducer must convert to its accumulator");

  static bound bind(const R& r, const Lift& lift) {
    return {r, detail::make_lift<fold_types::lift>(lift)};
  }

  static accumulator empty(const char* verb, const bound& b) {
    if constexpr (has_reducer_identity<R, accumulator>) {
      return b.reducer.template identity<accumulator>();
    } else {
      detail::throw_empty(verb, operator_name<R>());
    }
  }

  using nothing = nothing_untold;
  static constexpr bool indexed = is_indexed<R>;
  static constexpr bool empty_is_known = has_reducer_identity<R, accumulator>;
};

// A reducer that is an operator and nothing else is that operator, with all its fast ways.
template <class Named, operator_reducer R, class Lift, class Init, class... Its>
struct fold_types<Named, R, Lift, Init, Its...>
    : fold_types<Named, plain_op_of<R>, Lift, Init, Its...> {
  using base = fold_types<Named, plain_op_of<R>, Lift, Init, Its...>;
  static auto bind(const R&, const Lift& lift) { return base::bind(plain_op_of<R>{}, lift); }
};

}  // namespace tilefold::detail
