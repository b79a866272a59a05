// SPDX-License-Identifier: Apache-2.0
//
// count, count_if, all_of, any_of, none_of: how many elements satisfy a condition, and whether all,
// some or none do.
#pragma once

#include <tilefold/detail/verbs/reducer_verb.hpp>
#include <tilefold/reducers/basic.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold {

namespace detail {

/// Whether an element equals a value: by its ==, and narrow floats as the floats they are.
template <class Value>
struct equals {
  Value value;

  TILEFOLD_NO_EXEC_CHECK
  template <class T>
  TILEFOLD_HD bool operator()(const T& element) const {
    if constexpr (is_narrow_float<T> || is_narrow_float<Value>) {
      return detail::convert<widened_t<T>>(element) == detail::convert<widened_t<Value>>(value);
    } else if constexpr (number<T> && number<Value>) {
      // Compared in their common type, as == does by itself, but without a warning on signs.
      using common = std::common_type_t<T, Value>;
      return static_cast<common>(element) == static_cast<common>(value);
    } else {
      return element == value;
    }
  }
};

struct make_count {
  template <class Value>
  auto operator()(Value value) const {
    return reducers::count_if<equals<Value>>{{value}};
  }
};

template <template <class> class Question>
struct make_question {
  template <class Predicate>
  auto operator()(Predicate predicate) const {
    return Question<Predicate>{{predicate}};
  }
};

}  // namespace detail

/// How many elements equal `value`, as std::int64_t.
///
///     count([exec,] first, last, value)     count([exec,] range, value)
///     count_into(exec, first, last, out, value)
///
/// Executors, memory, errors and `out` are as for reduce() and reduce_into(). Empty: 0.
inline constexpr detail::value_verb<detail::make_count> count{"count"};
inline constexpr detail::value_verb_into<detail::make_count> count_into{"count_into"};

/// How many elements satisfy `predicate`, which must be callable on the GPU if the call runs there;
/// as count.
inline constexpr detail::value_verb<detail::make_question<reducers::count_if>> count_if{"count_if"};
inline constexpr detail::value_verb_into<detail::make_question<reducers::count_if>> count_if_into{
    "count_if_into"};

/// Whether every element satisfies `predicate`, as count_if. Empty: true. The call ends early once
/// an element decides the result: `predicate` is then not called for all elements.
inline constexpr detail::value_verb<detail::make_question<reducers::all>> all_of{"all_of"};
inline constexpr detail::value_verb_into<detail::make_question<reducers::all>> all_of_into{
    "all_of_into"};

/// Whether any element satisfies `predicate`, as count_if. Empty: false.
inline constexpr detail::value_verb<detail::make_question<reducers::any>> any_of{"any_of"};
inline constexpr detail::value_verb_into<detail::make_question<reducers::any>> any_of_into{
    "any_of_into"};

/// Whether no element satisfies `predicate`, as count_if. Empty: true.
inline constexpr detail::value_verb<detail::make_question<reducers::none>> none_of{"none_of"};
inline constexpr detail::value_verb_into<detail::make_question<reducers::none>> none_of_into{
    "none_of_into"};

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
