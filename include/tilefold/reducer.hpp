// SPDX-License-Identifier: Apache-2.0
//
// What a public reducer is. Who names one, or has a reducer of his own, includes this; a fold with
// an operator reads nothing of it. It brings how verbs take reducers and, under nvcc, the launches
// that reducers have beside those of operators.
#pragma once

#include <concepts>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/op_reducer.hpp>

#if !defined(__CUDACC_RTC__)
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#if defined(__CUDACC__)
#include <tilefold/detail/cuda/range/launch_any_order.cuh>
#endif
#endif

namespace tilefold {

/// Marks a type as a reducer: `using reducer_concept = reducer_tag;`. A reducer is
/// a small, trivially copyable value that says what to compute of a range:
///
/// - `lift(value)`, or `lift(value1, value2)` over two ranges: one element as an accumulator;
/// - `combine(acc, acc)`: two neighbouring accumulators as one; associative;
/// - `project(acc)`: the result;
///
/// and, if it likes:
///
/// - `static constexpr bool indexed = true`: lift's last argument is the element's std::int64_t
///   index;
/// - `identity<Acc>()`: combine(identity, x) has the bits of x; its projection is the value of an
///   empty range;
/// - `static constexpr bool commutative`, `order_free`, `separately_rounded`: as in op_traits;
///   false unless it says so; an order-free reducer is commutative, too;
/// - `settled(acc)`, if it is order_free: combine(acc, x) has the bits of acc for every x, so that
///   the rest of the range need not be read.
///
/// What runs on a GPU is marked TILEFOLD_HD. A reducer goes wherever reduce() takes an operator.
///
/// The concept `reducer` asks for the tag. Whether lift, combine and project can be called is asked
/// where a verb gets the reducer, and what is missing is said in one sentence.
///
/// From a reducer of the library others can be derived. They inherit its lift, combine, project,
/// identity and `indexed`, and nothing else that is known of it: what holds of their own lift and
/// combine they say themselves.
struct reducer_tag {};

#if !defined(__CUDACC_RTC__)
// How verbs take a public reducer where an operator goes.
namespace detail {

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

}  // namespace detail
#endif

}  // namespace tilefold
