// SPDX-License-Identifier: Apache-2.0
//
// Where the least or the greatest of numbers stands, with vector instructions: of the blocks of an
// array the best value is found, and then its first place in the first block that has it. What is
// found depends on no order. Host only.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/op.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail::host {

/// Whether an accumulator is one place of an item of T, and the first of equal ones counts.
template <class T, class Acc>
concept finds_first_place = requires(const Acc& found) {
  requires Acc::ranking::first_counts;
  requires std::same_as<decltype(Acc::ranking::value(found.key)), T>;
  requires sizeof(found.key) == sizeof(T);
};

/// What to ask find_simd_places() for a reducer that finds the first place of the least or the
/// greatest of numbers of 4 or 8 bytes in columns, and no more.
template <class Source, class Reducer>
inline constexpr simd_key place_key{};
template <std::contiguous_iterator It, class R, class T>
  requires number<T> &&
               (sizeof(T) == 4 || sizeof(T) == 8) && std::same_as<T, std::iter_value_t<It>> &&
               bound_reducer<R, as_is, T>::finds_places
               && finds_first_place<T, typename bound_reducer<R, as_is, T>::accumulator>
inline constexpr simd_key place_key<source<index_iterator, It>, bound_reducer<R, as_is, T>> =
    simd_key_of<op_reducer<T, plain_op_of<typename ways<R>::of_values>, as_is>, It>;
template <knows_array It, class R, class Closing, class T>
inline constexpr simd_key place_key<source<index_iterator, It>, bound_reducer<R, Closing, T>> =
    place_key<source<index_iterator, const T*>, bound_reducer<R, as_is, T>>;

/// The operator whose result's first place is looked for.
constexpr simd_op first_of(simd_op op) {
  switch (op) {
    case simd_op::minimum:
      return simd_op::first_minimum;
    case simd_op::maximum:
      return simd_op::first_maximum;
    case simd_op::minimum_number:
      return simd_op::first_minimum_number;
    case simd_op::maximum_number:
      return simd_op::first_maximum_number;
    default:
      return simd_op::none;
  }
}

/// What to ask find_simd_fold() for a reducer that finds the first place of the least or the
/// greatest of numbers in an array, and no more.
template <class Source, class Reducer>
inline constexpr simd_key first_place_key{};
template <std::contiguous_iterator It, class R, class T>
  requires number<T> && std::same_as<T, std::iter_value_t<It>> &&
               bound_reducer<R, as_is, T>::finds_places &&
               finds_first_place<T, typename bound_reducer<R, as_is, T>::accumulator>
inline constexpr simd_key first_place_key<source<index_iterator, It>, bound_reducer<R, as_is, T>> =
    {first_of(simd_op_of<plain_op_of<typename ways<R>::of_values>>), simd_type_of<T>(),
     simd_type_of<T>()};

/// The fold of ranges of one array with such a reducer, as scalar_fold.
template <class Source, class Reducer>
class place_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  place_fold(simd_fold fold, const Source& elements, const Reducer& reducer)
      : fold_(fold),
        items_(std::to_address(elements.template iterator<1>(elements))),
        scalar_(elements, reducer) {}

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    if (fold_ == nullptr || n < few) return scalar_(first, n);
    accumulator found;
    fold_(items_ + first, nullptr, n, &found);
    found.index += first;
    return found;
  }

 private:
  using item = decltype(accumulator::ranking::value(decltype(accumulator::key)()));
  // Fewer are not worth the call.
  static constexpr std::int64_t few = 32;

  simd_fold fold_;
  const item* items_;
  scalar_fold<Source, Reducer> scalar_;
};

}  // namespace tilefold::detail::host

TILEFOLD_WARNINGS_BACK
