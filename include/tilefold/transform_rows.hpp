// SPDX-License-Identifier: Apache-2.0
//
// transform_rows: every item of a row, joined with the value of its row. log_softmax is one of
// these: x - logsumexp(row). Backend-neutral; the executor folds.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/detail/verbs/kept_order.hpp>
#include <tilefold/dispatch.hpp>
#include <tilefold/half.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/rows/launch_rows.cuh>
#endif

namespace tilefold {

namespace detail {

/// An output of rows' values, which writes the rows' items instead. For the host: trees are written
/// by the threads that fold them.
template <class T, class Function, class Out>
struct row_writer {
  using difference_type = std::int64_t;

  const T* items;
  std::int64_t length;
  Function function;
  Out* out;

  const row_writer& operator*() const { return *this; }
  friend row_writer operator+(const row_writer& it, std::int64_t n) {
    return {it.items + n * it.length, it.length, it.function, it.out + n * it.length};
  }
  template <class Value>
  const row_writer& operator=(const Value& value) const {
    for (std::int64_t j = 0; j < length; ++j) out[j] = function(items[j], value);
    return *this;
  }
};

/// An executor with a way of its own.
template <class Base, class T, class Reducer, class Function, class Out>
concept transforms_rows = requires(Base& base, const T* first, const Reducer& reducer,
                                   const Function& function, Out* out, std::int64_t n) {
  base.template transform_rows<default_policy>(first, n, n, reducer, function, out);
};

template <class Base>
inline constexpr bool is_host_executor = false;
template <class Mode>
inline constexpr bool is_host_executor<basic_host_executor<Mode>> = true;

/// Whether the executor joins rows of such items with their values; says in one sentence why not.
template <class Exec, class T, class R, class Function, class Out>
constexpr bool joins_rows() {
  using arguments = init_and_op<no_init, R>;
  if constexpr (!detail::keeps_tree_order<R>() ||
                !detail::folds<void, Exec, arguments, as_is, const T*>()) {
    return false;
  } else if constexpr (!executor_base_t<Exec>::template takes_items<T>() ||
                       !executor_base_t<Exec>::template takes_functions<Function>()) {
    return false;
  } else {
    using base = executor_base_t<Exec>;
    using bound = decltype(detail::bind<void, const T*>(std::declval<const arguments&>(), as_is{}));
    using fold = std::remove_cvref_t<decltype(std::declval<const bound&>().reducer)>;
    constexpr bool on_gpu = transforms_rows<base&, T, fold, Function, Out>;
    constexpr bool one_place = on_gpu || is_host_executor<base>;
    static_assert(
        one_place,
        "tilefold: transform_rows takes a host_executor, a cuda_executor or a view of one: "
        "of a group, of streamed items and of ranks call it for the rows of each");
    constexpr bool in_packets = !on_gpu || 16 % sizeof(T) == 0;
    static_assert(in_packets,
                  "tilefold: on a GPU transform_rows takes items of 1, 2, 4, 8 or 16 bytes, which "
                  "it loads 16 bytes at a time");
    constexpr bool no_places = !on_gpu || !bound::indexed;
    static_assert(no_places,
                  "tilefold: on a GPU transform_rows takes no reducer that asks for indices, such "
                  "as arg_min: find the places by segmented_reduce first");
    return one_place && in_packets && no_places;
  }
}

/// x rounded to Out, by a GPU's own instruction where there is one: a NaN is the same.
template <class Out>
TILEFOLD_HD Out rounded_to(float x) {
#if defined(__CUDA_ARCH__)
  std::uint16_t bits = 0;
  if constexpr (std::same_as<Out, half>) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return __builtin_bit_cast(half, x == x ? bits : std::uint16_t{0x7e00});
  }
#if __CUDA_ARCH__ >= 800
  if constexpr (std::same_as<Out, bfloat16>) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return __builtin_bit_cast(bfloat16, x == x ? bits : std::uint16_t{0x7fc0});
  }
#endif
#endif
  return detail::canonical(detail::convert<Out>(x));
}

/// x - value in double, rounded to float and, if Out is narrower, once more.
template <class Out>
struct less_value {
  template <class T>
  TILEFOLD_HD Out operator()(const T& x, double value) const {
    const double difference = rounded_sum(detail::convert<double>(x), -value);
    if constexpr (std::same_as<Out, double>) {
      return detail::canonical(difference);
    } else {
      return detail::rounded_to<Out>(static_cast<float>(difference));
    }
  }
};

template <class First>
void refuse_rows() {
  static_assert(std::is_pointer_v<First>,
                "tilefold: transform_rows and log_softmax take rows and out as pointers: (first, "
                "num_rows, row_size, out, ...), and before them an executor, a stream or a policy");
}

}  // namespace detail

/// Writes out[i] = function(first[i], v) for every item of `num_rows` rows of `row_size` items
/// each, which lie one after the other; v is the value of the item's row.
///
///     transform_rows_into(exec, first, num_rows, row_size, out, reducer, function)
///
/// - Value: v has the bits of reduce(row, reducer), whatever its neighbours and the number of rows.
/// - Executors: host_executor, cuda_executor and views of them, and streams and policies
///   (docs/streams.md).
/// - Parameters: `first` and `out` are pointers to memory that the executor reads and writes; out
///   may be `first`, or must not overlap it. `reducer` is one of the library or of the caller's
///   own. On a GPU it must not need indices, and items have 1, 2, 4, 8 or 16 bytes. `function` is
///   called with an item and the reducer's result, and returns the value that is written to `out`.
/// - No rows, or rows without items: nothing is written.
/// - On a CUDA executor the call is asynchronous in its stream: one launch and no workspace, and
///   each item is read once, up to rows of 2^18 floats (2^15 on GPUs without clusters; longer rows
///   are read twice, each by a block or a cluster). Rows that begin at multiples of 16 bytes, in
///   `first` and `out`, are faster.
/// - Work: as many combines as segmented_reduce() needs, and one call of the function per item.
/// - Throws as segmented_reduce() does.
template <executor Exec, class T, std::integral Count, std::integral Size, class Out, reducer R,
          class Function>
void transform_rows_into(Exec&& exec, const T* first, Count num_rows, Size row_size, Out* out,
                         R reducer, Function function) {
  constexpr const char* verb = "transform_rows";
  const std::int64_t rows = detail::count_of(verb, "the number of rows", num_rows);
  const std::int64_t size = detail::count_of(verb, "the row size", row_size);
  if (size > 0 && rows > (std::numeric_limits<std::int64_t>::max)() / size) {
    throw invalid_range_error("tilefold::transform_rows: " + std::to_string(rows) + " rows of " +
                              std::to_string(size) + " items are more than a range can hold");
  }
  if constexpr (detail::joins_rows<Exec, T, R, Function, Out>()) {
    using parts = detail::executor_parts<std::remove_cvref_t<Exec>>;
    const auto bound = detail::bind<void, const T*>(detail::init_and_op{detail::no_init{}, reducer},
                                                    detail::as_is{});
    auto&& base = parts::base(exec);
    if (rows == 0 || size == 0) return;
    detail::host::in_default_float_mode([&] {
      const auto items = bound.source(base, first);
      if constexpr (parts::checks) {
        detail::require_sound(base, detail::equal_forest{items, rows, size},
                              parts::num_items(exec));
      }
      using fold = std::remove_cvref_t<decltype(bound.reducer)>;
      if constexpr (detail::transforms_rows<decltype(base), T, fold, Function, Out>) {
        base.template transform_rows<typename parts::policy>(first, rows, size, bound.reducer,
                                                             function, out);
      } else {
        base.accessible(out, "out");
        base.template fold_forest<typename parts::policy>(
            detail::equal_forest{items, rows, size}, rows, bound.reducer, bound.start,
            detail::no_empty_tree{},
            detail::row_writer<T, Function, Out>{first, size, function, out});
      }
    });
  }
}

/// Writes x - logsumexp(row) of every item x: the logarithm of its softmax. T is float, double,
/// half or bfloat16, and `out` holds T, float or double. The difference is computed in double,
/// rounded to float, and for narrower outputs from float. Everything else as for
/// transform_rows_into().
template <executor Exec, class T, std::integral Count, std::integral Size, class Out>
void log_softmax_into(Exec&& exec, const T* first, Count num_rows, Size row_size, Out* out) {
  tilefold::transform_rows_into(exec, first, num_rows, row_size, out, reducers::logsumexp{},
                                detail::less_value<Out>{});
}

// Results that go to an iterator are refused in one sentence.
template <executor Exec, class T, std::integral Count, std::integral Size, class Out,
          class... Arguments>
  requires(!std::convertible_to<Out, const void*>)
void transform_rows_into(Exec&&, const T*, Count, Size, const Out&, const Arguments&...) {
  detail::refuse_rows<Out>();
}
template <executor Exec, class T, std::integral Count, std::integral Size, class Out>
  requires(!std::convertible_to<Out, const void*>)
void log_softmax_into(Exec&&, const T*, Count, Size, const Out&) {
  detail::refuse_rows<Out>();
}

/// Do the same as transform_rows_into() and log_softmax_into(), synchronously. The executor may be
/// left out: then the memory of `first` and `out` decides, as in reduce().
template <executor Exec, class... Arguments>
void transform_rows(Exec&& exec, Arguments... arguments) {
  detail::wait_for(exec, [&] { tilefold::transform_rows_into(exec, arguments...); });
}
template <executor Exec, class... Arguments>
void log_softmax(Exec&& exec, Arguments... arguments) {
  detail::wait_for(exec, [&] { tilefold::log_softmax_into(exec, arguments...); });
}
template <class Dispatch = detail::default_dispatch, class T, class... Arguments>
void transform_rows(const T* first, Arguments... arguments) {
  Dispatch::template with_executor<Arguments...>(
      first, [&](auto&& exec) { tilefold::transform_rows(exec, first, arguments...); },
      arguments...);
}
template <class Dispatch = detail::default_dispatch, class T, class... Arguments>
void log_softmax(const T* first, Arguments... arguments) {
  Dispatch::with_executor(
      first, [&](auto&& exec) { tilefold::log_softmax(exec, first, arguments...); }, arguments...);
}

// Rows that begin at an iterator, likewise.
template <class First, class... Arguments>
  requires(!detail::names_executor<First> && !std::convertible_to<First, const void*>)
void transform_rows(const First&, const Arguments&...) {
  detail::refuse_rows<First>();
}
template <class First, class... Arguments>
  requires(!detail::names_executor<First> && !std::convertible_to<First, const void*>)
void log_softmax(const First&, const Arguments&...) {
  detail::refuse_rows<First>();
}

/// The same with a stream or an execution policy in place of an executor: log_softmax(stream, ...).
/// docs/streams.md lists them all.
template <class Dispatch = detail::default_dispatch, detail::stand_in Handle, class... Arguments>
void transform_rows_into(const Handle& handle, Arguments... arguments) {
  Dispatch::with_stand_in(handle,
                          [&](auto&& exec) { tilefold::transform_rows_into(exec, arguments...); });
}
template <class Dispatch = detail::default_dispatch, detail::stand_in Handle, class... Arguments>
void log_softmax_into(const Handle& handle, Arguments... arguments) {
  Dispatch::with_stand_in(handle,
                          [&](auto&& exec) { tilefold::log_softmax_into(exec, arguments...); });
}
template <class Dispatch = detail::default_dispatch, detail::stand_in Handle, class... Arguments>
void transform_rows(const Handle& handle, Arguments... arguments) {
  Dispatch::with_stand_in(handle,
                          [&](auto&& exec) { tilefold::transform_rows(exec, arguments...); });
}
template <class Dispatch = detail::default_dispatch, detail::stand_in Handle, class... Arguments>
void log_softmax(const Handle& handle, Arguments... arguments) {
  Dispatch::with_stand_in(handle, [&](auto&& exec) { tilefold::log_softmax(exec, arguments...); });
}

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
