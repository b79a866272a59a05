// SPDX-License-Identifier: Apache-2.0
//
// Neighbouring columns by the vector folds of the library tilefold::host, for modes that have some
// (simd.hpp). columns.hpp includes this file where the library is linked, and folds by it what
// these folds do not know. Host only.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/host/columns.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/detail/host/places.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

static_assert(levels_of_run == simd_columns::levels_of_run &&
              rows_of_run == simd_columns::rows_of_run);

/// What to ask find_simd_columns() for a reducer over a source.
template <class Source, class Reducer>
inline constexpr simd_key columns_key{};
template <class It, class Reducer>
inline constexpr simd_key columns_key<source<It>, Reducer> = range_key_of<Reducer, It>;
template <knows_array It, class Reducer>
inline constexpr simd_key columns_key<source<It>, Reducer> =
    range_key_of<typename of_stored<Reducer>::type, const std::iter_value_t<It>*>;
template <class Acc, class Op, class Closing>
inline constexpr simd_key
    columns_key<source<const Acc*>, values_reducer<op_reducer<Acc, Op, Closing>>> =
        simd_key_of<op_reducer<Acc, Op, as_is>, const Acc*>;
// Of whether some, or all, items are true, the values are such items.
template <template <class> class Question, class Closing, class T>
inline constexpr simd_key
    columns_key<source<const bool*>, values_reducer<bound_reducer<Question<truth>, Closing, T>>> =
        range_key_of<bound_reducer<Question<truth>, as_is, bool>, const bool*>;

/// As the vectors of a mode that has none; without a fold where the library knows none.
template <class Mode, class Source, class Reducer>
  requires Mode::has_vector_folds
class column_vectors<Mode, Source, Reducer> {
  static constexpr simd_key key = columns_key<Source, Reducer>;
  using accumulator = typename Reducer::accumulator;

 public:
  explicit column_vectors(const Source& elements)
      : array_(item_array::of<key>(elements.template iterator<0>(elements))) {
    if (worth_asking(array_.key)) simd_ = Mode::columns_of(array_.key);
  }

  bool fold_rows(const std::int64_t* offsets, const std::int64_t* later, std::int64_t n,
                 std::int64_t width, accumulator* result) const {
    if constexpr (worth_asking(key)) {
      if (simd_.fold_rows == nullptr) return false;
      const void* rows[rows_of_run];
      std::uintptr_t rows_later[rows_of_run];
      for (std::int64_t r = 0; r < n; ++r) rows[r] = array_.at(offsets[r]);
      for (std::int64_t r = 0; r < rows_of_run; ++r) rows_later[r] = array_.address_of(later[r]);
      simd_.fold_rows(rows, rows_later, n, width, result);
      return true;
    }
    return false;
  }

  bool join(const accumulator* left, const accumulator* right, accumulator* to,
            std::int64_t width) const {
    if constexpr (worth_asking(key)) {
      if (simd_.join == nullptr) return false;
      simd_.join(left, right, to, width);
      return true;
    }
    return false;
  }

 private:
  item_array array_;
  simd_columns simd_{};
};

/// Columns of what a variance keeps, as column_fold; T is the type of items that are read. Counts
/// are the same for all columns, so vectors hold sums, or squared deviations, of neighbours.
template <class Mode, class Source, class Reducer, class T>
class deviation_column_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  deviation_column_fold(const Source& elements, const strided_axes& rows, const Reducer& reducer,
                        const column_room& room)
      : rows_(rows),
        otherwise_(elements, rows, reducer, room),
        array_(item_array::of<key>(elements.template iterator<0>(elements))),
        simd_(worth_asking(array_.key) ? Mode::deviations_of(array_.key) : simd_deviations{}),
        levels_(tree::floor_log2(room.rows / run + 1) + 1),
        of_task_((levels_ + 1) * 2 * room.width),
        nodes_(room.tasks * of_task_) {}

  void operator()(std::int64_t task, accumulator* result, std::int64_t origin, std::int64_t first,
                  std::int64_t n, std::int64_t width) const {
    if (simd_.join == nullptr) {
      otherwise_(task, result, origin, first, n, width);
      return;
    }
    // One node waits a level, as in column_fold; the last one is at work.
    const auto node_at = [nodes = nodes_.at(task * of_task_), width](std::int64_t level) {
      return nodes + level * 2 * width;
    };
    double* const node = node_at(levels_);
    const std::int64_t runs = n / run;
    for (std::int64_t i = 0; i < runs; ++i) {
      const int levels = __builtin_ctzll(~static_cast<unsigned long long>(i));
      double* const to = node_at(levels);
      fold_rows(origin, first + i * run, run, width, levels == 0 ? to : node);
      for (int level = 0; level < levels; ++level) {
        simd_.join(node_at(level), run << level, node, run << level, width,
                   level + 1 == levels ? to : node);
      }
    }
    const double* found = nullptr;
    std::int64_t count = n % run;
    if (count != 0) {
      fold_rows(origin, first + runs * run, count, width, node);
      found = node;
    }
    for (int level = 0; runs >> level != 0; ++level) {
      if (((runs >> level) & 1) == 0) continue;
      if (found == nullptr) {
        found = node_at(level);
      } else {
        simd_.join(node_at(level), run << level, found, count, width, node);
        found = node;
      }
      count += run << level;
    }
    for (std::int64_t c = 0; c < width; ++c) {
      ::new (static_cast<void*>(result + c))
          accumulator{static_cast<double>(n), found[c], found[width + c]};
    }
  }

 private:
  static constexpr std::int64_t run = rows_of_run;
  // Of the fold only the type of the items is asked for.
  static constexpr simd_key key{simd_op::counted_sum, simd_type_of<T>(), simd_type::float64};

  void fold_rows(std::int64_t origin, std::int64_t first, std::int64_t n, std::int64_t width,
                 double* node) const {
    const void* rows[run];
    for (std::int64_t r = 0; r < n; ++r) rows[r] = array_.at(origin + rows_.offset(first + r));
    simd_.fold_rows(rows, n, width, node);
  }

  const strided_axes& rows_;
  column_fold<Mode, Source, Reducer> otherwise_;
  item_array array_;
  simd_deviations simd_;
  std::int64_t levels_;
  std::int64_t of_task_;
  value_memory<double> nodes_;
};

/// Columns of first places of the least or the greatest of numbers, as column_fold.
template <class Mode, class Source, class Reducer>
class place_column_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  place_column_fold(const Source& elements, const strided_axes& rows, const Reducer& reducer,
                    const column_room& room)
      : rows_(rows),
        otherwise_(elements, rows, reducer, room),
        array_(item_array::of<place_key<Source, Reducer>>(elements.template iterator<1>(elements))),
        places_(worth_asking(array_.key) ? Mode::places_of(array_.key) : nullptr),
        width_(room.width),
        found_(room.tasks * 2 * room.width) {}

  void operator()(std::int64_t task, accumulator* result, std::int64_t origin, std::int64_t first,
                  std::int64_t n, std::int64_t width) const {
    if (places_ == nullptr || n > largest<std::int32_t>) {
      otherwise_(task, result, origin, first, n, width);
      return;
    }
    key* const keys = found_.at(task * 2 * width_);
    key* const places = keys + width_;
    for (std::int64_t c = 0; c < width; ++c) {
      ::new (static_cast<void*>(keys + c)) key(accumulator::ranking::last_key);
      ::new (static_cast<void*>(places + c)) key(0);
    }
    const void* some[rows_at_once];
    for (std::int64_t i = 0; i < n; i += rows_at_once) {
      const std::int64_t count = detail::smaller(rows_at_once, n - i);
      for (std::int64_t r = 0; r < count; ++r) {
        some[r] = array_.at(origin + rows_.offset(first + i + r));
      }
      places_(some, count, width, i, keys, places);
    }
    for (std::int64_t c = 0; c < width; ++c) {
      ::new (static_cast<void*>(result + c))
          accumulator{keys[c], first + static_cast<std::int64_t>(places[c])};
    }
  }

 private:
  using key = decltype(accumulator::key);
  static constexpr std::int64_t rows_at_once = 8;

  const strided_axes& rows_;
  column_fold<Mode, Source, Reducer> otherwise_;
  item_array array_;
  simd_places places_;
  std::int64_t width_;
  value_memory<key> found_;
};

/// The type of items in an array of whose columns a reducer keeps what a variance does; else void.
template <class Source, class Reducer>
struct deviations_of_items {
  using type = void;
};
template <class It, class R, class Lift, number T>
  requires(reads_array<It> && statistic_of<R> == block_statistic::moments &&
           (std::same_as<Lift, as_is> || std::same_as<Lift, as_computed>))
struct deviations_of_items<source<It>, bound_reducer<R, Lift, T>> {
  using type = std::iter_value_t<It>;
};

template <class Mode, class Source, class For, class Reducer>
  requires Mode::has_vector_folds
struct general_column_fold<Mode, Source, For, Reducer> {
  using items = typename deviations_of_items<Source, For>::type;
  using type = std::conditional_t<!std::is_void_v<items>,
                                  deviation_column_fold<Mode, Source, Reducer, items>,
                                  std::conditional_t<worth_asking(place_key<Source, Reducer>),
                                                     place_column_fold<Mode, Source, Reducer>,
                                                     column_fold<Mode, Source, Reducer>>>;
};

}  // namespace tilefold::detail::host
