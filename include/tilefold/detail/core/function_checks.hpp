// SPDX-License-Identifier: Apache-2.0
//
// What a user's function must be like. A check that fails says so in one sentence and returns
// false. Then the caller of the check instantiates nothing more: more errors would hide the
// sentence.
#pragma once

#include <type_traits>

#include <tilefold/accumulator.hpp>

namespace tilefold::detail {

/// Stands for the result of a call that cannot be compiled, whatever the caller makes of it.
struct no_result {
  template <class T>
  operator T() const;
};

/// Whether F could be called with such values if its operator() were const.
template <class F, class... Values>
inline constexpr bool needs_const = !function_on<F, Values...> && calls<F&, Values...>;

/// For overloads: what is called, or what a sentence will say something of: what would be called if
/// it were const, or a pointer to a member.
template <class F, class... Values>
concept function_or_needs_const =
    function_on<F, Values...> || needs_const<F, Values...> || std::is_member_pointer_v<F>;

/// Says so if F's operator() is not const.
template <class F, class... Values>
constexpr bool is_const() {
  constexpr bool member = std::is_member_pointer_v<F>;
  static_assert(!member,
                "tilefold: a pointer to a member is no operator, function, predicate or "
                "comparator: pass std::mem_fn(pointer), or a lambda");
  constexpr bool yes = !needs_const<F, Values...> && !member;
  static_assert(yes || member,
                "tilefold: operator() of an operator, function, predicate or comparator must be "
                "const: it is called from many threads; so a lambda must not be `mutable`");
  return yes;
}

/// Whether the caller's initial value and functions can be copied; says so in one sentence if not.
template <class... Arguments>
constexpr bool copies() {
  constexpr bool yes = (std::is_copy_constructible_v<Arguments> && ...);
  static_assert(yes,
                "tilefold: an initial value, operator, function or predicate must be copyable: "
                "every thread has its own");
  return yes;
}

}  // namespace tilefold::detail
