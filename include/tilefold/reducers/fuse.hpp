// SPDX-License-Identifier: Apache-2.0
//
// Several reducers in one pass over the data.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <tilefold/config.hpp>
#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/pack.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold {

namespace detail {

template <class Indices, class... R>
struct fused_of;

template <std::size_t... Index, class... R>
struct fused_of<std::index_sequence<Index...>, R...> {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = (is_indexed<R> || ...);

  pack<R...> reducers;

  // Results deduced, for a compiler may look at a result's type before it looks at what is
  // required.
  template <class... Values>
  requires(!indexed && (lifts_values<R, Values...>() && ...))
      TILEFOLD_HD auto lift(const Values&... values) const {
    return pack<reducer_accumulator_t<R, Values...>...>{
        {fused_of::lift_one(reducers.template get<Index>(), 0, values...)}...};
  }
  template <class T>
  requires(indexed && (lifts_values<R, T>() && ...))
      TILEFOLD_HD auto lift(const T& value, std::int64_t index) const {
    return pack<reducer_accumulator_t<R, T>...>{
        {fused_of::lift_one(reducers.template get<Index>(), index, value)}...};
  }
  template <class T, class U>
  requires(indexed && (lifts_values<R, T, U>() && ...))
      TILEFOLD_HD auto lift(const T& value1, const U& value2, std::int64_t index) const {
    return pack<reducer_accumulator_t<R, T, U>...>{
        {fused_of::lift_one(reducers.template get<Index>(), index, value1, value2)}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class... Acc>
  TILEFOLD_HD pack<Acc...> combine(const pack_of<std::index_sequence<Index...>, Acc...>& a,
                                   const pack_of<std::index_sequence<Index...>, Acc...>& b) const {
    return {{reducers.template get<Index>().combine(a.template get<Index>(),
                                                    b.template get<Index>())}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class... Acc>
  TILEFOLD_HD pack<Acc...> combine_equals(
      const pack_of<std::index_sequence<Index...>, Acc...>& a,
      const pack_of<std::index_sequence<Index...>, Acc...>& b) const {
    return pack<Acc...>{{detail::combine_equals(
        reducers.template get<Index>(), a.template get<Index>(), b.template get<Index>())}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class T, int N>
  requires(!indexed && (has_packet_lift<R, T> || ...))
      TILEFOLD_HD auto lift_packet(const T (&values)[N]) const {
    return pack<reducer_accumulator_t<R, T>...>{
        {detail::lift_packet(reducers.template get<Index>(), values)}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class... Acc>
  TILEFOLD_HD auto project(const pack_of<std::index_sequence<Index...>, Acc...>& value) const {
    return pack<decltype(detail::canonical(
        std::declval<const R&>().project(std::declval<const Acc&>())))...>{
        {detail::canonical(
            reducers.template get<Index>().project(value.template get<Index>()))}...};
  }

  template <class Acc>
  requires(has_reducer_identity<R, typename std::tuple_element<Index, Acc>::type>&&...)
      TILEFOLD_HD Acc identity()
  const {
    return {{reducers.template get<Index>()
                 .template identity<typename std::tuple_element<Index, Acc>::type>()}...};
  }

 private:
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class One, class... Values>
  TILEFOLD_HD static auto lift_one(const One& one, std::int64_t index, const Values&... values) {
    if constexpr (is_indexed<One>) {
      return one.lift(values..., index);
    } else {
      return one.lift(values...);
    }
  }
};

template <class Indices, class... R, class... Acc>
struct reducer_traits<fused_of<Indices, R...>, pack_of<Indices, Acc...>> {
  static constexpr bool commutative = (reducer_traits<R, Acc>::commutative && ...);
  static constexpr bool commutative_among_equals =
      (reducer_traits<R, Acc>::commutative_among_equals && ...);
  static constexpr bool order_free = (reducer_traits<R, Acc>::order_free && ...);
  static constexpr bool separately_rounded = (reducer_traits<R, Acc>::separately_rounded && ...);
};

}  // namespace detail

namespace reducers {

/// All of the reducers in one read of the data. The result holds theirs in the same order, each
/// with the bits that its reducer alone would give; it supports structured bindings and get<I>():
///
///     auto [n, average, least] = reduce(x, fuse(count{}, mean{}, min{}));
///
/// Fused reducers can be fused again. An empty range has a value if it has one for each of them.
template <reducer... R>
TILEFOLD_HD detail::fused_of<std::index_sequence_for<R...>, R...> fuse(const R&... reducers) {
  return {{{reducers}...}};
}

}  // namespace reducers

}  // namespace tilefold
