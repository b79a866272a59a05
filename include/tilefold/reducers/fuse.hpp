// SPDX-License-Identifier: Apache-2.0
//
// Several reducers in one pass over the data.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tilefold/config.hpp>
#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/function_checks.hpp>
#include <tilefold/detail/pack.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold {

namespace detail {

/// The number of the reducer that keeps what number `i` has to know of a range: `i`, or another one
/// that knows as much. A variance knows the count and the sum of a mean, whose project() takes the
/// accumulator of either. Counts alone are each their own, for they have an identity.
template <class... R>
constexpr std::size_t keeper_of(std::size_t i) {
  constexpr block_statistic known[] = {statistic_of<R>...};
  std::size_t most = i;
  for (std::size_t j = 0; j < sizeof...(R); ++j) {
    if (known[j] > known[most]) most = j;
  }
  if (known[i] == block_statistic::none || known[most] < block_statistic::mean) return i;
  for (std::size_t j = 0; j < most; ++j) {
    if (known[j] == known[most]) return j;
  }
  return most;
}

template <class Indices, class... R>
struct fused_of;

template <std::size_t... Index, class... R>
struct fused_of<std::index_sequence<Index...>, R...> {
  using reducer_concept = reducer_tag;
  using original = fused_of;
  static constexpr bool indexed = (is_indexed<R> || ...);

  template <std::size_t I>
  static constexpr std::size_t keeper = detail::keeper_of<R...>(I);
  /// What is kept for reducer I.
  template <std::size_t I, class One, class... Values>
  using part = std::conditional_t<keeper<I> == I, reducer_accumulator_t<One, Values...>, nothing>;

  pack<R...> reducers;

  // Results deduced, for a compiler may look at a result's type before it looks at what is
  // required.
  template <class... Values>
  requires(!indexed && (lifts_values<R, Values...>() && ...))
      TILEFOLD_HD auto lift(const Values&... values) const {
    return pack<part<Index, R, Values...>...>{{lift_part<Index>(0, values...)}...};
  }
  template <class T>
  requires(indexed && (lifts_values<R, T>() && ...))
      TILEFOLD_HD auto lift(const T& value, std::int64_t index) const {
    return pack<part<Index, R, T>...>{{lift_part<Index>(index, value)}...};
  }
  template <class T, class U>
  requires(indexed && (lifts_values<R, T, U>() && ...))
      TILEFOLD_HD auto lift(const T& value1, const U& value2, std::int64_t index) const {
    return pack<part<Index, R, T, U>...>{{lift_part<Index>(index, value1, value2)}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class... Acc>
  TILEFOLD_HD pack<Acc...> combine(const pack_of<std::index_sequence<Index...>, Acc...>& a,
                                   const pack_of<std::index_sequence<Index...>, Acc...>& b) const {
    return {{combine_part<Index>(a, b)}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class... Acc>
  TILEFOLD_HD pack<Acc...> combine_equals(
      const pack_of<std::index_sequence<Index...>, Acc...>& a,
      const pack_of<std::index_sequence<Index...>, Acc...>& b) const {
    return {{combine_equal_parts<Index>(a, b)}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class T, int N>
  requires(!indexed && (has_packet_lift<R, T> || ...))
      TILEFOLD_HD auto lift_packet(const T (&values)[N]) const {
    return pack<part<Index, R, T>...>{{lift_packet_part<Index>(values)}...};
  }

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <class... Acc>
  TILEFOLD_HD auto project(const pack_of<std::index_sequence<Index...>, Acc...>& value) const {
    return pack<decltype(project_part<Index>(value))...>{{project_part<Index>(value)}...};
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
  template <std::size_t I, class... Values>
  TILEFOLD_HD auto lift_part(std::int64_t index, const Values&... values) const {
    const auto& one = reducers.template get<I>();
    if constexpr (keeper<I> != I) {
      return nothing{};
    } else if constexpr (is_indexed<std::remove_cvref_t<decltype(one)>>) {
      return one.lift(values..., index);
    } else {
      return one.lift(values...);
    }
  }
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <std::size_t I, class T, int N>
  TILEFOLD_HD auto lift_packet_part(const T (&values)[N]) const {
    if constexpr (keeper<I> != I) {
      return nothing{};
    } else {
      return detail::lift_packet(reducers.template get<I>(), values);
    }
  }
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <std::size_t I, class Parts>
  TILEFOLD_HD auto combine_part(const Parts& a, const Parts& b) const {
    if constexpr (keeper<I> != I) {
      return nothing{};
    } else {
      return reducers.template get<I>().combine(a.template get<I>(), b.template get<I>());
    }
  }
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <std::size_t I, class Parts>
  TILEFOLD_HD auto combine_equal_parts(const Parts& a, const Parts& b) const {
    if constexpr (keeper<I> != I) {
      return nothing{};
    } else {
      return detail::combine_equals(reducers.template get<I>(), a.template get<I>(),
                                    b.template get<I>());
    }
  }
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
  template <std::size_t I, class Parts>
  TILEFOLD_HD auto project_part(const Parts& value) const {
    return detail::canonical(reducers.template get<I>().project(value.template get<keeper<I>>()));
  }
};

template <class Indices, class... R>
struct functions_of<fused_of<Indices, R...>> {
  template <class... Values>
  static constexpr bool fit() {
    return (functions_of<R>::template fit<Values...>() && ...);
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
