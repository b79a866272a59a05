// SPDX-License-Identifier: Apache-2.0
//
// axis_reduce: the axes of a multidimensional view folded away. Backend-neutral; the executor
// folds.
#pragma once

#include <tilefold/detail/host/many_folds.hpp>

TILEFOLD_WARNINGS_OFF

#include <concepts>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/host/columns.hpp>
#include <tilefold/detail/verbs/axis_plan.hpp>
#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/dispatch.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/columns/launch_columns.cuh>
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#endif

namespace tilefold {

namespace detail {

/// Whether a call has two views; says so in one sentence if not.
template <class In, class Out>
constexpr bool are_views() {
  constexpr bool views = strided_view<In> && strided_view<Out>;
  static_assert(views,
                "tilefold: axis_reduce takes views with rank(), extent(i), stride(i), "
                "data_handle() and no accessor of their own, such as cuda::std::mdspan");
  return views;
}

/// Folds what a plan says, by the kind of forest that its strides make.
template <class Policy, class Executor, class Bound, class InIt, class OutIt>
void fold_plan(Executor& base, const Bound& bound, const InIt& in, const OutIt& out,
               const axis_plan& plan) {
  if (plan.results == 0) return;
  const auto empty = detail::empty_of_all("axis_reduce", bound, plan.length == 0);
  const auto source = bound.source(unless_empty{base, plan.length > 0, "in"}, in);
  const auto raw_out = base.accessible(out, "out");
  using out_iterator = std::remove_const_t<decltype(raw_out)>;
  auto&& folder = detail::folder_of(base, bound.reducer);
  if (detail::has_equal_trees(plan)) {
    detail::for_each_line(plan.out, raw_out, [&](std::int64_t n, const auto& results) {
      folder.template fold_forest<Policy>(detail::equal_forest{source, n, plan.length}, n,
                                          bound.reducer, bound.start, empty, results);
    });
  } else {
    const column_forest<std::remove_const_t<decltype(source)>> columns{source, plan.columns,
                                                                       plan.rows};
    folder.template fold_columns<Policy>(columns, bound.reducer, bound.start, empty,
                                         strided_output<out_iterator>{raw_out, plan.out});
  }
}

/// The shape of `in` with its reduced axes marked.
template <class In>
view_shape shape_to_reduce(const In& in, const axes& reduced) {
  view_shape shape = detail::shape_of_view(in, "in");
  detail::mark_reduced(shape, reduced);
  return shape;
}

template <class Out>
axis_plan plan_axes(const view_shape& in, const Out& out, const axes& reduced,
                    result_order order = result_order::by_stride) {
  const view_shape out_shape = detail::shape_of_view(out, "out");
  return detail::make_axis_plan(in, out_shape, matched_axes(in, out_shape, reduced.count), order);
}

/// On ranks of which each has a part of the first axis. If that is reduced they fold together, else
/// each by itself.
template <class Acc, class Policy, class Ranks, class In, class Out, class Arguments>
void reduce_axes_on_ranks(const Ranks& ranks, const In& in, const Out& out, const axes& reduced,
                          const Arguments& arguments);

template <class Acc, class Exec, class In, class Out, class Arguments>
void reduce_axes_with(Exec&& exec, const In& in, const Out& out, const axes& reduced,
                      const Arguments& arguments) {
  using in_iterator = view_iterator_t<In>;
  if constexpr (!detail::folds_columns_and_keys<executor_base_t<Exec>>()) {
    return;
  } else if constexpr (detail::folds_forest<Acc, Exec, view_iterator_t<Out>, Arguments,
                                            in_iterator>()) {
    using parts = executor_parts<std::remove_cvref_t<Exec>>;
    using policy = typename parts::policy;
    auto&& base = parts::base(exec);
    if constexpr (spans_ranks<decltype(base)>) {
      detail::reduce_axes_on_ranks<Acc, policy>(base, in, out, reduced, arguments);
    } else {
      host::in_default_float_mode([&] {
        const auto bound = detail::bind<Acc, in_iterator>(arguments, as_is{});
        detail::fold_plan<policy>(
            base, bound, in.data_handle(), out.data_handle(),
            detail::plan_axes(detail::shape_to_reduce(in, reduced), out, reduced));
      });
    }
  }
}

template <class Acc, class Policy, class Ranks, class In, class Out, class Arguments>
void reduce_axes_on_ranks(const Ranks& ranks, const In& in, const Out& out, const axes& reduced,
                          const Arguments& arguments) {
  bool together = false;
  for (int i = 0; i < reduced.count; ++i) together = together || reduced.number[i] == 0;
  if (!together) {
    detail::reduce_axes_with<Acc>(ranks.local(), in, out, reduced, arguments);
    return;
  }
  host::in_default_float_mode([&] {
    ranks.template fold_axes<Policy>(
        detail::bind<Acc, view_iterator_t<In>>(arguments, as_is{}), in.data_handle(),
        out.data_handle(), [&](std::string& call) {
          const view_shape shape = detail::shape_to_reduce(in, reduced);
          call += " of " + detail::common_shape(shape);
          return detail::plan_axes(shape, out, reduced, result_order::by_axis);
        });
  });
}

template <class Acc, class Exec, class In, class Out, class... InitOp>
void reduce_axes(Exec&& exec, const In& in, const Out& out, const axes& reduced,
                 const InitOp&... init_op) {
  static_assert(sizeof...(InitOp) <= 2,
                "tilefold: after the axes stand an initial value, an operator, or both");
  detail::reduce_axes_with<Acc>(
      exec, in, out, reduced,
      detail::read_arguments<std::iter_value_t<view_iterator_t<In>>>(init_op...));
}

template <class T>
concept axis_number = std::integral<T> && !std::same_as<T, bool>;

inline axes with_axis(axes named, std::int64_t axis) {
  if (named.count == max_axes) {
    detail::throw_shape("more than 8 axes are named");
  }
  named.number[named.count++] = axis;
  return named;
}

/// Calls use(axes, rest...) with the axes that stand in front of the rest, as integers or as one
/// `axes`.
template <class Use, class... Rest>
void after_integers(const Use& use, const axes& named, const Rest&... rest) {
  use(named, rest...);
}
template <class Use, axis_number Axis, class... Rest>
void after_integers(const Use& use, const axes& named, const Axis& axis, const Rest&... rest) {
  detail::after_integers(use, detail::with_axis(named, static_cast<std::int64_t>(axis)), rest...);
}
template <class Use, class First, class... Rest>
void after_axes(const Use& use, const First& first, const Rest&... rest) {
  if constexpr (std::same_as<First, axes>) {
    use(first, rest...);
  } else {
    static_assert(axis_number<First>,
                  "tilefold: axis_reduce needs the axes to reduce after its output: integers, or "
                  "tilefold::axes{...}");
    detail::after_integers(use, axes{}, first, rest...);
  }
}

}  // namespace detail

/// Folds the elements of a view along some of its axes with an associative operator or a reducer.
///
///     axis_reduce_into(exec, in, out, 0, 2, ...)          // axes 0 and 2 are folded away
///     axis_reduce_into(exec, in, out, axes{0, 2}, ...)    // the same
///
/// At the end stands, as in reduce(), nothing (a sum), `op`, `init`, or `init, op`. After axes that
/// are given as integers an integer is one more axis: give an integral initial value after axes{}.
///
/// - Views: `in` and `out` are cuda::std::mdspan, std::mdspan or anything with their rank(),
///   extent(i), stride(i) and data_handle(), up to rank 8, with any strides. `out` has the extents
///   of the axes that are kept, in their order; or all axes of `in`, with extent 1 where they are
///   reduced. Its elements must not overlap each other or `in`. Memory is what the executor reads
///   and writes.
/// - Result: out[k] has the bits of reduce(), with the same arguments, over the elements of `in`
///   whose kept indices are k, taken with the reduced axes in row-major order: their indices
///   ascend, the last reduced axis of `in` fastest, whatever the layout and the order in which axes
///   are named. Indices that a reducer yields count in that order from 0.
/// - Without any element (a reduced extent is 0) a result is the value of if_empty(), else `init`,
///   else the operator's identity, else empty_range_error is thrown.
/// - On a CUDA executor the call is asynchronous in its stream, one launch (without elements up to
///   three for each line of results that go by one stride); what the views lead to must live until
///   the stream has passed it. Workspace: none where results are many; else at most
///   an accumulator for every 16 elements of each result (for every 2 where items or accumulators
///   have more than 64 bytes).
/// - Work: as many combines as reduce() would need for each result. Fastest where the elements of
///   all results lie in a row and results go by one stride, or results stand side by side in memory
///   ("columns", also of every matrix in a stack), at 16-byte addresses. Other strides work, at a
///   fraction of the speed.
/// - Throws as reduce() does; shape_error for an axis that does not exist or is named twice, for
///   extents of `out` that do not fit, and for a rank above 8.
template <class Acc = void, executor Exec, class In, class Out, class... AxesInitOp>
void axis_reduce_into(Exec&& exec, const In& in, const Out& out, AxesInitOp... axes_init_op) {
  if constexpr (detail::are_views<In, Out>()) {
    detail::after_axes(
        [&](const axes& reduced, const auto&... init_op) {
          detail::reduce_axes<Acc>(exec, in, out, reduced, init_op...);
        },
        axes_init_op...);
  }
}

/// Does the same synchronously. The executor may be left out: then the memory of `in` decides, as
/// in reduce().
template <class Acc = void, executor Exec, class In, class Out, class... AxesInitOp>
void axis_reduce(Exec&& exec, const In& in, const Out& out, AxesInitOp... axes_init_op) {
  detail::wait_for(exec, [&] { tilefold::axis_reduce_into<Acc>(exec, in, out, axes_init_op...); });
}

template <class Acc = void, class Dispatch = detail::default_dispatch, class In, class Out,
          class... AxesInitOp>
  requires(!executor<In> && !detail::stand_in<In>)
void axis_reduce(const In& in, const Out& out, AxesInitOp... axes_init_op) {
  if constexpr (detail::are_views<In, Out>()) {
    Dispatch::template with_executor<AxesInitOp...>(in.data_handle(), [&](auto&& exec) {
      tilefold::axis_reduce<Acc>(exec, in, out, axes_init_op...);
    });
  }
}

TILEFOLD_TAKES_STAND_INS(axis_reduce)
TILEFOLD_TAKES_STAND_INS(axis_reduce_into)

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
