// SPDX-License-Identifier: Apache-2.0
//
// Shorter ways that a reducer may know to what lift and combine give, with the same bits: to
// combine nodes of equally many elements, and to lift a packet of neighbours at once, where what it
// must look out for (a NaN, a number out of range) is looked for once a packet.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilefold/config.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

/// Whether R says that `R::original` is itself. What others derive from R may lift in its own way,
/// and gets none of the shortcuts that pass over lift.
template <class R>
concept is_original = std::same_as<typename R::original, R>;

/// Whether a reducer has a shorter way to combine nodes of equally many elements, a power of two.
template <class R, class Acc>
concept combines_equals = requires(const R& r, const Acc& a) {
  { r.combine_equals(a, a) } -> std::convertible_to<Acc>;
};

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class R, class Acc>
TILEFOLD_HD Acc combine_equals(const R& r, const Acc& a, const Acc& b) {
  if constexpr (combines_equals<R, Acc>) {
    return r.combine_equals(a, b);
  } else {
    return r.combine(a, b);
  }
}

/// Whether R has its own `lift_packet(values)`: the node of N neighbouring elements of type T, a
/// power of two from 2 to 16.
template <class R, class T>
concept has_packet_lift = is_original<R> &&
    (std::is_arithmetic_v<T> || is_narrow_float<T>)&&requires(const R& r, const T (&values)[8]) {
  r.lift_packet(values);
};

template <class R, class... Values>
inline constexpr bool has_packet_lift_of = false;
template <class R, class T>
inline constexpr bool has_packet_lift_of<R, T> = has_packet_lift<R, T>;

/// Whether values of T are exact in double, and sums of finite ones in a packet finite.
template <class T>
inline constexpr bool narrower_than_double =
    (std::integral<T> && sizeof(T) < 8) || std::same_as<T, float> || is_narrow_float<T>;

/// The node of values [Begin, Begin + Count) by lifts and combines.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
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
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class R, class T, int N>
TILEFOLD_HD auto lift_packet(const R& r, const T (&values)[N]) {
  if constexpr (has_packet_lift<R, T>) {
    return r.lift_packet(values);
  } else {
    return detail::lift_each<0, N>(r, values);
  }
}

}  // namespace tilefold::detail
