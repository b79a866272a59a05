// SPDX-License-Identifier: Apache-2.0
//
// The folds of the C interface. One function folds a job of any shape (a range, segments by offsets
// or of one length, axes), so that an operation is compiled once for a type of items, not once for
// each verb. Items of the less usual types are read through one iterator that asks for their dtype.
//
// The sources with the operations are compiled twice in a library with CUDA: as C++ for the host
// executor, and by nvcc for the CUDA executor.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#include <tilefold/detail/forest_verb.hpp>
#include <tilefold/detail/host/columns.hpp>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>

#if defined(__CUDACC__)
#include <tilefold/cuda.cuh>
#include <tilefold/detail/cuda/sched/launch_columns.cuh>
#include <tilefold/detail/cuda/sched/launch_forest.cuh>
#endif

#include "job.hpp"
#include "piece.hpp"
#include "types.hpp"

namespace tilefold::capi {

namespace r = reducers;

/// The executor that this unit is compiled for.
#if defined(__CUDACC__)
using executor_here = cuda_executor;
#else
using executor_here = host_executor;
#endif

/// Stands for a reducer that is made without arguments.
template <class R>
struct plain {
  R operator()() const { return R{}; }
};

/// Operations and items whose rows of one length have kernels of their own on a GPU: those that
/// networks ask for. Each takes some seconds to compile.
template <op Which, class It>
inline constexpr bool has_rows = false;
template <op Which, class T>
inline constexpr bool has_rows<Which, const T*> =
    (Which == op::sum || Which == op::mean || Which == op::logsumexp ||
     Which == op::softmax_pair) &&
    (std::is_same_v<T, float> || is_narrow_float<T>);

#if defined(__CUDACC__)
/// Where results of two operations go that are folded alike: a First or a Second, made of the
/// fold's Result. Which one is known when a program runs, so that the two share kernels.
template <class First, class Second, class Result>
class either_output {
 public:
  using value_type = Result;
  using difference_type = std::int64_t;

  class place {
   public:
    TILEFOLD_HD place(char* at, bool second) : at_(at), second_(second) {}
    TILEFOLD_HD void operator=(const Result& result) const {
      if (second_) {
        *reinterpret_cast<Second*>(at_) = Second(result);
      } else {
        *reinterpret_cast<First*>(at_) = First(result);
      }
    }

   private:
    char* at_;
    bool second_;
  };

  either_output(void* results, bool second) : at_(static_cast<char*>(results)), second_(second) {}

  TILEFOLD_HD place operator*() const { return {at_, second_}; }
  TILEFOLD_HD friend either_output operator+(either_output out, std::int64_t n) {
    out.at_ += n * static_cast<std::int64_t>(out.second_ ? sizeof(Second) : sizeof(First));
    return out;
  }
  char* get() const { return at_; }

 private:
  char* at_;
  bool second_;
};

template <class First, class Second, bool IsSecond, class Result = First>
struct output_of_either {
  using type = either_output<First, Second, Result>;
  static type at(void* results) { return {results, IsSecond}; }
};
#endif

/// What results of type Out are written through.
template <class Out>
struct output_of {
  using type = Out*;
  static type at(void* results) { return static_cast<Out*>(results); }
};

/// Folds a job with what Make makes for an operation; its results are of type Out.
template <op Which, class It, class Out, class Make, class Exec>
void fold_job(Exec& exec, const job& call) {
  const auto bound =
      detail::bind<void, It>(detail::init_and_op{detail::no_init{}, Make{}()}, detail::as_is{});
  const auto items = bound.source(detail::unless_empty{exec, call.reads_items, "items"},
                                  capi::items_of<It>(call.items, call.type));
  const auto empty = bound.empty("reduce");
  using out_type = typename output_of<Out>::type;
  const out_type results = output_of<Out>::at(call.results);
  using policy = detail::default_policy;
#if defined(__CUDACC__)
  // On a GPU a long range has kernels of its own.
  if (call.is_range && call.offsets.step > 0) {
    if constexpr (!std::is_pointer_v<out_type>) {  // at a pointer it looks by itself
      (void)exec.readable(static_cast<const char*>(call.results), "out");
    }
    exec.template fold_into<policy>(items, bound.reducer, bound.start, call.offsets.step, results);
    return;
  }
  if constexpr (has_rows<Which, It>) {
    if (!call.by_columns && call.offsets.bits == 0 && call.offsets.step > 0) {
      exec.template fold_forest<policy>(
          detail::make_equal_forest(items, call.segments, call.offsets.step), call.segments,
          bound.reducer, bound.start, empty,
          detail::stepped_output<out_type>{results, call.plan.out.inner_stride()});
      return;
    }
  }
#else
  static_assert(detail::host::writes_apart<out_type>, "else the host takes one thread");
#endif
  if (call.by_columns) {
    const detail::column_forest<std::remove_const_t<decltype(items)>> columns{
        items, call.plan.columns, call.plan.rows};
    exec.template fold_columns<policy>(columns, bound.reducer, bound.start, empty,
                                       detail::strided_output<out_type>{results, call.plan.out});
  } else {
    detail::for_each_line(call.plan.out, results, [&](std::int64_t n, const auto& out) {
      exec.template fold_forest<policy>(detail::make_offsets_forest(items, call.offsets, n), n,
                                        bound.reducer, bound.start, empty, out);
    });
  }
}

constexpr bool is_deviation(op which) {
  return which == op::variance || which == op::population_variance ||
         which == op::standard_deviation || which == op::population_standard_deviation;
}

/// What an operation is for items of a dtype.
template <class Exec>
struct basic_kernel {
  op which;
  dtype items;
  dtype result;
  std::int8_t count;  // of numbers that a result has
  bool has_empty;     // whether a range of nothing has a result; a segment always has
  std::int64_t accumulator_bytes;
  void (*fold)(Exec&, const job&);
  const piece_kind* pieces;  // of the host's kernels
  bool reads_by_pointer;     // its items, which are of the dtype then
};

// What results look like in memory.
template <class T>
struct result_traits {
  static constexpr dtype type = dtype_of<T>;
  static constexpr int count = 1;
};
template <int Count>
struct doubles {
  static constexpr dtype type = dtype::float64;
  static constexpr int count = Count;
};
template <class T>
struct result_traits<r::extremes<T>> {
  static constexpr dtype type = dtype_of<T>;
  static constexpr int count = 2;
};

/// All kernels of an executor, by operation and dtype of the items.
template <class Exec>
class basic_table {
 public:
  static constexpr bool on_host = std::is_same_v<Exec, host_executor>;
  using kernel = basic_kernel<Exec>;

  const kernel* find(op which, dtype items) const {
    const kernel& row = rows_[static_cast<int>(which)][static_cast<int>(items)];
    return row.fold == nullptr ? nullptr : &row;
  }

  /// `result` names what Out is in memory.
  template <op Which, class It, class Out, class Make>
  void add(dtype items, bool has_empty, dtype result = result_traits<Out>::type) {
    using reducer = decltype(Make{}());
    using accumulator =
        typename detail::fold_types<void, reducer, detail::as_is, detail::no_init, It>::accumulator;
    kernel& row = rows_[static_cast<int>(Which)][static_cast<int>(items)];
    row.which = Which;
    row.items = items;
    row.result = result;
    row.count = result_traits<Out>::count;
    row.has_empty = has_empty;
    row.accumulator_bytes = static_cast<std::int64_t>(sizeof(accumulator));
    row.fold = &fold_job<Which, It, Out, Make, Exec>;
    row.reads_by_pointer = std::is_pointer_v<It>;
    if constexpr (on_host && Which != op::statistics) {
      row.pieces = &piece_of<Which, It, Out, Make>::kind();
    }
  }

  /// Of items of each type T, with results of type Out<T>.
  template <op Which, class Make, template <class> class Out, class... T>
  void add_typed(bool has_empty = true) {
    (add<Which, const T*, Out<T>, Make>(dtype_of<T>, has_empty), ...);
  }

  /// Gives `as` the kernels of `of` for items of these dtypes.
  void add_alias(op as, op of, std::initializer_list<dtype> items) {
    for (const dtype type : items) {
      kernel& row = rows_[static_cast<int>(as)][static_cast<int>(type)];
      row = rows_[static_cast<int>(of)][static_cast<int>(type)];
      row.which = as;
    }
  }

  /// Of items of these dtypes, read as Wide.
  template <op Which, class Make, class Wide, class Out>
  void add_any(std::initializer_list<dtype> items, bool has_empty = true) {
    for (const dtype type : items) add<Which, any_items<Wide>, Out, Make>(type, has_empty);
  }

  /// Gives `as` the function of `of` for items of a dtype: their results are the same.
  void share_fold(op as, op of, dtype items) {
    rows_[static_cast<int>(as)][static_cast<int>(items)].fold =
        rows_[static_cast<int>(of)][static_cast<int>(items)].fold;
  }

  /// Of items of all real dtypes, as statistics are made: integers as int64 or uint64. On the host
  /// deviations read them as doubles, which they would become, for vectors to fold.
  template <op Which, class Make, class Out>
  void add_real(bool has_empty) {
    constexpr bool in_double = on_host && is_deviation(Which);
    using wide = std::conditional_t<in_double, double, std::int64_t>;
    using unsigned_items = std::conditional_t<in_double, any_items<double>, const std::uint64_t*>;
    add_any<Which, Make, wide, Out>({dtype::int8, dtype::int16, dtype::int32, dtype::int64,
                                     dtype::uint8, dtype::uint16, dtype::uint32, dtype::boolean},
                                    has_empty);
    add<Which, unsigned_items, Out, Make>(dtype::uint64, has_empty);
    add<Which, const half*, Out, Make>(dtype::float16, has_empty);
    add<Which, const bfloat16*, Out, Make>(dtype::bfloat16, has_empty);
    add<Which, const float*, Out, Make>(dtype::float32, has_empty);
    add<Which, const double*, Out, Make>(dtype::float64, has_empty);
  }

 private:
  kernel rows_[num_ops][num_dtypes]{};
};

using table = basic_table<executor_here>;

template <class T>
using itself = T;

/// Integers whose sums and products have 64 bits, but for sum32 and product32.
inline constexpr std::initializer_list<dtype> narrow_integers = {
    dtype::int8, dtype::int16, dtype::int32, dtype::uint8, dtype::uint16, dtype::uint32};

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// One in each source.
void add_sums(table& all);
void add_products(table& all);
void add_minima(table& all);
void add_maxima(table& all);
void add_extremes(table& all);
void add_places(table& all);
void add_questions(table& all);
void add_bits(table& all);
void add_means(table& all);
void add_deviations(table& all);
void add_norms(table& all);
void add_exponentials(table& all);
void add_precise_sums(table& all);
void add_statistics(table& all);

/// The dot product of two arrays.
template <class Exec>
struct basic_dot_kernel {
  dtype items;
  dtype result;
  void (*fold)(Exec&, const void* x, const void* y, std::int64_t n, void* result);
};
using dot_kernel = basic_dot_kernel<executor_here>;
void add_dots(std::vector<dot_kernel>& all);

}  // namespace tilefold::capi
