// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of a range on the calling thread. Their value depends on no order, so they are not
// folded by the tree: blocks of items are added to one state (exact_blocks.hpp), straight from
// arrays where it is known what they bring to the sum, else from a buffer. Host only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/exact/exact_blocks.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/half.hpp>

namespace tilefold::detail::host {

/// What an exact sum takes of arrays: terms of items of type T; void if it takes none of them.
template <class T, exact_term Term>
struct exact_arrays {
  using item = T;
  static constexpr exact_term term = Term;

  static constexpr bool known = is_exact_result<T>;
  // A product of doubles has more digits than a double.
  static constexpr bool terms_are_doubles = !std::same_as<T, double> || Term == exact_term::item;

  /// How they are cut without the library tilefold::host.
  static constexpr exact_cutter plain_cutter() {
    if constexpr (terms_are_doubles) return plain_cuts<T, Term>::cutter();
    return {};
  }
};

template <class Reducer, class... Its>
struct exact_arrays_of {
  using type = exact_arrays<void, exact_term::item>;
};
template <class R, class T, class... Ts, std::contiguous_iterator... Its>
  requires requires { typename ways<R>::summand; }
struct exact_arrays_of<bound_reducer<R, as_is, T, Ts...>, Its...> {
  static constexpr bool of_one_type =
      (std::same_as<T, Ts> && ...) && (std::same_as<T, std::iter_value_t<Its>> && ...);
  using type = exact_arrays<std::conditional_t<of_one_type, T, void>, ways<R>::summand::term>;
};

template <std::size_t... Index, class... Its, class R, class Lift, class... Values>
  requires requires { typename ways<R>::summand; }
inline constexpr bool folds_exactly<source_of<std::index_sequence<Index...>, Its...>,
                                    bound_reducer<R, Lift, Values...>> =
    bound_reducer<R, Lift, Values...>::sums_exactly ||
    exact_arrays_of<bound_reducer<R, Lift, Values...>, Its...>::type::known;

/// The terms of an exact sum in a buffer, as arrays of their own.
template <class Reducer>
using exact_buffer =
    exact_arrays<typename decltype(std::declval<const Reducer&>().of_summands())::accumulator,
                 exact_term::item>;

/// An exact sum that is given its terms in pieces.
template <class R, class Lift, class... Values>
class exact_sum_of_terms<bound_reducer<R, Lift, Values...>> {
  using reducer = bound_reducer<R, Lift, Values...>;
  using holder = typename ways<R>::template holder<typename reducer::accumulator>;
  using state_type = typename holder::state;

 public:
  using term = typename exact_buffer<reducer>::item;

  exact_sum_of_terms() = default;
  exact_sum_of_terms(const exact_sum_of_terms&) = delete;
  exact_sum_of_terms& operator=(const exact_sum_of_terms&) = delete;

  void add(const term* terms, std::int64_t n) {
    blocks_.add(terms, nullptr, n, [=](auto& to, std::int64_t i) {
      to.add(detail::term_of<term, exact_term::item>(terms, nullptr, i));
    });
  }
  /// The accumulator of the n terms that were added.
  typename reducer::accumulator total(std::int64_t n) const { return holder::of(state_, n); }

 private:
  static constexpr exact_cutter cutter = exact_buffer<reducer>::plain_cutter();

  state_type state_ = state_type::nothing();
  exact_blocks<state_type> blocks_{cutter, state_};
};

/// The fold of ranges of one source with such a reducer, as scalar_fold.
template <std::size_t... Index, class... Its, class R, class Lift, class... Values>
class exact_fold<source_of<std::index_sequence<Index...>, Its...>,
                 bound_reducer<R, Lift, Values...>> {
  using source_type = source<Its...>;
  using reducer_type = bound_reducer<R, Lift, Values...>;
  using arrays = typename exact_arrays_of<reducer_type, Its...>::type;

  static constexpr auto which_terms() {
    if constexpr (arrays::known) {
      return arrays{};
    } else {
      return exact_buffer<reducer_type>{};
    }
  }

 public:
  using accumulator = typename reducer_type::accumulator;
  using terms = decltype(which_terms());

  /// Blocks are cut by `cutter`, which is for `terms`; if it has no blocks, items are added one by
  /// one.
  exact_fold(const source_type& elements, const reducer_type& reducer, const exact_cutter& cutter)
      : elements_(elements), reducer_(reducer), cutter_(cutter) {}

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    state_type state = state_type::nothing();
    if constexpr (arrays::known) {
      const item* const at[] = {std::to_address(source_type::template iterator<Index>(elements_)) +
                                first...};
      add_arrays(state, at[0], at[sizeof...(Its) - 1], n);
    } else {
      add_elements(state, first, n);
    }
    return holder::of(state, n);
  }

 private:
  using holder = typename ways<R>::template holder<accumulator>;
  using state_type = typename holder::state;
  using item = typename terms::item;

  void add_arrays(state_type& state, const item* first, const item* second, std::int64_t n) const {
    if (cutter_.block == 0) {
      for (std::int64_t i = 0; i < n; ++i) add_term(state, first, second, i);
      return;
    }
    exact_blocks<state_type> blocks(cutter_, state);
    for (std::int64_t i = 0; i < n; i += cutter_.block) {
      add_block(blocks, first + i, second + i, detail::smaller(cutter_.block, n - i));
    }
  }

  void add_elements(state_type& state, std::int64_t first, std::int64_t n) const {
    constexpr std::int64_t most = 512;
    item buffer[most];
    exact_blocks<state_type> blocks(cutter_, state);
    for (std::int64_t i = 0; i < n; i += most) {
      const std::int64_t count = detail::smaller(most, n - i);
      fill(buffer, first + i, count);
      add_block(blocks, buffer, buffer, count);
    }
  }

  void fill(item* buffer, std::int64_t first, std::int64_t n) const {
    const auto summands = reducer_.of_summands();
    const closed_steps<std::remove_const_t<decltype(summands)>> steps{summands};
    for (std::int64_t i = 0; i < n; ++i) buffer[i] = elements_.lift(steps, first + i);
  }

  static void add_block(exact_blocks<state_type>& blocks, const item* first, const item* second,
                        std::int64_t n) {
    blocks.add(first, second, n, [=](auto& to, std::int64_t i) { add_term(to, first, second, i); });
  }

  template <class To>
  static void add_term(To& to, const item* first, const item* second, std::int64_t i) {
    if constexpr (terms::terms_are_doubles) {
      to.add(detail::term_of<item, terms::term>(first, second, i));
    } else if constexpr (terms::term == exact_term::square) {
      to.add_product_of(first[i], first[i]);
    } else {
      to.add_product_of(first[i], second[i]);
    }
  }

  const source_type& elements_;
  const reducer_type& reducer_;
  exact_cutter cutter_;
};

}  // namespace tilefold::detail::host
