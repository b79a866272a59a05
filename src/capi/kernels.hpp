// SPDX-License-Identifier: Apache-2.0
//
// The folds of the C interface. One function folds a job of any shape (a range, segments by offsets
// or of one length, axes), so that an operation is compiled once for a type of items, not once for
// each verb. Items of the less usual types are read through one iterator that asks for their dtype.
//
// In a library with CUDA the sources with the operations are compiled as C++ for the host executor,
// and by nvcc for the CUDA executor, once for each size of items (basic_table_part).
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#include <tilefold/detail/host/columns.hpp>
#include <tilefold/detail/host/many_folds.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>

#if defined(__CUDACC__)
#include <tilefold/cuda.cuh>
#include <tilefold/detail/cuda/columns/launch_columns.cuh>
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#endif

#include "job.hpp"
#include "piece.hpp"
#include "rounded_output.hpp"
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

/// What Make makes, for items of a dtype if it asks for that.
template <class Make>
auto made(dtype type) {
  if constexpr (std::is_invocable_v<Make, dtype>) {
    return Make{}(type);
  } else {
    return Make{}();
  }
}

/// What a fold's values are in, if Make names it; else void, and the items decide.
template <class Make>
struct accumulator_named {
  using type = void;
};
template <class Make>
  requires requires { typename Make::accumulator; }
struct accumulator_named<Make> {
  using type = typename Make::accumulator;
};

/// Make, with values in Acc.
template <class Acc, class Make>
struct in : Make {
  using accumulator = Acc;
};

/// Whether rows of one length have kernels of their own on a GPU: if the items are read where they
/// lie. The kernels of an operation and a type take some seconds to compile.
template <op Which, class It>
inline constexpr bool has_rows = std::is_pointer_v<It> && is_common(Which);

#if defined(__CUDACC__)
/// A result that writes itself as the type that a caller asks for.
template <class Second>
concept is_rounded_result =
    requires(const Second& result, char* at) { result.write(dtype::float64, at); };

/// Where results of two operations go that are folded alike: a First or a Second, made of the
/// fold's Result. Which one is known when a program runs, so that the two share kernels.
template <class First, class Second, class Result>
class either_output {
 public:
  using value_type = Result;
  using difference_type = std::int64_t;

  class place {
   public:
    TILEFOLD_HD place(char* at, bool second, dtype type) : at_(at), type_(type), second_(second) {}
    TILEFOLD_HD void operator=(const Result& result) const {
      if (second_) {
        if constexpr (is_rounded_result<Second>) {
          Second(result).write(type_, at_);
        } else {
          *reinterpret_cast<Second*>(at_) = Second(result);
        }
      } else {
        *reinterpret_cast<First*>(at_) = First(result);
      }
    }

   private:
    char* at_;
    dtype type_;
    bool second_;
  };

  either_output(const job& call, bool second)
      : at_(static_cast<char*>(call.results)), type_(call.results_type), second_(second) {}

  TILEFOLD_HD place operator*() const { return {at_, second_, type_}; }
  TILEFOLD_HD friend either_output operator+(either_output out, std::int64_t n) {
    out.at_ += n * (out.second_ ? bytes_of_second(out.type_) : static_cast<int>(sizeof(First)));
    return out;
  }
  char* get() const { return at_; }

 private:
  TILEFOLD_HD static int bytes_of_second(dtype type) {
    if constexpr (is_rounded_result<Second>) {
      return bytes_of(type);
    } else {
      return static_cast<int>(sizeof(Second));
    }
  }

  char* at_;
  dtype type_;
  bool second_;
};

template <class First, class Second, bool IsSecond, class Result = First>
struct output_of_either {
  using type = either_output<First, Second, Result>;
  static type at(const job& call) { return {call, IsSecond}; }
};
#endif

/// What results of type Out are written through.
template <class Out>
struct output_of {
  using type = Out*;
  static type at(const job& call) { return static_cast<Out*>(call.results); }
};
#if defined(__CUDACC__)
template <>
struct output_of<double> {
  using type = rounded_output;
  static type at(const job& call) { return {call.results, call.results_type}; }
};
#endif

/// The initial value of an operation's folds: PyTorch's sums begin with +0.
template <op Which>
constexpr auto initial_value() {
  if constexpr (Which == op::torch_sum) {
    return 0.0f;
  } else {
    return detail::no_init{};
  }
}

/// Which folds of a job a reducer is for.
struct fold_kinds {
  bool range;
  bool equal;     // rows or columns, all of one length
  bool segments;  // by offsets; also what has no items
};
inline constexpr fold_kinds all_kinds{.range = true, .equal = true, .segments = true};

/// Folds a job with a reducer; its results are of type Out.
template <op Which, class It, class Out, fold_kinds Kinds, class Acc, class Reducer, class Exec>
void fold_with(Exec& exec, const job& call, const Reducer& reducer) {
  const auto bound = detail::bind<Acc, It>(
      detail::init_and_op{capi::initial_value<Which>(), reducer}, detail::as_is{});
  const auto items = bound.source(detail::unless_empty{exec, call.reads_items, "items"},
                                  capi::items_of<It>(call.items, call.type));
  const auto empty = bound.empty("reduce");
  auto&& folder = detail::folder_of(exec, bound.reducer);
  using out_type = typename output_of<Out>::type;
  const out_type results = output_of<Out>::at(call);
  using policy = detail::default_policy;
#if defined(__CUDACC__)
  // On a GPU a range has kernels of its own; one row is a range.
  const bool in_rows = !call.by_columns && call.offsets.bits == 0 && call.offsets.step > 0;
  if constexpr (Kinds.range) {
    if (in_rows && call.segments == 1) {
      if constexpr (!std::is_pointer_v<out_type>) {  // at a pointer it looks by itself
        (void)exec.accessible(static_cast<const char*>(call.results), "out");
      }
      folder.template fold_into<policy>(items, bound.reducer, bound.start, call.offsets.step,
                                        results);
      return;
    }
  }
  if constexpr (has_rows<Which, It> && Kinds.equal) {
    if (in_rows) {
      folder.template fold_forest<policy>(
          detail::equal_forest{items, call.segments, call.offsets.step}, call.segments,
          bound.reducer, bound.start, empty,
          detail::stepped_output<out_type>{results, {call.plan.out.inner_stride()}});
      return;
    }
  }
#else
  static_assert(detail::host::writes_apart<out_type>, "else the host takes one thread");
#endif
  if (call.by_columns) {
    const detail::column_forest<std::remove_const_t<decltype(items)>> columns{
        items, call.plan.columns, call.plan.rows};
    folder.template fold_columns<policy>(columns, bound.reducer, bound.start, empty,
                                         detail::strided_output<out_type>{results, call.plan.out});
  } else if constexpr (Kinds.segments) {
    detail::for_each_line(call.plan.out, results, [&](std::int64_t n, const auto& out) {
      folder.template fold_forest<policy>(detail::offsets_forest{items, call.offsets, n}, n,
                                          bound.reducer, bound.start, empty, out);
    });
  }
}

/// Whether Make has another reducer, with the same results, for rows and columns of items of It
/// whose length is known: Make::of_length<T>(n), for up to Make::most_items items; for a range,
/// too, if Make::of_ranges says so.
template <class Make, class It>
concept has_equal_lengths =
    std::is_pointer_v<It> && requires { Make::template of_length<std::iter_value_t<It>>(1); };

#if defined(__CUDACC__)
/// Folds rows that are long and many, each by a block in any order. False, with nothing launched,
/// of others.
template <class It, class Out, class Acc, class Reducer, class Exec>
bool fold_long_rows(Exec& exec, const job& call, const Reducer& reducer) {
  // Two tiles of 32 KiB, below which no row is long.
  constexpr std::int64_t least_bytes = 65536;
  const std::int64_t length = call.offsets.step;
  if (call.by_columns || length * static_cast<int>(sizeof(std::iter_value_t<It>)) < least_bytes) {
    return false;
  }
  const auto bound =
      detail::bind<Acc, It>(detail::init_and_op{detail::no_init{}, reducer}, detail::as_is{});
  const auto items = bound.source(detail::unless_empty{exec, call.reads_items, "items"},
                                  capi::items_of<It>(call.items, call.type));
  const auto out = exec.accessible(
      detail::stepped_output<typename output_of<Out>::type>{output_of<Out>::at(call),
                                                            {call.plan.out.inner_stride()}},
      "out");
  bool launched = false;
  exec.in_context([&](const auto& gpu, cudaStream_t stream, const auto& workspace_for) {
    launched = detail::cuda::launch_any_order_rows<detail::cuda::this_build>(
        detail::cuda::job_of(detail::equal_forest{items, call.segments, length}, bound.reducer,
                             bound.start, bound.empty("reduce"), out, gpu, stream),
        workspace_for);
  });
  return launched;
}
#endif

/// Folds a job with what Make makes for an operation; its results are of type Out.
template <op Which, class It, class Out, class Make, class Exec>
void fold_job(Exec& exec, const job& call) {
  using acc = typename accumulator_named<Make>::type;
#if defined(__CUDACC__)
  if constexpr (has_equal_lengths<Make, It>) {
    static_assert(has_rows<Which, It>);
    const std::int64_t n = call.offsets.step;
    constexpr bool of_ranges = requires { requires Make::of_ranges; };
    const bool is_range = !call.by_columns && call.segments == 1;
    if ((of_ranges || !is_range) && call.offsets.bits == 0 && 0 < n && n <= Make::most_items) {
      if constexpr (requires { Make::folds_long_rows_in_any_order; }) {
        if (capi::fold_long_rows<It, Out, acc>(exec, call, capi::made<Make>(call.type))) return;
      }
      capi::fold_with<Which, It, Out,
                      fold_kinds{.range = of_ranges, .equal = true, .segments = false}, void>(
          exec, call, Make::template of_length<std::iter_value_t<It>>(n));
    } else {
      capi::fold_with<Which, It, Out,
                      fold_kinds{.range = !of_ranges, .equal = false, .segments = true}, acc>(
          exec, call, capi::made<Make>(call.type));
    }
    return;
  } else
#endif
  {
    capi::fold_with<Which, It, Out, all_kinds, acc>(exec, call, capi::made<Make>(call.type));
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
  const piece_kind* pieces;  // of the host's kernels; null if there are none
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
  using kernel = basic_kernel<Exec>;

  const kernel* find(op which, dtype items) const {
    const kernel& row = rows_[static_cast<int>(which)][static_cast<int>(items)];
    return row.fold == nullptr ? nullptr : &row;
  }
  kernel& at(op which, dtype items) {
    return rows_[static_cast<int>(which)][static_cast<int>(items)];
  }

  /// Gives `as` the function of `of` for items of a dtype: their results are the same.
  void share_fold(op as, op of, dtype items) { at(as, items).fold = at(of, items).fold; }

 private:
  kernel rows_[num_ops][num_dtypes]{};
};

/// The size of the items that an iterator reads, by which nvcc's work is divided: 1, 2, 4 or 8
/// bytes. Complex numbers count as 8; an iterator that reads items by their dtype counts as 1.
template <class It>
inline constexpr int item_bytes = 1;
template <class T>
inline constexpr int item_bytes<const T*> = sizeof(T) < 2   ? 1
                                            : sizeof(T) < 4 ? 2
                                            : sizeof(T) < 8 ? 4
                                                            : 8;

/// Adds rows to a table: those with items of Bytes bytes, or all rows if Bytes is 0. Bytes is part
/// of the type because units with different Bytes define its members differently.
template <class Exec, int Bytes>
class basic_table_part {
 public:
  static constexpr bool on_host = std::is_same_v<Exec, host_executor>;
  using kernel = basic_kernel<Exec>;

  explicit basic_table_part(basic_table<Exec>& all) : all_(all) {}

  /// `result` names what Out is in memory.
  template <op Which, class It, class Out, class Make>
  void add(dtype items, bool has_empty, dtype result = result_traits<Out>::type) {
    if constexpr (Bytes == 0 || Bytes == item_bytes<It>) {
      using reducer = decltype(capi::made<Make>(dtype{}));
      using accumulator =
          typename detail::fold_types<typename accumulator_named<Make>::type, reducer,
                                      detail::as_is, detail::no_init, It>::accumulator;
      kernel& row = all_.at(Which, items);
      row.which = Which;
      row.items = items;
      row.result = result;
      row.count = result_traits<Out>::count;
      row.has_empty = has_empty;
      row.accumulator_bytes = static_cast<std::int64_t>(sizeof(accumulator));
      row.fold = &fold_job<Which, It, Out, Make, Exec>;
      row.reads_by_pointer = std::is_pointer_v<It>;
      if constexpr (on_host && Which != op::statistics && !has_own_order(Which)) {
        row.pieces = &piece_of<Which, It, Out, Make>::kind();
      }
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
      kernel& row = all_.at(as, type);
      row = all_.at(of, type);
      row.which = as;
    }
  }

  /// Of items of these dtypes, read as Wide.
  template <op Which, class Make, class Wide, class Out>
  void add_any(std::initializer_list<dtype> items, bool has_empty = true) {
    for (const dtype type : items) add<Which, any_items<Wide>, Out, Make>(type, has_empty);
  }

  /// Of items of type T, their folds in Wide: read where they lie on a GPU.
  template <op Which, class Make, class Wide, class... T>
  void add_wide(bool has_empty = true) {
    if constexpr (on_host) {
      (add<Which, any_items<Wide>, Wide, Make>(dtype_of<T>, has_empty), ...);
    } else {
      (add<Which, const T*, Wide, in<Wide, Make>>(dtype_of<T>, has_empty), ...);
    }
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
  basic_table<Exec>& all_;
};

/// What the operations of this unit add their rows to.
#if defined(TILEFOLD_ITEM_BYTES)
using table = basic_table_part<executor_here, TILEFOLD_ITEM_BYTES>;
#else
using table = basic_table_part<executor_here, 0>;
#endif

template <class T>
using itself = T;

/// Integers whose sums and products have 64 bits, but for sum32 and product32.
inline constexpr std::initializer_list<dtype> narrow_integers = {
    dtype::int8, dtype::int16, dtype::int32, dtype::uint8, dtype::uint16, dtype::uint32};

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Adds the rows of every operation. The functions are in the sources of the operations, for the
/// `table` of their unit.
template <class Table>
void add_operations(Table all) {
  void add_sums(Table&), add_products(Table&), add_minima(Table&), add_maxima(Table&),
      add_extremes(Table&), add_places(Table&), add_questions(Table&), add_bits(Table&),
      add_means(Table&), add_deviations(Table&), add_norms(Table&), add_l2_norms(Table&),
      add_exponentials(Table&), add_precise_sums(Table&), add_statistics(Table&);
  for (const auto add : {add_sums, add_products, add_minima, add_maxima, add_extremes, add_places,
                         add_questions, add_bits, add_means, add_deviations, add_norms,
                         add_l2_norms, add_exponentials, add_precise_sums, add_statistics}) {
    add(all);
  }
}

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
