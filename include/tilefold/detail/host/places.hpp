// SPDX-License-Identifier: Apache-2.0
//
// Where the least or the greatest of floats stands, with vector instructions: an array is taken as
// rows of neighbours, and each column keeps its best key and the row of that. What is found depends
// on no order. Host only.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>

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
/// greatest of floats, and no more.
template <class Source, class Reducer>
inline constexpr simd_key place_key{};
template <std::contiguous_iterator It, class R, class T>
  requires(std::same_as<T, float> || std::same_as<T, double>) &&
              std::same_as<T, std::iter_value_t<It>> && bound_reducer<R, as_is, T>::finds_places &&
              finds_first_place<T, typename bound_reducer<R, as_is, T>::accumulator>
inline constexpr simd_key place_key<source<index_iterator, It>, bound_reducer<R, as_is, T>> =
    simd_key_of<op_reducer<T, plain_op_of<typename ways<R>::of_values>, as_is>, It>;

/// The fold of ranges of one array with such a reducer, as scalar_fold.
template <class Source, class Reducer>
class place_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  place_fold(simd_places places, const Source& elements, const Reducer& reducer)
      : places_(places),
        items_(std::to_address(elements.template iterator<1>(elements))),
        scalar_(elements, reducer),
        reducer_(reducer) {}

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    const std::int64_t rows = n / width;
    if (places_ == nullptr || rows < few_rows || rows > largest<std::int32_t>) {
      return scalar_(first, n);
    }
    key keys[width];
    key places[width] = {};
    for (key& k : keys) k = accumulator::ranking::last_key;
    const void* some[rows_at_once];
    for (std::int64_t i = 0; i < rows; i += rows_at_once) {
      const std::int64_t count = detail::smaller(rows_at_once, rows - i);
      for (std::int64_t r = 0; r < count; ++r) {
        const std::int64_t row = first + (i + r) * width;
        host::prefetch_run(items_, row, width);
        some[r] = items_ + row;
      }
      places_(some, count, width, i, keys, places);
    }
    accumulator found{keys[0], first + std::int64_t{places[0]} * width};
    for (std::int64_t c = 1; c < width; ++c) {
      found = reducer_.combine(found,
                               accumulator{keys[c], first + std::int64_t{places[c]} * width + c});
    }
    const std::int64_t done = rows * width;
    return done == n ? found : reducer_.combine(found, scalar_(first + done, n - done));
  }

 private:
  using key = decltype(accumulator::key);
  using item = decltype(accumulator::ranking::value(key()));
  // Four vectors of the widest, which go down an array side by side.
  static constexpr std::int64_t width = 256 / sizeof(key);
  static constexpr std::int64_t rows_at_once = 8;
  // Fewer are not worth the end, which goes through the columns one by one.
  static constexpr std::int64_t few_rows = 8;

  simd_places places_;
  const item* items_;
  scalar_fold<Source, Reducer> scalar_;
  const Reducer& reducer_;
};

}  // namespace tilefold::detail::host

TILEFOLD_WARNINGS_BACK
