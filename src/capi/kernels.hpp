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
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include <tilefold/detail/axis_plan.hpp>
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

#include "types.hpp"

namespace tilefold::capi {

namespace r = reducers;

/// The executor that this unit is compiled for.
#if defined(__CUDACC__)
using executor_here = cuda_executor;
#else
using executor_here = host_executor;
#endif

/// Stands for a type.
template <class T>
struct type_is {};
template <class T>
struct complex_parts {
  T real;
  T imaginary;
};

/// use(type_is<T>{}) for the type of items of a dtype; of bool that of its bytes.
TILEFOLD_NO_EXEC_CHECK
template <class Use>
TILEFOLD_HD auto visit_type(dtype type, const Use& use) {
  switch (type) {
    case dtype::int8:
      return use(type_is<std::int8_t>{});
    case dtype::int16:
      return use(type_is<std::int16_t>{});
    case dtype::int32:
      return use(type_is<std::int32_t>{});
    case dtype::int64:
      return use(type_is<std::int64_t>{});
    case dtype::uint16:
      return use(type_is<std::uint16_t>{});
    case dtype::uint32:
      return use(type_is<std::uint32_t>{});
    case dtype::uint64:
      return use(type_is<std::uint64_t>{});
    case dtype::float16:
      return use(type_is<half>{});
    case dtype::bfloat16:
      return use(type_is<bfloat16>{});
    case dtype::float32:
      return use(type_is<float>{});
    case dtype::float64:
      return use(type_is<double>{});
    case dtype::complex64:
      return use(type_is<complex_parts<float>>{});
    case dtype::complex128:
      return use(type_is<complex_parts<double>>{});
    default:  // uint8, boolean
      return use(type_is<std::uint8_t>{});
  }
}

/// Items of any real dtype as Wide, which holds their values (or, of bool, whether they are zero).
template <class Wide>
struct any_items {
  using value_type = Wide;
  using difference_type = std::int64_t;

  const void* data;
  dtype type;

  TILEFOLD_HD Wide operator[](std::int64_t i) const {
    return capi::visit_type(type, item_at{static_cast<const char*>(data) + i * bytes_of(type)});
  }
  TILEFOLD_HD Wide operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend any_items operator+(const any_items& it, std::int64_t n) {
    return {static_cast<const char*>(it.data) + n * bytes_of(it.type), it.type};
  }
  TILEFOLD_HD friend std::int64_t operator-(const any_items& a, const any_items& b) {
    return (static_cast<const char*>(a.data) - static_cast<const char*>(b.data)) / bytes_of(a.type);
  }

  /// Copies items [first, first + n) to an array.
  void copy(std::int64_t first, std::int64_t n, Wide* to) const {
    capi::visit_type(type, all_of{static_cast<const char*>(data) + first * bytes_of(type), n, to});
  }

 private:
  struct item_at {
    const char* at;

    template <class T>
    TILEFOLD_HD Wide operator()(type_is<T>) const {
      return any_items::convert(*reinterpret_cast<const T*>(at));
    }
  };
  struct all_of {
    const char* at;
    std::int64_t n;
    Wide* to;

    template <class T>
    Wide operator()(type_is<T>) const {
      const T* const items = reinterpret_cast<const T*>(at);
      for (std::int64_t i = 0; i < n; ++i) to[i] = any_items::convert(items[i]);
      return Wide{};
    }
  };

  template <class T>
  TILEFOLD_HD static Wide convert(const complex_parts<T>& value) {
    if constexpr (std::is_same_v<Wide, bool>) {
      return value.real != 0 || value.imaginary != 0;
    } else {
      return Wide{};  // no operation reads them so
    }
  }
  template <class T>
  TILEFOLD_HD static Wide convert(const T& value) {
    if constexpr (is_narrow_float<T>) {
      return any_items::convert(static_cast<float>(value));
    } else if constexpr (std::is_same_v<Wide, bool>) {
      return value != 0;
    } else if constexpr (std::is_integral_v<Wide> && std::is_floating_point_v<T>) {
      return Wide{};  // no operation reads floats so
    } else {
      return static_cast<Wide>(value);
    }
  }
};

/// 1 for items that are not zero, of any dtype, and 0 for others.
struct nonzero_items {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  any_items<bool> items;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const { return items[i] ? 1 : 0; }
  TILEFOLD_HD std::int64_t operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend nonzero_items operator+(const nonzero_items& it, std::int64_t n) {
    return {it.items + n};
  }
  TILEFOLD_HD friend std::int64_t operator-(const nonzero_items& a, const nonzero_items& b) {
    return a.items - b.items;
  }

  void copy(std::int64_t first, std::int64_t n, std::int64_t* to) const {
    constexpr std::int64_t most = 2048;
    bool flags[most];
    while (n > 0) {
      const std::int64_t count = n < most ? n : most;
      items.copy(first, count, flags);
      for (std::int64_t i = 0; i < count; ++i) to[i] = flags[i] ? 1 : 0;
      first += count;
      to += count;
      n -= count;
    }
  }
};

/// Where segments begin: at offsets of 32 or 64 bits, or each `step` items.
struct any_offsets {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  const void* data = nullptr;
  std::int64_t step = 0;
  int bits = 0;  // of an offset; 0: none in memory
  std::int64_t first = 0;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const {
    if (bits == 0) return (first + i) * step;
    if (bits == 32) return static_cast<const std::int32_t*>(data)[first + i];
    return static_cast<const std::int64_t*>(data)[first + i];
  }
  TILEFOLD_HD std::int64_t operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend any_offsets operator+(const any_offsets& it, std::int64_t n) {
    return {it.data, it.step, it.bits, it.first + n};
  }
};

/// One call.
struct job {
  const void* items = nullptr;
  dtype type = dtype::float32;
  bool reads_items = true;
  detail::axis_plan plan;  // `columns` and `rows` if by_columns; `out` always
  bool by_columns = false;
  std::int64_t segments = 1;
  any_offsets offsets;
  void* results = nullptr;
  bool is_range = false;  // one segment, of offsets.step items
};

template <class It>
It items_of(const job& call) {
  if constexpr (std::is_pointer_v<It>) {
    return static_cast<It>(call.items);
  } else {
    return It{call.items, call.type};
  }
}

/// Folds a job with what Make makes; its results are of type Out.
template <class It, class Out, class Make, class Exec>
void fold_job(Exec& exec, const job& call) {
  const auto bound =
      detail::bind<void, It>(detail::init_and_op{detail::no_init{}, Make{}()}, detail::as_is{});
  const auto items =
      bound.source(detail::unless_empty{exec, call.reads_items, "items"}, items_of<It>(call));
  const auto empty = bound.empty("reduce");
  using policy = detail::default_policy;
#if defined(__CUDACC__)
  // On a GPU a long range has kernels of its own.
  if (call.is_range && call.offsets.step > 0) {
    exec.template fold_into<policy>(items, bound.reducer, bound.start, call.offsets.step,
                                    static_cast<Out*>(call.results));
    return;
  }
#endif
  const detail::strided_output<Out*> out{static_cast<Out*>(call.results), call.plan.out};
  if (call.by_columns) {
    const detail::column_forest<std::remove_const_t<decltype(items)>> columns{
        items, call.plan.columns, call.plan.rows};
    exec.template fold_columns<policy>(columns, bound.reducer, bound.start, empty, out);
  } else {
    exec.template fold_forest<policy>(
        detail::make_offsets_forest(items, call.offsets, call.segments), call.segments,
        bound.reducer, bound.start, empty, out);
  }
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
};

/// Stands for a reducer that is made without arguments.
template <class R>
struct plain {
  R operator()() const { return R{}; }
};

// What results look like in memory.
template <class T>
struct result_traits {
  static constexpr dtype type = dtype_of<T>;
  static constexpr int count = 1;
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
    row.fold = &fold_job<It, Out, Make, Exec>;
  }

  /// Of items of each type T, with results of type Out<T>.
  template <op Which, class Make, template <class> class Out, class... T>
  void add_typed(bool has_empty = true) {
    (add<Which, const T*, Out<T>, Make>(dtype_of<T>, has_empty), ...);
  }

  /// Of items of these dtypes, read as Wide.
  template <op Which, class Make, class Wide, class Out>
  void add_any(std::initializer_list<dtype> items, bool has_empty = true) {
    for (const dtype type : items) add<Which, any_items<Wide>, Out, Make>(type, has_empty);
  }

  /// Of items of all real dtypes, as statistics are made: integers as int64 or uint64.
  template <op Which, class Make, class Out>
  void add_real(bool has_empty) {
    add_any<Which, Make, std::int64_t, Out>(
        {dtype::int8, dtype::int16, dtype::int32, dtype::int64, dtype::uint8, dtype::uint16,
         dtype::uint32, dtype::boolean},
        has_empty);
    add<Which, const std::uint64_t*, Out, Make>(dtype::uint64, has_empty);
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
