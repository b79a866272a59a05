// SPDX-License-Identifier: Apache-2.0
//
// Several reducers in one pass over the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/block_claims.hpp>
#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/detail/core/pack.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducer.hpp>

#if !defined(__CUDACC_RTC__)
#include <tilefold/detail/host/fold.hpp>
#endif

TILEFOLD_WARNINGS_OFF

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
  static constexpr bool indexed = (is_indexed<R> || ...);

  template <std::size_t I>
  static constexpr std::size_t keeper = detail::keeper_of<R...>(I);
  /// What is kept for reducer I.
  template <std::size_t I, class One, class... Values>
  using part = std::conditional_t<keeper<I> == I, reducer_accumulator_t<One, Values...>, nothing>;

  pack<R...> reducers;

  /// Whether what the combine of reducer I returns is converted to its accumulator.
  template <std::size_t I, class Acc>
  static constexpr bool converts_part() {
    if constexpr (keeper<I> != I) {
      return false;
    } else {
      using one =
          std::remove_cvref_t<decltype(std::declval<const pack<R...>&>().template get<I>())>;
      using combined = std::remove_cvref_t<decltype(std::declval<const one&>().combine(
          std::declval<const Acc&>(), std::declval<const Acc&>()))>;
      return conversion_may_fuse<combined, Acc>;
    }
  }

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

  TILEFOLD_NO_EXEC_CHECK
  template <class... Acc>
  TILEFOLD_HD pack<Acc...> combine(const pack_of<std::index_sequence<Index...>, Acc...>& a,
                                   const pack_of<std::index_sequence<Index...>, Acc...>& b) const {
    return {{combine_part<Index>(a, b)}...};
  }

  /// The same, what each part returns closed before it meets a conversion to its accumulator.
  TILEFOLD_NO_EXEC_CHECK
  template <class Closing, class... Acc>
  TILEFOLD_HD pack<Acc...> combine_across(
      const Closing& closing, const pack_of<std::index_sequence<Index...>, Acc...>& a,
      const pack_of<std::index_sequence<Index...>, Acc...>& b) const
    requires(converts_part<Index, Acc>() || ...)
  {
    return {{closing(combine_part<Index>(a, b))}...};
  }

  TILEFOLD_NO_EXEC_CHECK
  template <class... Acc>
  TILEFOLD_HD auto project(const pack_of<std::index_sequence<Index...>, Acc...>& value) const {
    return pack<decltype(project_part<Index>(value))...>{{project_part<Index>(value)}...};
  }

  template <class Acc>
    requires(has_reducer_identity<R, typename std::tuple_element<Index, Acc>::type> && ...)
  TILEFOLD_HD Acc identity() const {
    return {{reducers.template get<Index>()
                 .template identity<typename std::tuple_element<Index, Acc>::type>()}...};
  }

 private:
  TILEFOLD_NO_EXEC_CHECK
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
  TILEFOLD_NO_EXEC_CHECK
  template <std::size_t I, class Parts>
  TILEFOLD_HD auto combine_part(const Parts& a, const Parts& b) const {
    if constexpr (keeper<I> != I) {
      return nothing{};
    } else {
      return reducers.template get<I>().combine(a.template get<I>(), b.template get<I>());
    }
  }
  TILEFOLD_NO_EXEC_CHECK
  template <std::size_t I, class Parts>
  TILEFOLD_HD auto project_part(const Parts& value) const {
    return detail::canonical(reducers.template get<I>().project(value.template get<keeper<I>>()));
  }
};

template <std::size_t... Index, class... Acc>
struct block_claims<pack_of<std::index_sequence<Index...>, Acc...>> {
  using parts = pack_of<std::index_sequence<Index...>, Acc...>;

  static bool hold(const parts& acc, std::int64_t begin, std::int64_t end) {
    return (part_holds<Index, Acc>(acc, begin, end) && ...);
  }

 private:
  template <std::size_t I, class Part>
  static bool part_holds(const parts& acc, std::int64_t begin, std::int64_t end) {
    if constexpr (std::is_same_v<Part, nothing>) {
      return true;
    } else {
      return block_claims<Part>::hold(acc.template get<I>(), begin, end);
    }
  }
};

template <std::size_t... Index, class... R>
struct ways<fused_of<std::index_sequence<Index...>, R...>> {
  using fused = fused_of<std::index_sequence<Index...>, R...>;

  TILEFOLD_NO_EXEC_CHECK
  template <class... Acc>
  TILEFOLD_HD static pack<Acc...> combine_equals(
      const fused& r, const pack_of<std::index_sequence<Index...>, Acc...>& a,
      const pack_of<std::index_sequence<Index...>, Acc...>& b) {
    return {{combine_parts<Index, true>(r, a, b)}...};
  }

  TILEFOLD_NO_EXEC_CHECK
  template <class... Acc>
    requires(looks_at_range<R, Acc> || ...)
  TILEFOLD_HD static pack<Acc...> combine_in_range(
      const fused& r, const pack_of<std::index_sequence<Index...>, Acc...>& a,
      const pack_of<std::index_sequence<Index...>, Acc...>& b) {
    return {{combine_parts<Index, false>(r, a, b)}...};
  }
  template <class... Acc>
  TILEFOLD_HD static bool is_in_range(const pack_of<std::index_sequence<Index...>, Acc...>& value) {
    return (part_is_in_range<Index, R, Acc>(value) && ...);
  }

  TILEFOLD_NO_EXEC_CHECK
  template <class T, int N>
    requires(!fused::indexed && (has_packet_lift<R, T> || ...))
  TILEFOLD_HD static auto lift_packet(const fused& r, const T (&values)[N]) {
    return pack<typename fused::template part<Index, R, T>...>{
        {lift_packet_part<Index>(r, values)}...};
  }

 private:
  TILEFOLD_NO_EXEC_CHECK
  template <std::size_t I, class T, int N>
  TILEFOLD_HD static auto lift_packet_part(const fused& r, const T (&values)[N]) {
    if constexpr (fused::template keeper<I> != I) {
      return nothing{};
    } else {
      return detail::lift_packet(r.reducers.template get<I>(), values);
    }
  }
  template <std::size_t I, class One, class Part, class Parts>
  TILEFOLD_HD static bool part_is_in_range([[maybe_unused]] const Parts& value) {
    if constexpr (looks_at_range<One, Part>) {
      return ways<One>::is_in_range(value.template get<I>());
    } else {
      return true;
    }
  }
  // Of nodes that are equal, else that are in range.
  TILEFOLD_NO_EXEC_CHECK
  template <std::size_t I, bool Equal, class Parts>
  TILEFOLD_HD static auto combine_parts(const fused& r, const Parts& a, const Parts& b) {
    if constexpr (fused::template keeper<I> != I) {
      return nothing{};
    } else if constexpr (Equal) {
      return detail::combine_equals(r.reducers.template get<I>(), a.template get<I>(),
                                    b.template get<I>());
    } else {
      return detail::combine_in_range(r.reducers.template get<I>(), a.template get<I>(),
                                      b.template get<I>());
    }
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

/// No value is given: the projected identity, if there is one.
struct identity_value {};

template <class R, class... Elements>
struct nothing_of<R, identity_value, Elements...> {
  using accumulator = reducer_accumulator_t<R, Elements...>;
  static constexpr bool known = has_reducer_identity<R, accumulator>;

  TILEFOLD_NO_EXEC_CHECK
  template <class Result>
  TILEFOLD_HD static Result result(const R& reducer, identity_value) {
    return detail::canonical(reducer.project(reducer.template identity<accumulator>()));
  }
};

/// A reducer that is to be fused, without its result for nothing, and that result.
template <class R>
struct fused_part {
  using reducer_type = R;
  using value_type = identity_value;
  TILEFOLD_HD static const R& reducer(const R& r) { return r; }
  TILEFOLD_HD static identity_value value(const R&) { return {}; }
};
template <class R, class Value>
struct fused_part<with_empty_value<R, Value>> {
  using reducer_type = R;
  using value_type = Value;
  TILEFOLD_HD static const R& reducer(const with_empty_value<R, Value>& r) { return r.op; }
  TILEFOLD_HD static const Value& value(const with_empty_value<R, Value>& r) { return r.value; }
};

/// The results for nothing of fused reducers, one each.
template <class... Value>
struct fused_values {
  pack<Value...> of;
};

template <std::size_t... Index, class... R, class... Value, class... Elements>
struct nothing_of<fused_of<std::index_sequence<Index...>, R...>, fused_values<Value...>,
                  Elements...> {
  using fused = fused_of<std::index_sequence<Index...>, R...>;
  static constexpr bool known = (nothing_of<R, Value, Elements...>::known && ...);

  TILEFOLD_NO_EXEC_CHECK
  template <class Result>
  TILEFOLD_HD static Result result(const fused& r, const fused_values<Value...>& values) {
    return {{nothing_of<R, Value, Elements...>::template result<
        typename std::tuple_element<Index, Result>::type>(r.reducers.template get<Index>(),
                                                          values.of.template get<Index>())}...};
  }
};

}  // namespace detail

#if !defined(__CUDACC_RTC__)
/// \cond
namespace detail::host {

// On the host fused reducers are folded part by part where one of them is an exact sum: that has a
// way of its own through a block of items, which an accumulator of all parts would not let it take.
// A block of items stays in a cache while each part is folded. Only over items that lie in memory,
// which may be read once for each part.
template <std::size_t... Index, class... Its, std::size_t... Part, class... R, class... Values>
inline constexpr bool
    folds_by_parts<source_of<std::index_sequence<Index...>, Its...>,
                   bound_reducer<fused_of<std::index_sequence<Part...>, R...>, as_is, Values...>> =
        (std::contiguous_iterator<Its> && ...) && !(is_indexed<R> || ...) &&
        ((folds_exactly<source<Its...>, bound_reducer<R, as_is, Values...>> ||
          folds_by_parts<source<Its...>, bound_reducer<R, as_is, Values...>>) ||
         ...);

/// The fold of ranges of one source with such a reducer, as scalar_fold. fold_part(elements,
/// reducer, first, n) folds one part.
template <class Source, std::size_t... Part, class... R, class... Values, class FoldPart>
class parts_fold<Source,
                 bound_reducer<fused_of<std::index_sequence<Part...>, R...>, as_is, Values...>,
                 FoldPart> {
  using fused = fused_of<std::index_sequence<Part...>, R...>;
  using reducer_type = bound_reducer<fused, as_is, Values...>;

 public:
  using accumulator = typename reducer_type::accumulator;

  parts_fold(const Source& elements, const reducer_type& reducer, const FoldPart& fold_part)
      : elements_(elements), reducer_(reducer), fold_part_(fold_part) {}

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    if (n <= block) return {{part_of<Part, R>(first, n)}...};
    const std::int64_t split = tree::left_size(n);
    const accumulator left = (*this)(first, split);
    return reducer_.combine(left, (*this)(first + split, n - split));
  }

 private:
  // 32 to 64 KiB of floats and doubles: what a call costs is little then.
  static constexpr std::int64_t block = 8192;

  template <std::size_t I, class One>
  auto part_of(std::int64_t first, std::int64_t n) const {
    if constexpr (fused::template keeper<I> != I) {
      return typename fused::template part<I, One, Values...>{};
    } else {
      const bound_reducer<One, as_is, Values...> one{reducer_.reducer.reducers.template get<I>(),
                                                     {}};
      return fold_part_(elements_, one, first, n);
    }
  }

  const Source& elements_;
  const reducer_type& reducer_;
  const FoldPart& fold_part_;
};

}  // namespace detail::host
/// \endcond
#endif

namespace reducers {

/// Evaluates several reducers in one read of the data. The result holds theirs in the same order,
/// each with the bits that its reducer alone would give. On host and device it supports structured
/// bindings, get<I>(result), std::tuple_size, std::tuple_element and tilefold::apply(f, result);
/// std::apply accepts only types of std.
///
///     auto [n, average, least] = reduce(x, fuse(count{}, mean{}, min{}));
///
/// Fused reducers can be fused again. An empty range has a result if each of the reducers has one,
/// also by if_empty().
template <class... R>
TILEFOLD_HD auto fuse(const R&... reducers) {
  using fused = detail::fused_of<std::index_sequence_for<R...>,
                                 typename detail::fused_part<R>::reducer_type...>;
  constexpr bool takes = (reducer<typename detail::fused_part<R>::reducer_type> && ...);
  static_assert(takes,
                "tilefold: fuse takes reducers, such as tilefold::reducers::mean{}, and neither "
                "verbs, such as tilefold::mean, nor operators, such as tilefold::plus{}");
  constexpr bool one_order =
      !(detail::is_sequential<typename detail::fused_part<R>::reducer_type> || ...);
  static_assert(
      one_order,
      "tilefold: sequential_blocks stands around fuse, for all reducers are folded in one "
      "order: sequential_blocks<Block>(fuse(...))");
  if constexpr (!takes || !one_order) {
    return detail::no_result{};
  } else if constexpr ((detail::has_empty_value<R> || ...)) {
    using values = detail::fused_values<typename detail::fused_part<R>::value_type...>;
    return detail::with_empty_value<fused, values>{
        {{{detail::fused_part<R>::reducer(reducers)}...}},
        {{{detail::fused_part<R>::value(reducers)}...}}};
  } else {
    return fused{{{reducers}...}};
  }
}

}  // namespace reducers

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
