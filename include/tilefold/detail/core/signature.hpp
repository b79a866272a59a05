// SPDX-License-Identifier: Apache-2.0
//
// What a fold is called, so that two programs, or two ranks, can see that they mean the same one:
// the names of the operator or reducer, of the items and of the accumulator, and its size. Names
// are the compiler's, without its ways to write spaces and defaults; lambdas have poor ones.
#pragma once

#include <string>
#include <type_traits>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/op.hpp>

namespace tilefold::detail {

/// T's name: of numbers the same whatever the compiler.
template <class T>
std::string name_of_type() {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (integer<T>) {
    return (signed_integer<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                       std::is_same_v<T, long double>) {
    return "float" + std::to_string(8 * sizeof(T));
  } else {
    return std::string(detail::type_name<T>());
  }
}

/// The operator that stands in signatures for Op: r::sum is plus, if_empty changes no fold.
template <class Op>
struct folded_by {
  using type = normalized_op_t<Op>;
};
template <operator_reducer R>
struct folded_by<R> {
  using type = plain_op_of<R>;
};
template <class Op, class Value>
struct folded_by<with_empty_value<Op, Value>> : folded_by<Op> {};

/// The signature of folding items of types Items with `Op` in accumulators Acc.
template <class Op, class Acc, class... Items>
std::string fold_signature() {
  std::string text = detail::name_of_type<typename folded_by<Op>::type>() + " of";
  ((text += ' ' + detail::name_of_type<Items>()), ...);
  return text + " in " + detail::name_of_type<Acc>() + " of " + std::to_string(sizeof(Acc)) +
         " bytes";
}

}  // namespace tilefold::detail
