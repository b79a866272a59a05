// SPDX-License-Identifier: Apache-2.0
//
// thrust's reductions with thrust's arguments, in its order: what a program changes is the
// namespace. What means the same in tilefold is only named here. docs/streams.md says where results
// differ. Nothing of thrust is included.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/count.hpp>
#include <tilefold/detail/core/stand_in.hpp>
#include <tilefold/dispatch.hpp>
#include <tilefold/extrema.hpp>
#include <tilefold/inner_product.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/transform_reduce.hpp>

namespace tilefold::thrust_compat {

using tilefold::all_of;
using tilefold::any_of;
using tilefold::count;
using tilefold::count_if;
using tilefold::inner_product;
using tilefold::max_element;
using tilefold::min_element;
using tilefold::minmax_element;
using tilefold::none_of;
using tilefold::reduce;

namespace detail {

using tilefold::detail::default_dispatch;

// What may stand first in a call: an executor, or what stands for one.
template <class T>
concept runs_calls = executor<T> || tilefold::detail::stand_in<std::remove_cvref_t<T>>;

template <class Dispatch, runs_calls On, class Use>
auto on(On&& where, Use use) {
  if constexpr (executor<On>) {
    return use(where);
  } else {
    return Dispatch::with_stand_in(where, use);
  }
}

template <class KeysOut, class ValuesOut>
std::pair<KeysOut, ValuesOut> ends(KeysOut keys_out, ValuesOut values_out, std::int64_t runs) {
  return {keys_out + static_cast<std::iter_difference_t<KeysOut>>(runs),
          values_out + static_cast<std::iter_difference_t<ValuesOut>>(runs)};
}

}  // namespace detail

/// transform_reduce([where,] first, last, f, init, op): as tilefold::transform_reduce(first, last,
/// init, op, f).
template <detail::runs_calls On, class Dispatch = detail::default_dispatch, class It, class F,
          class Init, class Op>
auto transform_reduce(On&& where, It first, It last, F f, Init init, Op op) {
  return detail::on<Dispatch>(where, [&](auto&& exec) {
    return tilefold::transform_reduce(exec, first, last, init, op, f);
  });
}
template <class Dispatch = detail::default_dispatch, class It, class F, class Init, class Op>
auto transform_reduce(It first, It last, F f, Init init, Op op) {
  return tilefold::transform_reduce<void, Dispatch>(first, last, init, op, f);
}

/// reduce_by_key([where,] keys_first, keys_last, values, keys_out, values_out, [equal, [op]]):
/// returns the ends of both outputs. (In tilefold::reduce_by_key a callable alone is the operator,
/// and the number of runs is returned.)
template <detail::runs_calls On, class Dispatch = detail::default_dispatch, class Keys,
          class Values, class KeysOut, class ValuesOut, class Equal = tilefold::detail::equal_keys,
          class Op = plus>
  requires(!detail::runs_calls<Keys>)
std::pair<KeysOut, ValuesOut> reduce_by_key(On&& where, Keys keys_first, Keys keys_last,
                                            Values values, KeysOut keys_out, ValuesOut values_out,
                                            Equal equal = {}, Op op = {}) {
  return detail::ends(keys_out, values_out, detail::on<Dispatch>(where, [&](auto&& exec) {
                        return tilefold::reduce_by_key(exec, keys_first, keys_last, values,
                                                       keys_out, values_out, equal, op);
                      }));
}
template <class Dispatch = detail::default_dispatch, class Keys, class Values, class KeysOut,
          class ValuesOut, class Equal = tilefold::detail::equal_keys, class Op = plus>
  requires(!detail::runs_calls<Keys>)
std::pair<KeysOut, ValuesOut> reduce_by_key(Keys keys_first, Keys keys_last, Values values,
                                            KeysOut keys_out, ValuesOut values_out,
                                            Equal equal = {}, Op op = {}) {
  return detail::ends(keys_out, values_out,
                      tilefold::reduce_by_key<void, Dispatch>(keys_first, keys_last, values,
                                                              keys_out, values_out, equal, op));
}

}  // namespace tilefold::thrust_compat
