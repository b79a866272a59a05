// SPDX-License-Identifier: Apache-2.0
//
// Where the smallest and the largest element stand. Of equal ones, and of several NaNs if NaN
// counts at all, the first counts or the last; -0 is less than +0.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/block_claims.hpp>
#include <tilefold/detail/core/function_checks.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>
#include <tilefold/reducers/basic.hpp>

namespace tilefold {

/// Which of several equal elements is the result: that with the lowest index, or with the highest.
enum class tie_rule { first, last };

/// The rules as arguments: max_element(x, last_of_equal).
template <tie_rule Rule>
using of_equal = std::integral_constant<tie_rule, Rule>;
inline constexpr of_equal<tie_rule::first> first_of_equal{};
inline constexpr of_equal<tie_rule::last> last_of_equal{};

namespace reducers {

/// A value and its index in its range.
template <class T>
struct indexed_value {
  T value;
  std::int64_t index;
};

}  // namespace reducers

namespace detail {

template <class T>
concept keyed = number<T> && sizeof(T) <= 8;

/// Values of T as they are compared: what is to be found comes first. Numbers become integers, so
/// that a NaN costs nothing: it is the least or the greatest of them.
template <class T, bool Largest, nan_rule Nan, tie_rule Ties = tie_rule::first>
struct ranking {
  static constexpr bool first_counts = Ties == tie_rule::first;  // of equal ones
  using key = T;
  TILEFOLD_HD static key of(const T& value) { return value; }
  TILEFOLD_HD static T value(const key& k) { return k; }
  TILEFOLD_HD static bool before(const key& a, const key& b) {
    if constexpr (floating<T>) {
      const bool a_is_nan = detail::is_nan(a);
      const bool b_is_nan = detail::is_nan(b);
      if (a_is_nan || b_is_nan) {
        return a_is_nan != b_is_nan && a_is_nan == (Nan == nan_rule::propagate);
      }
    }
    return Largest ? detail::ordered_less(b, a) : detail::ordered_less(a, b);
  }
};
template <keyed T, bool Largest, nan_rule Nan, tie_rule Ties>
struct ranking<T, Largest, Nan, Ties> {
  static constexpr bool first_counts = Ties == tie_rule::first;  // of equal ones
  using key = typename std::conditional_t<std::integral<T>, std::type_identity<T>,
                                          signed_of_size<sizeof(T)>>::type;

  // Beyond both infinities.
  static constexpr key nan_key =
      Largest == (Nan == nan_rule::propagate) ? largest<key> : smallest<key>;
  // Before which every other key stands.
  static constexpr key last_key = Largest ? smallest<key> : largest<key>;

  TILEFOLD_HD static key of(const T& value) {
    if constexpr (std::integral<T>) {
      return value;
    } else {
      return detail::is_nan(value) ? nan_key : detail::order_key(value);
    }
  }
  TILEFOLD_HD static T value(const key& k) {
    if constexpr (std::integral<T>) {
      return k;
    } else {
      // The key of a key's bits is the number again.
      return k == nan_key ? quiet_nan<T>()
                          : __builtin_bit_cast(T, detail::order_key(__builtin_bit_cast(T, k)));
    }
  }
  TILEFOLD_HD static bool before(const key& a, const key& b) { return Largest ? b < a : a < b; }
};

template <class Ranking>
struct ranked {
  using ranking = Ranking;
  typename Ranking::key key;
  std::int64_t index;

  /// Whether an element that stands behind this one counts in its place.
  TILEFOLD_HD bool gives_way_to(const typename Ranking::key& behind) const {
    return Ranking::first_counts ? Ranking::before(behind, key) : !Ranking::before(key, behind);
  }
};

template <class Ranking>
struct block_claims<ranked<Ranking>> {
  static bool hold(const ranked<Ranking>& acc, std::int64_t begin, std::int64_t end) {
    return begin <= acc.index && acc.index < end;
  }
};

/// Which of two elements counts; of equal ones it is told by their indices.
template <class Ranking>
TILEFOLD_HD bool stands_before(const ranked<Ranking>& a, const ranked<Ranking>& b) {
  if (Ranking::before(a.key, b.key)) return true;
  if (Ranking::before(b.key, a.key)) return false;
  if constexpr (Ranking::first_counts) {
    return a.index < b.index;
  } else {
    return b.index < a.index;
  }
}

/// What counts of `found` and of an element that stands behind it.
template <class Ranking>
TILEFOLD_HD void add_behind(ranked<Ranking>& found, const typename Ranking::key& key,
                            std::int64_t index) {
  if (found.gives_way_to(key)) detail::replace(found, {key, index});
}

template <class T, bool Largest, nan_rule Nan, tie_rule Ties>
TILEFOLD_HD reducers::indexed_value<T> place_of(const ranked<ranking<T, Largest, Nan, Ties>>& r) {
  return {detail::canonical(ranking<T, Largest, Nan, Ties>::value(r.key)), r.index};
}

/// arg_min and arg_max.
template <bool Largest, nan_rule Nan, tie_rule Ties = tie_rule::first>
struct arg_extreme : empty_reducer {
  static constexpr bool indexed = true;

  template <orderable T>
  TILEFOLD_HD ranked<ranking<T, Largest, Nan, Ties>> lift(const T& value,
                                                          std::int64_t index) const {
    return {ranking<T, Largest, Nan, Ties>::of(value), index};
  }
  template <class Acc>
  TILEFOLD_HD Acc combine(const Acc& a, const Acc& b) const {
    return detail::stands_before(b, a) ? b : a;
  }
  template <class T>
  TILEFOLD_HD reducers::indexed_value<T> project(
      const ranked<ranking<T, Largest, Nan, Ties>>& found) const {
    return detail::place_of(found);
  }
};

template <bool Largest, nan_rule Nan, tie_rule Ties>
struct arg_extreme_ways : order_free_ways {
  using of_values = std::conditional_t<Largest, reducers::max<Nan>, reducers::min<Nan>>;

  template <class R, class T>
  TILEFOLD_HD static void absorb(const R&, ranked<ranking<T, Largest, Nan, Ties>>& found,
                                 const T& value, std::int64_t index) {
    detail::add_behind(found, ranking<T, Largest, Nan, Ties>::of(value), index);
  }
  TILEFOLD_NO_EXEC_CHECK
  template <class Acc, class T, class Visit>
  TILEFOLD_HD static void visit_places(Acc& found, const T& best, const Visit& visit) {
    visit(found, best);
  }
};

/// Any NaN is behind all numbers: which sign one has differs between processors.
struct less_than {
  template <class T>
  TILEFOLD_HD bool operator()(const T& a, const T& b) const {
    if constexpr (floating<T>) {
      if (detail::is_nan(a)) return false;
      if (detail::is_nan(b)) return true;
    }
    return detail::ordered_less(a, b);
  }
};

}  // namespace detail

namespace reducers {

/// The smallest element and its index: indexed_value{value, index}; of equal ones the first or the
/// last. Under nan_rule::propagate a NaN, if there is one: the first or the last, too. Empty: an
/// error.
template <nan_rule Nan = nan_rule::propagate, tie_rule Ties = tie_rule::first>
struct arg_min : detail::arg_extreme<false, Nan, Ties> {};

/// The largest element and its index; as arg_min.
template <nan_rule Nan = nan_rule::propagate, tie_rule Ties = tie_rule::first>
struct arg_max : detail::arg_extreme<true, Nan, Ties> {};

/// What arg_minmax gives.
template <class T>
struct indexed_extremes {
  indexed_value<T> min;
  indexed_value<T> max;
};

/// arg_min and arg_max in one, with a rule for equal smallest elements and one for equal largest.
/// arg_minmax<nan_rule::propagate, tie_rule::first, tie_rule::last> finds what
/// std::minmax_element() finds among numbers.
template <nan_rule Nan = nan_rule::propagate, tie_rule MinTies = tie_rule::first,
          tie_rule MaxTies = MinTies>
struct arg_minmax : detail::empty_reducer {
  static constexpr bool indexed = true;

  template <class T>
  struct accumulator {
    using least = detail::ranking<T, false, Nan, MinTies>;
    using greatest = detail::ranking<T, true, Nan, MaxTies>;
    detail::ranked<least> min;
    detail::ranked<greatest> max;
  };

  template <detail::orderable T>
  TILEFOLD_HD accumulator<T> lift(const T& value, std::int64_t index) const {
    return {{accumulator<T>::least::of(value), index},
            {accumulator<T>::greatest::of(value), index}};
  }
  template <class Acc>
  TILEFOLD_HD Acc combine(const Acc& a, const Acc& b) const {
    return {detail::stands_before(b.min, a.min) ? b.min : a.min,
            detail::stands_before(b.max, a.max) ? b.max : a.max};
  }
  template <class Acc>
  TILEFOLD_HD auto project(const Acc& found) const {
    const auto min = detail::place_of(found.min);
    const auto max = detail::place_of(found.max);
    return indexed_extremes<std::remove_const_t<decltype(min.value)>>{min, max};
  }
};

/// The element whose key comes first under `less`, as indexed_value{key, index}: key(element) is
/// what is compared, less(key, key) a strict weak order, ordinary < (with -0 before +0, and NaN
/// after all numbers) unless given. Of keys that are equal the first counts. Empty: an error.
///
///     arg_min_by{squared_distance{}, farther{}}    // the farthest of points, and how far
template <class Key, class Less = detail::less_than>
struct arg_min_by {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;

  Key key;
  Less less{};

  TILEFOLD_NO_EXEC_CHECK
  template <class T>
  TILEFOLD_HD auto lift(const T& element, std::int64_t index) const {
    return indexed_value<std::remove_cvref_t<decltype(key(element))>>{key(element), index};
  }
  TILEFOLD_NO_EXEC_CHECK
  template <class K>
  TILEFOLD_HD indexed_value<K> combine(const indexed_value<K>& a, const indexed_value<K>& b) const {
    return less(b.value, a.value) ? b : a;
  }
  template <class K>
  TILEFOLD_HD indexed_value<K> project(const indexed_value<K>& found) const {
    return {detail::canonical(found.value), found.index};
  }
};
template <class Key>
arg_min_by(Key) -> arg_min_by<Key>;
template <class Key, class Less>
arg_min_by(Key, Less) -> arg_min_by<Key, Less>;

}  // namespace reducers

namespace detail {

/// Of the accumulators of arg_minmax.
template <class Acc>
  requires requires {
    typename Acc::least;
    typename Acc::greatest;
  }
struct block_claims<Acc> {
  static bool hold(const Acc& acc, std::int64_t begin, std::int64_t end) {
    return block_claims<ranked<typename Acc::least>>::hold(acc.min, begin, end) &&
           block_claims<ranked<typename Acc::greatest>>::hold(acc.max, begin, end);
  }
};

template <nan_rule Nan, tie_rule Ties>
struct ways<reducers::arg_min<Nan, Ties>> : arg_extreme_ways<false, Nan, Ties> {};
template <nan_rule Nan, tie_rule Ties>
struct ways<reducers::arg_max<Nan, Ties>> : arg_extreme_ways<true, Nan, Ties> {};

template <nan_rule Nan, tie_rule MinTies, tie_rule MaxTies>
struct ways<reducers::arg_minmax<Nan, MinTies, MaxTies>> : order_free_ways {
  using of_values = reducers::minmax<Nan>;

  template <class R, class Acc, class T>
  TILEFOLD_HD static void absorb(const R&, Acc& found, const T& value, std::int64_t index) {
    detail::add_behind(found.min, Acc::least::of(value), index);
    detail::add_behind(found.max, Acc::greatest::of(value), index);
  }
  TILEFOLD_NO_EXEC_CHECK
  template <class Acc, class T, class Visit>
  TILEFOLD_HD static void visit_places(Acc& found, const reducers::extremes<T>& best,
                                       const Visit& visit) {
    visit(found.min, best.min);
    visit(found.max, best.max);
  }
};

template <class Key, class Less>
struct functions_of<reducers::arg_min_by<Key, Less>> {
  template <class T>
  static constexpr bool fit() {
    if constexpr (detail::is_const<Key, T>()) {
      constexpr bool key = function_on<Key, T>;
      static_assert(key, "tilefold: the key of arg_min_by must be callable with an element");
      if constexpr (key) return detail::is_comparator<Less, call_result_t<Key, T>>();
    }
    return false;
  }
  template <class T, class U, class... More>
  static constexpr bool fit() {
    return true;  // its lift takes no two ranges, and is told so
  }
};

}  // namespace detail

}  // namespace tilefold
