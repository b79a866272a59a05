// SPDX-License-Identifier: Apache-2.0
//
// Trees that stand side by side, as the columns of a matrix: a block of neighbouring columns is
// folded row by row, so that memory is read in its order and the columns of a block go through
// vector registers together. Eight rows are folded to one row of values. Such rows wait on a stack,
// one a level of the tree, until their right neighbours are there. Host only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/half.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

// The element at `offset` of an iterator that is read in step with others; row `row` of its tree.
template <class It>
element_t<It> element_of_row(const It& it, std::int64_t offset, std::int64_t) {
  return detail::element(it, offset);
}
inline std::int64_t element_of_row(const index_iterator&, std::int64_t, std::int64_t row) {
  return row;
}

template <std::size_t... Index, class... Its, class Reducer>
typename Reducer::accumulator lift_of_row(
    const source_of<std::index_sequence<Index...>, Its...>& elements, const Reducer& reducer,
    std::int64_t offset, std::int64_t row) {
  return closed_steps<Reducer>{reducer}.lift(
      host::element_of_row(elements.template iterator<Index>(elements), offset, row)...);
}

/// Memory for `count` values that need not be default constructible, and are trivially copyable.
template <class T>
class value_memory {
  union slot {
    slot() {}
    T value;
  };

 public:
  explicit value_memory(std::int64_t count) : slots_(new slot[static_cast<std::size_t>(count)]) {}
  ~value_memory() { delete[] slots_; }
  value_memory(const value_memory&) = delete;
  value_memory& operator=(const value_memory&) = delete;

  T* at(std::int64_t i) const { return __builtin_addressof(slots_[i].value); }

 private:
  slot* slots_;
};

/// What tasks need beside their columns: so many tasks at once, of at most so many rows and
/// columns. All memory is there before the first result is written, so none is written if there is
/// too little.
struct column_room {
  std::int64_t tasks;
  std::int64_t rows;
  std::int64_t width;
};

/// Numbers below `count` for tasks that run at once, at most `count`.
class task_numbers {
 public:
  explicit task_numbers(std::int64_t count)
      : count_(count), taken_(new std::atomic<bool>[static_cast<std::size_t>(count)]()) {}
  ~task_numbers() { delete[] taken_; }
  task_numbers(const task_numbers&) = delete;
  task_numbers& operator=(const task_numbers&) = delete;

  /// use(number), which no other task has meanwhile.
  template <class Use>
  void lend(const Use& use) const {
    std::int64_t number = 0;
    while (taken_[number].exchange(true, std::memory_order_acquire)) number = (number + 1) % count_;
    const giving_back given{taken_[number]};
    use(number);
  }

 private:
  struct giving_back {
    std::atomic<bool>& taken;
    ~giving_back() { taken.store(false, std::memory_order_release); }
  };

  std::int64_t count_;
  std::atomic<bool>* taken_;
};

/// Rows that are folded at a time.
inline constexpr int levels_of_run = 3;
inline constexpr int rows_of_run = 1 << levels_of_run;

/// The vector folds that a mode has for the columns of a source. Those of modes that have some are
/// in vector_columns.hpp.
template <class Mode, class Source, class Reducer>
class column_vectors;

template <class Mode, class Source, class Reducer>
  requires(!Mode::has_vector_folds)
class column_vectors<Mode, Source, Reducer> {
 public:
  using accumulator = typename Reducer::accumulator;
  explicit column_vectors(const Source&) {}

  /// result[c] becomes the fold of element c of n rows, up to rows_of_run, which begin at these
  /// offsets; `later` are those of rows that will be read. Returns whether that was done.
  bool fold_rows(const std::int64_t*, const std::int64_t*, std::int64_t, std::int64_t,
                 accumulator*) const {
    return false;
  }
  /// to[c] becomes the node of left[c] and right[c]. Returns whether that was done.
  bool join(const accumulator*, const accumulator*, accumulator*, std::int64_t) const {
    return false;
  }
};

/// Folds of neighbouring columns of one source.
template <class Mode, class Source, class Reducer>
class column_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  column_fold(const Source& elements, const strided_axes& rows, const Reducer& reducer,
              const column_room& room)
      : elements_(elements),
        rows_(rows),
        reducer_(reducer),
        vectors_(elements),
        waiting_of_task_((tree::floor_log2(room.rows / run + 1) + 1) * room.width),
        waiting_(room.tasks * waiting_of_task_) {}

  /// result[c] becomes the fold of rows [first, first + n), a sequence of their own, of column c of
  /// those that start at element `origin`; n >= 1, c < width. Tasks that run at once have numbers
  /// of their own.
  void operator()(std::int64_t task, accumulator* result, std::int64_t origin, std::int64_t first,
                  std::int64_t n, std::int64_t width) const {
    const std::int64_t runs = n / run;
    accumulator* const waiting = waiting_.at(task * waiting_of_task_);
    bool any = false;
    for (std::int64_t i = 0; i < runs; ++i) {
      // Levels that end with this run; values of the last level wait for their neighbours.
      const int levels = __builtin_ctzll(~static_cast<unsigned long long>(i));
      accumulator* const to = waiting + levels * width;
      fold_run(levels == 0 ? to : result, origin, first + i * run, width);
      for (int level = 0; level < levels; ++level) {
        join(waiting + level * width, result, level + 1 == levels ? to : result, width);
      }
    }
    if (n % run != 0) {
      fold_part(result, origin, first + runs * run, n % run, width);
      any = true;
    }
    for (int level = 0; runs >> level != 0; ++level) {
      if (((runs >> level) & 1) == 0) continue;
      if (any) {
        join(waiting + level * width, result, result, width);
      } else {
        copy(waiting + level * width, result, width);
      }
      any = true;
    }
  }

 private:
  static constexpr std::int64_t run = rows_of_run;
  // A line or more of each row is asked for at a time.
  static constexpr std::int64_t columns_at_once = 32;

  struct row_offsets {
    std::int64_t of[run];
  };

  row_offsets offsets_of(std::int64_t origin, std::int64_t first, std::int64_t n) const {
    row_offsets offsets{};
    for (std::int64_t r = 0; r < n; ++r) offsets.of[r] = origin + rows_.offset(first + r);
    return offsets;
  }

  [[gnu::always_inline]] accumulator combine(const accumulator& a, const accumulator& b) const {
    return closed_steps<Reducer>{reducer_}.combine(a, b);
  }

  // to[c] becomes the node of left[c] and right[c].
  void join(const accumulator* left, const accumulator* right, accumulator* to,
            std::int64_t width) const {
    if (vectors_.join(left, right, to, width)) return;
    for (std::int64_t c = 0; c < width; ++c) {
      // A name of its own: combine() could else make its result where one of the two stands.
      const accumulator both = combine(left[c], right[c]);
      ::new (static_cast<void*>(to + c)) accumulator(both);
    }
  }
  static void copy(const accumulator* from, accumulator* to, std::int64_t width) {
    for (std::int64_t c = 0; c < width; ++c) {
      ::new (static_cast<void*>(to + c)) accumulator(from[c]);
    }
  }

  void fold_run(accumulator* result, std::int64_t origin, std::int64_t first,
                std::int64_t width) const {
    const row_offsets offsets = offsets_of(origin, first, run);
    const row_offsets later = offsets_of(origin, first + rows_ahead(width), run);
    if (vectors_.fold_rows(offsets.of, later.of, run, width, result)) return;
    for (std::int64_t c = 0; c < width; c += columns_at_once) {
      const std::int64_t end = detail::smaller(c + columns_at_once, width);
      prefetch(elements_, later, c, end);
      for (std::int64_t k = c; k < end; ++k) {
        ::new (static_cast<void*>(result + k))
            accumulator(node<levels_of_run, 0>(offsets, first, k));
      }
    }
  }

  // Asks for what a run will read some runs later. Hardware does so by itself, but not early enough
  // where rows are short, and not at all from row to row where they are long (docs/host.md).
  template <std::size_t... Index, class... Its>
  void prefetch(const source_of<std::index_sequence<Index...>, Its...>& elements,
                const row_offsets& rows, std::int64_t c, std::int64_t end) const {
    (prefetch_columns(elements.template iterator<Index>(elements), rows, c, end), ...);
  }
  template <class It>
  static void prefetch_columns(const It& it, const row_offsets& rows, std::int64_t c,
                               std::int64_t end) {
    if constexpr (std::contiguous_iterator<It>) {
      constexpr auto size = static_cast<std::int64_t>(sizeof(std::iter_value_t<It>));
      // May point past the array, harmlessly; so it must not be formed as a pointer into it.
      const auto base = reinterpret_cast<std::uintptr_t>(std::to_address(it));
      for (const std::int64_t row : rows.of) {
        for (std::int64_t byte = 0; byte < (end - c) * size; byte += 64) {
          __builtin_prefetch(reinterpret_cast<const void*>(
              base + static_cast<std::uintptr_t>((row + c) * size + byte)));
        }
      }
    }
  }

  // A whole number of runs, 8 KiB or more.
  static std::int64_t rows_ahead(std::int64_t width) {
    const std::int64_t bytes = run * width * static_cast<std::int64_t>(sizeof(accumulator));
    return tree::num_blocks(8192, bytes) * run;
  }

  // The node of `Level` whose first row is number R of the offsets.
  template <int Level, int R>
  [[gnu::always_inline]] accumulator node(const row_offsets& offsets, std::int64_t first,
                                          std::int64_t c) const {
    if constexpr (Level == 0) {
      return host::lift_of_row(elements_, reducer_, offsets.of[R] + c, first + R);
    } else {
      const accumulator left = node<Level - 1, R>(offsets, first, c);
      return combine(left, node<Level - 1, R + (1 << (Level - 1))>(offsets, first, c));
    }
  }

  // Fewer rows than a run has.
  void fold_part(accumulator* result, std::int64_t origin, std::int64_t first, std::int64_t n,
                 std::int64_t width) const {
    const row_offsets offsets = offsets_of(origin, first, n);
    if (vectors_.fold_rows(offsets.of, offsets.of, n, width, result)) return;
    for (std::int64_t c = 0; c < width; ++c) {
      ::new (static_cast<void*>(result + c))
          accumulator(part<levels_of_run, 0>(offsets, first, c, n));
    }
  }
  template <int Level, int R>
  accumulator part(const row_offsets& offsets, std::int64_t first, std::int64_t c,
                   std::int64_t n) const {
    if constexpr (Level == 0) {
      return node<0, R>(offsets, first, c);
    } else {
      constexpr int half = 1 << (Level - 1);
      const accumulator left = part<Level - 1, R>(offsets, first, c, n);
      if (n <= R + half) return left;
      return combine(left, part<Level - 1, R + half>(offsets, first, c, n));
    }
  }

  const Source& elements_;
  const strided_axes& rows_;
  const Reducer& reducer_;
  column_vectors<Mode, Source, Reducer> vectors_;
  std::int64_t waiting_of_task_;
  value_memory<accumulator> waiting_;
};

/// Columns of means, as column_fold: sums, for the count is known.
template <class Mode, class Source, class Reducer>
class mean_column_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  mean_column_fold(const Source& elements, const strided_axes& rows, const Reducer&,
                   const column_room& room)
      : fold_(elements, rows, sum_, room), width_(room.width), sums_(room.tasks * room.width) {}

  void operator()(std::int64_t task, accumulator* result, std::int64_t origin, std::int64_t first,
                  std::int64_t n, std::int64_t width) const {
    double* const sums = sums_.at(task * width_);
    fold_(task, sums, origin, first, n, width);
    for (std::int64_t c = 0; c < width; ++c) {
      ::new (static_cast<void*>(result + c)) accumulator{static_cast<double>(n), sums[c]};
    }
  }

 private:
  using sum = op_reducer<double, plus, as_is>;
  static constexpr sum sum_{};
  column_fold<Mode, Source, sum> fold_;
  std::int64_t width_;
  value_memory<double> sums_;
};

/// Columns of an exact sum, as column_fold: what rows bring to it is gathered column by column, and
/// added in blocks.
template <class Source, class Reducer>
class exact_column_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  exact_column_fold(const Source& elements, const strided_axes& rows, const Reducer& reducer,
                    const column_room&)
      : elements_(elements), rows_(rows), reducer_(reducer) {}

  void operator()(std::int64_t, accumulator* result, std::int64_t origin, std::int64_t first,
                  std::int64_t n, std::int64_t width) const {
    for (std::int64_t c = 0; c < width; c += at_once) {
      fold_some(result + c, origin + c, first, n, detail::smaller(at_once, width - c));
    }
  }

 private:
  using sum = exact_sum_of_terms<Reducer>;
  using term = typename sum::term;
  // Whole lines of each row; the terms stay in the first-level cache.
  static constexpr std::int64_t at_once = 16;
  static constexpr std::int64_t rows_at_once = 128;

  void fold_some(accumulator* result, std::int64_t origin, std::int64_t first, std::int64_t n,
                 std::int64_t width) const {
    sum sums[at_once];
    term terms[at_once][rows_at_once];
    const auto summands = reducer_.of_summands();
    for (std::int64_t i = 0; i < n; i += rows_at_once) {
      const std::int64_t count = detail::smaller(rows_at_once, n - i);
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t row = first + i + k;
        const std::int64_t offset = origin + rows_.offset(row);
        for (std::int64_t c = 0; c < width; ++c) {
          terms[c][k] = host::lift_of_row(elements_, summands, offset + c, row);
        }
      }
      for (std::int64_t c = 0; c < width; ++c) sums[c].add(terms[c], count);
    }
    for (std::int64_t c = 0; c < width; ++c) {
      ::new (static_cast<void*>(result + c)) accumulator(sums[c].total(n));
    }
  }

  const Source& elements_;
  const strided_axes& rows_;
  const Reducer& reducer_;
};

/// Columns that are folded by `Hopeful` without a look at a range, and once more if there is one
/// that leaves it.
template <class Mode, class Source, class Reducer, class Hopeful>
class range_column_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  range_column_fold(const Source& elements, const strided_axes& rows, const Reducer& reducer,
                    const column_room& room)
      : hope_{reducer},
        fold_(elements, rows, hope_, room),
        otherwise_(elements, rows, reducer, room) {}

  void operator()(std::int64_t task, accumulator* result, std::int64_t origin, std::int64_t first,
                  std::int64_t n, std::int64_t width) const {
    fold_(task, result, origin, first, n, width);
    for (std::int64_t c = 0; c < width; ++c) {
      if (Reducer::is_in_range(result[c])) continue;
      otherwise_(task, result, origin, first, n, width);
      return;
    }
  }

 private:
  in_range<Reducer> hope_;
  Hopeful fold_;
  column_fold<Mode, Source, Reducer> otherwise_;
};

/// Whether a reducer is the mean of numbers as they lie in memory.
template <class Source, class Reducer>
inline constexpr bool is_mean_of_items = false;
template <class It, class R, class T>
inline constexpr bool is_mean_of_items<source<It>, bound_reducer<R, as_is, T>> =
    statistic_of<R> == block_statistic::mean && number<T>;

/// The fold of columns that are no exact sums and no means. Reducer is `For`, or does not look at a
/// range where that does. Modes with vector folds have theirs in vector_columns.hpp.
template <class Mode, class Source, class For, class Reducer>
struct general_column_fold;
template <class Mode, class Source, class For, class Reducer>
  requires(!Mode::has_vector_folds)
struct general_column_fold<Mode, Source, For, Reducer> {
  using type = column_fold<Mode, Source, Reducer>;
};

template <class Mode, class Source, class For, class Reducer>
using inexact_column_fold =
    std::conditional_t<is_mean_of_items<Source, For>, mean_column_fold<Mode, Source, For>,
                       typename general_column_fold<Mode, Source, For, Reducer>::type>;

template <class Mode, class Source, class Reducer>
struct column_fold_for {
  using type = std::conditional_t<sums_exactly<Reducer>, exact_column_fold<Source, Reducer>,
                                  inexact_column_fold<Mode, Source, Reducer, Reducer>>;
};
template <class Mode, class Source, looks_at_range Reducer>
struct column_fold_for<Mode, Source, Reducer> {
  using type = range_column_fold<Mode, Source, Reducer,
                                 inexact_column_fold<Mode, Source, Reducer, in_range<Reducer>>>;
};

/// Folds values that are accumulators already.
template <class Reducer>
struct values_reducer : Reducer {
  static constexpr bool lift_may_fuse = false;
  const typename Reducer::accumulator& lift_across(
      const border&, const typename Reducer::accumulator& value) const {
    return value;
  }
};

/// Whether trees of a forest stand side by side.
template <class Source>
bool has_neighbours(const column_forest<Source>& forest) {
  return forest.columns.inner_stride() == 1 && forest.columns.inner_extent() > 1;
}

/// Whether every tree of a forest lies in a row; and the same forest as that of segments.
template <class Source>
bool has_contiguous_trees(const column_forest<Source>& forest) {
  return forest.rows.rank == 1 && forest.rows.stride[0] == 1;
}
template <class Source>
auto as_segments(const column_forest<Source>& forest) {
  return segment_forest{forest.source, strided_offsets{forest.columns, 0},
                        strided_offsets{forest.columns, forest.rows.size()}, forest.columns.size()};
}

/// How the columns of a forest are cut into tasks: blocks of at most `width` neighbours, and rows
/// into aligned blocks where there are too few of those.
struct column_tasks {
  std::int64_t inner;  // columns that are neighbours
  std::int64_t width;
  std::int64_t blocks;      // of columns, among `inner`
  std::int64_t all_blocks;  // among all columns
  std::int64_t block_rows;
  std::int64_t row_blocks;

  column_tasks(const strided_axes& columns, std::int64_t rows, std::int64_t bytes, int threads)
      : inner(columns.inner_extent()),
        width(detail::smaller(inner, detail::larger(block_bytes / bytes, std::int64_t{16}))),
        blocks(tree::num_blocks(inner, width)),
        all_blocks(columns.size() / inner * blocks),
        block_rows(rows),
        row_blocks(1) {
    if (threads == 1 || all_blocks >= 4 * threads) return;
    block_rows = 16;
    while (block_rows * width * bytes < task_bytes ||
           all_blocks * tree::num_blocks(rows, block_rows) > tasks_per_thread * threads) {
      block_rows *= 2;
    }
    row_blocks = tree::num_blocks(rows, block_rows);
  }

  std::int64_t first_column(std::int64_t block) const {
    return block / blocks * inner + block % blocks * width;
  }
  std::int64_t width_of(std::int64_t block) const {
    return detail::smaller(width, inner - block % blocks * width);
  }

 private:
  // Long enough that rows are read as streams, and pages are not left at once; short enough that
  // the values that wait stay in the second-level cache.
  static constexpr std::int64_t block_bytes = std::int64_t{1} << 14;
  // What is worth a task (docs/host.md).
  static constexpr std::int64_t task_bytes = std::int64_t{1} << 17;
  // Enough for every thread to find work to the end; the values of each are written and read again.
  static constexpr std::int64_t tasks_per_thread = 8;
};

/// Calls keep(i, fold of tree i) for every tree of a forest that has_neighbours().
template <class Mode, class Source, class Reducer, class Keep>
void fold_neighbours(const Mode& mode, const column_forest<Source>& forest, const Reducer& reducer,
                     const Keep& keep) {
  using accumulator = typename Reducer::accumulator;
  const std::int64_t rows = forest.rows.size();
  const column_tasks tasks(forest.columns, rows, sizeof(accumulator), mode.threads());
  const std::int64_t most = tasks.all_blocks * tasks.row_blocks;
  const column_room room{detail::smaller(static_cast<std::int64_t>(mode.threads()), most),
                         tasks.block_rows, tasks.width};
  const task_numbers numbers(room.tasks);
  const value_memory<accumulator> values(room.tasks * room.width);
  const typename column_fold_for<Mode, Source, Reducer>::type fold(forest.source, forest.rows,
                                                                   reducer, room);
  const auto keep_all = [&](const accumulator* of_block, std::int64_t block) {
    const std::int64_t first = tasks.first_column(block);
    for (std::int64_t c = 0; c < tasks.width_of(block); ++c) keep(first + c, of_block[c]);
  };
  const auto origin = [&](std::int64_t block) {
    return forest.columns.offset(tasks.first_column(block));
  };
  if (tasks.row_blocks == 1) {
    mode.for_each(tasks.all_blocks, [&](std::int64_t block) {
      numbers.lend([&](std::int64_t number) {
        accumulator* const folded = values.at(number * room.width);
        fold(number, folded, origin(block), 0, rows, tasks.width_of(block));
        keep_all(folded, block);
      });
    });
    return;
  }
  // The values of a block of columns stand row block by row block.
  const std::int64_t values_of_block = tasks.row_blocks * tasks.width;
  const value_memory<accumulator> partials(tasks.all_blocks * values_of_block);
  mode.for_each(most, [&](std::int64_t task) {
    const std::int64_t block = task % tasks.all_blocks;
    const std::int64_t first = task / tasks.all_blocks * tasks.block_rows;
    accumulator* const folded =
        partials.at(block * values_of_block + task / tasks.all_blocks * tasks.width);
    numbers.lend([&](std::int64_t number) {
      fold(number, folded, origin(block), first, detail::smaller(tasks.block_rows, rows - first),
           tasks.width_of(block));
    });
  });
  const source<const accumulator*> values_source{{partials.at(0)}};
  const strided_axes values_rows{1, {tasks.row_blocks}, {tasks.width}};
  const values_reducer<Reducer> values_fold{reducer};
  const column_fold<Mode, source<const accumulator*>, values_reducer<Reducer>> finish(
      values_source, values_rows, values_fold,
      column_room{room.tasks, tasks.row_blocks, tasks.width});
  mode.for_each(tasks.all_blocks, [&](std::int64_t block) {
    numbers.lend([&](std::int64_t number) {
      accumulator* const folded = values.at(number * room.width);
      finish(number, folded, block * values_of_block, 0, tasks.row_blocks, tasks.width_of(block));
      keep_all(folded, block);
    });
  });
}

/// Calls keep(i, fold of tree i) or, for an empty tree, none(i), for every tree of a forest of
/// columns, in blocks of neighbours if it has some.
template <class Mode, class Forest, class Reducer, class Keep, class Empty>
void fold_columns(const Mode& mode, const Forest& forest, const Reducer& reducer, const Keep& keep,
                  const Empty& none) {
  if constexpr (std::is_trivially_copyable_v<typename Reducer::accumulator>) {
    if (host::has_neighbours(forest)) {
      host::fold_neighbours(mode, forest, reducer, keep);
      return;
    }
  }
  if (host::has_contiguous_trees(forest)) {
    mode.fold_forest(host::as_segments(forest), reducer, keep, none);
  } else {
    mode.fold_forest(forest, reducer, keep, none);
  }
}

}  // namespace tilefold::detail::host

#if defined(TILEFOLD_HOST_LIBRARY)
#include <tilefold/detail/host/vector_columns.hpp>
#endif
