// SPDX-License-Identifier: Apache-2.0
//
// What a public reducer is. Who names one, or has a reducer of his own, includes this; a fold with
// an operator reads nothing of it. It brings how verbs take reducers and, under nvcc, the launches
// that reducers have beside those of operators.
#pragma once

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/op_reducer.hpp>

#if !defined(__CUDACC_RTC__)
#include <tilefold/detail/verbs/reducer_types.hpp>
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

}  // namespace tilefold
