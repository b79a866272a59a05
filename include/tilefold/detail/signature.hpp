// SPDX-License-Identifier: Apache-2.0
//
// What a fold is called, so that two programs, or two ranks, can see that they mean the same one:
// the names of the operator or reducer, of the items and of the accumulator, and its size. Names
// are the compiler's, without its ways to write spaces and defaults; lambdas have poor ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <tilefold/op.hpp>

namespace tilefold::detail {

/// T's name, as the compiler that asks spells it.
template <class T>
std::string spelled_type() {
  const std::string_view name = __PRETTY_FUNCTION__;
  const std::size_t begin = name.find("T = ") + 4;
  const std::size_t end = name.find_first_of(";]", begin);
  return std::string(name.substr(begin, end - begin));
}

/// The same for numbers whatever the compiler.
template <class T>
std::string name_of_type() {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_integral_v<T>) {
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
  } else if constexpr (std::is_floating_point_v<T>) {
    return "float" + std::to_string(8 * sizeof(T));
  } else {
    return detail::spelled_type<T>();
  }
}

/// The signature of folding items of types Items with `Op` in accumulators Acc.
template <class Op, class Acc, class... Items>
std::string fold_signature() {
  std::string text = detail::name_of_type<normalized_op_t<Op>>() + " of";
  ((text += ' ' + detail::name_of_type<Items>()), ...);
  return text + " in " + detail::name_of_type<Acc>() + " of " + std::to_string(sizeof(Acc)) +
         " bytes";
}

}  // namespace tilefold::detail
