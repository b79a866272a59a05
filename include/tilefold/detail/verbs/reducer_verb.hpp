// SPDX-License-Identifier: Apache-2.0
//
// The verbs that are reduce() with a certain reducer, as function objects. The forms of call are
// written once, here; the reducer is given where an object is defined. `Make`, called with the
// arguments after the range, returns the reducer.
#pragma once

#include <concepts>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/dispatch.hpp>

namespace tilefold::detail {

/// Yields the value that was folded.
struct the_value {
  template <class It, class Value>
  Value operator()(const It&, const Value& value) const {
    return value;
  }
};

/// Whether Make makes a reducer of such arguments. Asked only if they can be copied:
/// detail::copies() has a sentence for the others.
template <class Make, class... Args>
concept makes_reducer =
    !(std::is_copy_constructible_v<Args> && ...) || std::invocable<Make, Args...>;

/// verb([exec,] first, last, args...) and verb([exec,] range, args...), also with what stands for
/// an executor: what `Yield` makes of `first` and the value, and for an empty range of `first`
/// alone, if it can.
template <class Make, class Yield = the_value>
struct value_verb {
  using verb_concept = void;

  const char* name;

  template <executor Exec, item_iterator It, class... Args>
    requires makes_reducer<Make, Args...>
  auto operator()(Exec&& exec, It first, It last, Args... args) const {
    const auto n = detail::count_items<Exec>(name, first, last);
    static_assert(!spans_ranks<Exec> || !std::invocable<Yield, It>,
                  "tilefold: an item may lie on another rank, where no iterator leads: take its "
                  "index in the whole, reduce(ranks(...), ..., reducers::arg_min{})");
    if constexpr (!detail::copies<Args...>()) {
      return no_result{};
    } else {
      if constexpr (std::invocable<Yield, It>) {
        if (n == 0) return Yield{}(first);
      }
      return Yield{}(
          first, detail::fold_value<void>(name, exec, n, init_and_op{no_init{}, Make{}(args...)},
                                          as_is{}, first));
    }
  }

  template <executor Exec, item_range Range, class... Args>
    requires makes_reducer<Make, Args...>
  auto operator()(Exec&& exec, Range&& range, Args... args) const {
    return (*this)(exec, std::begin(range), std::end(range), static_cast<Args&&>(args)...);
  }

  template <class Dispatch = default_dispatch, item_iterator It, class... Args>
    requires makes_reducer<Make, Args...>
  auto operator()(It first, It last, Args... args) const {
    return Dispatch::template with_executor<Args...>(
        first, [&](auto&& exec) { return (*this)(exec, first, last, args...); });
  }

  template <class Dispatch = default_dispatch, item_range Range, class... Args>
    requires makes_reducer<Make, Args...>
  auto operator()(Range&& range, Args... args) const {
    return this->template operator()<Dispatch>(std::begin(range), std::end(range),
                                               static_cast<Args&&>(args)...);
  }

  template <class... Arguments>
    requires refused_items<Arguments...>
  auto operator()(const Arguments&...) const {
    return detail::refuse<Arguments...>();
  }

  template <class Dispatch = default_dispatch, stand_in Handle, class... Args>
  auto operator()(const Handle& handle, Args&&... args) const {
    return Dispatch::with_stand_in(
        handle, [&](auto&& exec) { return (*this)(exec, static_cast<Args&&>(args)...); });
  }
};

/// verb_into(exec, first, last, out, args...): the value through `out`, as reduce_into().
template <class Make>
struct value_verb_into {
  const char* name;

  template <executor Exec, item_iterator It, class Out, class... Args>
    requires makes_reducer<Make, Args...>
  void operator()(Exec&& exec, It first, It last, Out out, Args... args) const {
    const auto n = detail::count_items<Exec>(name, first, last);
    if constexpr (detail::copies<Args...>()) {
      detail::fold_to<void>(name, exec, n, out, init_and_op{no_init{}, Make{}(args...)}, as_is{},
                            first);
    }
  }

  template <class... Arguments>
    requires refused_items<Arguments...>
  void operator()(const Arguments&...) const {
    detail::refuse<Arguments...>();
  }

  template <class Dispatch = default_dispatch, stand_in Handle, class... Args>
  void operator()(const Handle& handle, Args&&... args) const {
    Dispatch::with_stand_in(handle,
                            [&](auto&& exec) { (*this)(exec, static_cast<Args&&>(args)...); });
  }
};

/// Makes reducer R of whatever R{args...} takes.
template <class R>
struct make {
  template <class... Args>
    requires requires(Args... args) { R{args...}; }
  R operator()(Args... args) const {
    return R{args...};
  }
};

}  // namespace tilefold::detail
