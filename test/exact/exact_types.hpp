// SPDX-License-Identifier: Apache-2.0
//
// In what the tests ask for exact sums of items of any type: of integers in a double, which is
// rounded.
#pragma once

#include <concepts>
#include <type_traits>

#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reducers/exact.hpp>

namespace tilefold::test {

template <class T>
using exact_result_of =
    std::conditional_t<std::integral<T>, double, typename detail::exact_result<T>::type>;
template <class T>
using named_result = std::conditional_t<std::integral<T>, double, void>;
template <class T>
using exact_sum_of = reducers::exact_sum<named_result<T>>;
template <class T>
using exact_dot_of = reducers::exact_dot<named_result<T>>;

}  // namespace tilefold::test
