// SPDX-License-Identifier: Apache-2.0
//
// if_empty: gives an operator or reducer that has no identity a result for the empty range.
#pragma once

#include <concepts>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/op_reducer.hpp>

namespace tilefold {

namespace detail {

/// An operator or reducer, and its result for the empty range. Folds see the operator alone.
template <class Op, class Value>
struct with_empty_value {
  using reducer_concept = reducer_tag;
  using inner = Op;

  Op op;
  Value value;
};

template <class Op>
inline constexpr bool has_empty_value = false;
template <class Op, class Value>
inline constexpr bool has_empty_value<with_empty_value<Op, Value>> = true;

/// Whether a value can be given as a result: not as the first member of one.
template <class Value, class Result>
concept given_as = std::convertible_to<Value, Result> ||
                   ((complex_like<Result> || is_narrow_float<Result> || is_narrow_float<Value>) &&
                    converts_to<Value, Result>);

/// The result of nothing of a reducer over elements of types Elements, as `Value` tells it.
template <class R, class Value, class... Elements>
struct nothing_of {
  static constexpr bool known = true;

  TILEFOLD_NO_EXEC_CHECK
  template <class Result>
  TILEFOLD_HD static Result result(const R&, const Value& value) {
    static_assert(given_as<Value, Result>,
                  "tilefold: the value of if_empty must convert to the result of its operator or "
                  "reducer");
    return detail::canonical(detail::convert<Result>(value));
  }
};

}  // namespace detail

/// Returns the operator or reducer `op` with a result for a range, segment, array or axis that has
/// no items:
///
///     reduce(x, if_empty(r::mean{}, 0.0))
///     segmented_reduce(x, offsets, n, out, if_empty(r::arg_min{}, r::indexed_value<float>{0, -1}))
///     reduce(x, r::fuse(r::count{}, if_empty(r::variance{}, -1.0)))
///
/// - It can be used wherever a reducer can, also in fuse(); there the other reducers need an
///   identity or a value of their own.
/// - Parameters: `value` converts to the result of `op` (what reduce() returns), not to its
///   accumulator. It takes the place of an identity or an initial value, if there is one.
/// - The value is never combined with items, so all other results have the bits of `op` alone.
/// - Cost: the value is one more kernel argument.
template <class Op, class Value>
TILEFOLD_HD constexpr detail::with_empty_value<Op, Value> if_empty(Op op, Value value) {
  static_assert(!detail::has_empty_value<Op>,
                "tilefold: if_empty takes an operator or reducer that has no if_empty yet");
  return {op, value};
}

}  // namespace tilefold
