// SPDX-License-Identifier: Apache-2.0
//
// Shorter ways to what a reducer's lift and combine give, with the same bits: for instance to
// combine nodes of equally many elements, and to lift a packet of neighbours at once, where what it
// must look out for (a NaN, a number out of range) is looked for once a packet.
#pragma once

#include <concepts>

#include <tilefold/op.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

/// What is known of the reducers of exactly type R: the library specialises it for its own. It is
/// no part of R, for a type that is derived from R has its own lift or combine and must not inherit
/// what passes over them. Whatever is not there is not known:
///
/// - `commutative`, `order_free`, `separately_rounded`: as in reducer.hpp; and
///   `commutative_among_equals`: of nodes of equally many elements, a power of two;
/// - `plain_op`: R is this operator and nothing else;
/// - `statistic`: what an accumulator of a block is made of (bound_reducer.hpp);
/// - `counts`: lifts are 0 or 1, and added;
/// - `long_combine<Acc>`: combine() is hundreds of instructions;
/// - `settled(r, acc)`: as in reducer.hpp;
/// - `neutral<Acc>()`: an accumulator that leaves the bits of any other as they are, on either
/// side;
/// - `combine_equals(r, acc, acc)`: combine() of nodes of equally many elements, a power of two;
/// - `combine_in_range(r, acc, acc)`: combine() of nodes that are in range, if what it gives is,
///   too: is_in_range(acc). A node out of range stays out of range in every node above it;
/// - `lift_packet(r, values)`: the node of N neighbouring elements, a power of two from 2 to 16;
/// - `absorb(r, acc, values...)`: adds an element that stands behind all others to an accumulator;
/// - `of_values`: the reducer of the extremes whose places R finds; visit_places(acc, best, visit)
///   calls visit(place, best) for each place of an accumulator and the same of the extremes;
/// - `of_one`: the reducer of single elements, if R's accumulator is a list of the best.
template <class R>
struct ways {};

/// The ways of reducers whose combine fuses with nothing; and commutes.
struct separately_rounded_ways {
  static constexpr bool separately_rounded = true;
};
struct commutative_ways : separately_rounded_ways {
  static constexpr bool commutative = true;
};

/// The ways of reducers that add up numbers from +0 on: none is negative, and none is -0.
struct sum_of_non_negatives_ways : commutative_ways {
  template <class Acc>
  TILEFOLD_HD static Acc neutral() {
    return Acc{};
  }
};

/// The ways of reducers whose result, too, depends on no order.
struct order_free_ways : commutative_ways {
  static constexpr bool order_free = true;
};

/// Whether a reducer has a shorter way to combine nodes of equally many elements, a power of two.
template <class R, class Acc>
concept combines_equals = requires(const R& r, const Acc& a) {
  { ways<R>::combine_equals(r, a, a) } -> std::convertible_to<Acc>;
};

TILEFOLD_NO_EXEC_CHECK
template <class R, class Acc>
TILEFOLD_HD Acc combine_equals(const R& r, const Acc& a, const Acc& b) {
  if constexpr (combines_equals<R, Acc>) {
    return ways<R>::combine_equals(r, a, b);
  } else {
    return r.combine(a, b);
  }
}

/// Whether combine() looks whether nodes are in some range, so that one look per block is faster.
template <class R, class Acc>
concept looks_at_range = requires(const R& r, const Acc& a) { ways<R>::combine_in_range(r, a, a); };

TILEFOLD_NO_EXEC_CHECK
template <class R, class Acc>
TILEFOLD_HD Acc combine_in_range(const R& r, const Acc& a, const Acc& b) {
  if constexpr (looks_at_range<R, Acc>) {
    return ways<R>::combine_in_range(r, a, b);
  } else {
    return r.combine(a, b);
  }
}

/// Whether R has a way to lift packets of elements of type T.
template <class R, class T>
concept has_packet_lift =
    number<T> && requires(const R& r, const T (&values)[8]) { ways<R>::lift_packet(r, values); };

template <class R, class... Values>
inline constexpr bool has_packet_lift_of = false;
template <class R, class T>
inline constexpr bool has_packet_lift_of<R, T> = has_packet_lift<R, T>;

/// Whether values of T are exact in double, and sums of finite ones in a packet finite.
template <class T>
inline constexpr bool narrower_than_double = (integer<T> && sizeof(T) < 8) || exact_in_float<T>;

/// The node of values [Begin, Begin + Count) by lifts and combines.
TILEFOLD_NO_EXEC_CHECK
template <int Begin, int Count, class R, class T, int N>
TILEFOLD_HD auto lift_each(const R& r, const T (&values)[N]) {
  if constexpr (Count == 1) {
    return r.lift(values[Begin]);
  } else {
    return detail::combine_equals(r, detail::lift_each<Begin, Count / 2>(r, values),
                                  detail::lift_each<Begin + Count / 2, Count / 2>(r, values));
  }
}

/// The node of N neighbouring elements, a power of two, by the way that R has.
TILEFOLD_NO_EXEC_CHECK
template <class R, class T, int N>
TILEFOLD_HD auto lift_packet(const R& r, const T (&values)[N]) {
  if constexpr (has_packet_lift<R, T>) {
    return ways<R>::lift_packet(r, values);
  } else {
    return detail::lift_each<0, N>(r, values);
  }
}

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
