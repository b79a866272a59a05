// SPDX-License-Identifier: Apache-2.0
//
// The extremes by a comparator of a user's, and where they stand: what the verbs min_element,
// max_value and their kin fold with. Of equal elements the one that stands first counts, unless the
// last is asked for: the left operand of a node stands before the right one.
#pragma once

#include <concepts>
#include <cstdint>

#include <tilefold/reducer.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>

namespace tilefold::detail {

/// std::less and std::greater are constexpr host functions, which a kernel cannot call. X is that
/// of std::less<X>, or void.
template <bool Greater, class X>
struct standard_order {
  TILEFOLD_NO_EXEC_CHECK
  template <class T>
    requires std::convertible_to<const T&, X>
  TILEFOLD_HD bool operator()(const T& a, const T& b) const {
    return standard_order<Greater, void>{}(static_cast<const X&>(a), static_cast<const X&>(b));
  }
};
template <bool Greater>
struct standard_order<Greater, void> {
  TILEFOLD_NO_EXEC_CHECK
  template <class T>
  TILEFOLD_HD bool operator()(const T& a, const T& b) const
    requires requires { static_cast<bool>(a < b); }
  {
    if constexpr (Greater) {
      return static_cast<bool>(b < a);
    } else {
      return static_cast<bool>(a < b);
    }
  }
};

template <class Comp>
struct comparator_in_kernels {
  using type = Comp;
};
template <class X>
struct comparator_in_kernels<std::less<X>> {
  using type = standard_order<false, X>;
};
template <class X>
struct comparator_in_kernels<std::greater<X>> {
  using type = standard_order<true, X>;
};

template <class Comp>
using comparator_in_kernels_t = typename comparator_in_kernels<Comp>::type;

template <class T>
inline constexpr bool names_equals = false;
template <tie_rule Ties>
inline constexpr bool names_equals<of_equal<Ties>> = true;
/// What stands where a comparator may: anything that says not which of equal elements is meant.
template <class T>
concept comparator_argument = !names_equals<T>;

template <class Comp>
comparator_in_kernels_t<Comp> normalized_comparator(const Comp& comp) {
  if constexpr (std::same_as<comparator_in_kernels_t<Comp>, Comp>) {
    return comp;
  } else {
    return {};
  }
}

/// Whether b, which stands behind a, is to be found rather than a.
TILEFOLD_NO_EXEC_CHECK
template <bool Largest, tie_rule Ties = tie_rule::first, class Comp, class T>
TILEFOLD_HD bool takes_place(const Comp& comp, const T& b, const T& a) {
  if constexpr (Ties == tie_rule::last) {
    return !detail::takes_place<Largest>(comp, a, b);
  } else if constexpr (Largest) {
    return static_cast<bool>(comp(a, b));
  } else {
    return static_cast<bool>(comp(b, a));
  }
}

/// What these reducers have; the result is the accumulator.
template <class Comp>
struct compared {
  using reducer_concept = reducer_tag;
  static constexpr const char* name_in_messages = "a comparator";

  Comp comp;

  template <class Acc>
  TILEFOLD_HD Acc project(const Acc& found) const {
    return found;
  }
};

/// The first of the least elements, or of the greatest.
template <bool Largest, class Comp>
struct extreme_by : compared<Comp> {
  template <class T>
  TILEFOLD_HD T lift(const T& value) const {
    return value;
  }
  template <class T>
  TILEFOLD_HD T combine(const T& a, const T& b) const {
    return detail::takes_place<Largest>(this->comp, b, a) ? b : a;
  }
};

/// Both, as extremes{min, max}.
template <class Comp>
struct extremes_by : compared<Comp> {
  template <class T>
  TILEFOLD_HD reducers::extremes<T> lift(const T& value) const {
    return {value, value};
  }
  template <class T>
  TILEFOLD_HD reducers::extremes<T> combine(const reducers::extremes<T>& a,
                                            const reducers::extremes<T>& b) const {
    return {detail::takes_place<false>(this->comp, b.min, a.min) ? b.min : a.min,
            detail::takes_place<true>(this->comp, b.max, a.max) ? b.max : a.max};
  }
  template <class T>
  TILEFOLD_HD reducers::extremes<T> project(const reducers::extremes<T>& found) const {
    return {detail::canonical(found.min), detail::canonical(found.max)};
  }
};

/// Where the first (or the last) of the least elements stands, or of the greatest: indexed_value.
template <bool Largest, tie_rule Ties, class Comp>
struct arg_extreme_by : compared<Comp> {
  static constexpr bool indexed = true;

  template <class T>
  TILEFOLD_HD reducers::indexed_value<T> lift(const T& value, std::int64_t index) const {
    return {value, index};
  }
  template <class T>
  TILEFOLD_HD reducers::indexed_value<T> combine(const reducers::indexed_value<T>& a,
                                                 const reducers::indexed_value<T>& b) const {
    return detail::takes_place<Largest, Ties>(this->comp, b.value, a.value) ? b : a;
  }
};

/// Both, as indexed_extremes{min, max}.
template <tie_rule MinTies, tie_rule MaxTies, class Comp>
struct arg_extremes_by : compared<Comp> {
  static constexpr bool indexed = true;

  template <class T>
  TILEFOLD_HD reducers::indexed_extremes<T> lift(const T& value, std::int64_t index) const {
    return {{value, index}, {value, index}};
  }
  template <class T>
  TILEFOLD_HD reducers::indexed_extremes<T> combine(const reducers::indexed_extremes<T>& a,
                                                    const reducers::indexed_extremes<T>& b) const {
    return {
        detail::takes_place<false, MinTies>(this->comp, b.min.value, a.min.value) ? b.min : a.min,
        detail::takes_place<true, MaxTies>(this->comp, b.max.value, a.max.value) ? b.max : a.max};
  }
};

template <class Comp>
using least_by = extreme_by<false, Comp>;
template <class Comp>
using greatest_by = extreme_by<true, Comp>;

/// Makes reducer Plain of nothing, and `Compared` of a comparator.
template <class Plain, template <class> class Compared>
struct make_extreme {
  Plain operator()() const { return {}; }
  template <class Comp>
  auto operator()(const Comp& comp) const {
    return Compared<comparator_in_kernels_t<Comp>>{{detail::normalized_comparator(comp)}};
  }
};

template <class Comp>
struct comparator_of {
  template <class T>
  static constexpr bool fit() {
    return detail::is_comparator<Comp, T>();
  }
};
template <bool Largest, class Comp>
struct functions_of<extreme_by<Largest, Comp>> : comparator_of<Comp> {};
template <class Comp>
struct functions_of<extremes_by<Comp>> : comparator_of<Comp> {};
template <bool Largest, tie_rule Ties, class Comp>
struct functions_of<arg_extreme_by<Largest, Ties, Comp>> : comparator_of<Comp> {};
template <tie_rule MinTies, tie_rule MaxTies, class Comp>
struct functions_of<arg_extremes_by<MinTies, MaxTies, Comp>> : comparator_of<Comp> {};

}  // namespace tilefold::detail
