// SPDX-License-Identifier: Apache-2.0
//
// The border between verbs and executors: what an executor asks of the reducer that it is handed,
// and what is known of such a reducer. fold_executor.hpp says what a verb asks of an executor.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail {

/// A reducer that executors fold with: op_reducer and bound_reducer. Of what it has, lift() alone
/// depends on the elements: sources call it. What else may be known of it fold_traits has.
template <class R>
concept folding = requires(const R& reducer, const typename R::accumulator& value) {
  typename R::result;
  { R::commutative } -> std::convertible_to<bool>;
  // Whether a compiler could fuse across a step (detail/core/closing.hpp).
  { R::lift_may_fuse } -> std::convertible_to<bool>;
  { R::combine_may_fuse } -> std::convertible_to<bool>;
  { reducer.combine(value, value) } -> std::same_as<typename R::accumulator>;
  { reducer.project(value) } -> std::same_as<typename R::result>;
};

/// What folds may do with a reducer. What it does not say of itself is not so.
template <class R>
struct fold_traits {
  using accumulator = typename R::accumulator;

  // The result depends on no order, so folds may take any.
  static constexpr bool order_free = requires { requires R::order_free; };
  // An accumulator may make the rest of the range needless.
  static constexpr bool settles = requires { requires R::settles; };
  // neutral() may stand where an operand is missing.
  static constexpr bool has_neutral = requires { requires R::may_pad; };
  // So it does on a GPU. Conversions to floats of 8 bits saturate, so that an infinity does not
  // come through an operation with their identities.
  static constexpr bool pads = has_neutral && (integer<accumulator> || sizeof(accumulator) > 1);
  // There is a special way to join nodes of equally many elements, a power of two.
  static constexpr bool joins_equals =
      requires { requires R::commutative_among_equals && !R::commutative; };
  // The accumulator is a list of the best elements.
  static constexpr bool selects = requires { requires R::selects; };
  // Long ranges of such a reducer are folded in any order, since it pays: a tree over whole
  // accumulators would cost more than the loads of their elements, or the fold may end early.
  // Operators, which have no `counts`, are folded as fast in a tree.
  static constexpr bool folds_in_any_order = order_free && requires {
    R::counts;
    requires R::settles || R::counts || (sizeof(accumulator) > 8);
  };
};

/// Whether a reducer gives exact sums of floats or doubles.
template <class Reducer>
inline constexpr bool sums_exactly = false;
template <class Reducer>
  requires requires { Reducer::sums_exactly; }
inline constexpr bool sums_exactly<Reducer> = Reducer::sums_exactly;

/// Whether results are those of exact sums and nothing else: then they can be made of few words.
template <class Reducer, class Init>
inline constexpr bool writes_exact_sums = sums_exactly<Reducer> && std::is_same_v<Init, no_init>;

/// The blocks whose values are what a part of a sequence brings to the fold of the whole: its
/// maximal aligned blocks; or the part itself, if the order does not matter.
template <class Reducer>
struct blocks_of : tree::aligned_blocks {
  static constexpr bool one = fold_traits<Reducer>::order_free;
  static constexpr int most = one ? 1 : tree::aligned_blocks::most;

  TILEFOLD_HD constexpr int count() const {
    return one ? begin < end : tree::aligned_blocks::count();
  }
  TILEFOLD_HD constexpr std::int64_t first(int i) const {
    return one ? (i == 0 ? begin : end) : tree::aligned_blocks::first(i);
  }
  TILEFOLD_HD constexpr std::int64_t size(int i) const { return first(i + 1) - first(i); }
  TILEFOLD_HD constexpr std::int64_t size_at(std::int64_t at) const {
    return one ? end - at : tree::aligned_blocks::size_at(at);
  }
};

}  // namespace tilefold::detail
