// SPDX-License-Identifier: Apache-2.0
//
// What an axis reduction reads and writes, and in which order: a view and the axes to reduce become
// three sets of strides, with as few axes as will do. Host code that knows no backend.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/error.hpp>

namespace tilefold {

/// The axes of a view that a reduction folds, by their numbers: axes{0, 2}.
struct axes {
  template <std::integral... Axis>
    requires(sizeof...(Axis) <= detail::max_axes)
  constexpr axes(Axis... axis)
      : number{static_cast<std::int64_t>(axis)...}, count(sizeof...(Axis)) {}

  std::int64_t number[detail::max_axes]{};
  int count = 0;
};

namespace detail {

template <class View>
using view_iterator_t = std::remove_cvref_t<decltype(std::declval<const View&>().data_handle())>;

// An accessor that does not simply follow the data handle would be passed over. (No disjunction of
// requirements: clang 14 takes one whose right half is ill-formed for false.)
template <class View>
constexpr bool follows_data_handle() {
  if constexpr (requires { typename View::reference; }) {
    return std::same_as<typename View::reference, std::iter_reference_t<view_iterator_t<View>>>;
  } else {
    return true;
  }
}

// What mdspan has, wherever it comes from.
template <class View>
concept strided_view = requires(const View& view) {
  { view.rank() } -> std::convertible_to<std::int64_t>;
  { view.extent(0) } -> std::convertible_to<std::int64_t>;
  { view.stride(0) } -> std::convertible_to<std::int64_t>;
  requires detail::follows_data_handle<View>();
};

// Such an mdspan has no strides to ask for.
template <class View>
inline constexpr bool has_no_axes = requires { requires View::rank() == 0; };

/// The extents and strides of a view, and which of its axes are reduced.
struct view_shape : strided_axes {
  bool reduced[max_axes]{};
};

[[noreturn]] inline void throw_shape(const std::string& what) {
  throw shape_error("tilefold::axis_reduce: " + what);
}

template <class View>
view_shape shape_of_strided(const View& view, const char* name) {
  if constexpr (requires { view.is_strided(); }) {
    if (!view.is_strided()) {
      detail::throw_shape(std::string(name) + " has a layout without strides");
    }
  }
  const auto rank = static_cast<std::int64_t>(view.rank());
  if (rank > max_axes) {
    detail::throw_shape(std::string(name) + " has rank " + std::to_string(rank) +
                        "; the most is 8");
  }
  view_shape shape;
  shape.rank = static_cast<int>(rank);
  for (int i = 0; i < shape.rank; ++i) {
    shape.extent[i] = static_cast<std::int64_t>(view.extent(static_cast<std::size_t>(i)));
    shape.stride[i] = static_cast<std::int64_t>(view.stride(static_cast<std::size_t>(i)));
    if (shape.extent[i] < 0) {
      detail::throw_shape("the extent of axis " + std::to_string(i) + " of " + name + " is " +
                          std::to_string(shape.extent[i]));
    }
  }
  return shape;
}

template <class View>
view_shape shape_of_view(const View& view, const char* name) {
  if constexpr (has_no_axes<View>) {
    return {};
  } else {
    return detail::shape_of_strided(view, name);
  }
}

inline void mark_reduced(view_shape& in, const axes& named) {
  for (int i = 0; i < named.count; ++i) {
    const std::int64_t axis = named.number[i];
    if (axis < 0 || axis >= in.rank) {
      detail::throw_shape("there is no axis " + std::to_string(axis) + " in a view of rank " +
                          std::to_string(in.rank));
    }
    if (in.reduced[axis]) {
      detail::throw_shape("axis " + std::to_string(axis) + " is named twice");
    }
    in.reduced[axis] = true;
  }
}

/// Which axis of `out` belongs to each axis of `in`; -1 to those that are dropped. Throws if the
/// extents do not fit.
struct matched_axes {
  int of[max_axes];

  matched_axes(const view_shape& in, const view_shape& out, int reduced) {
    const bool keeps_all = out.rank == in.rank;
    if (!keeps_all && out.rank != in.rank - reduced) {
      detail::throw_shape("out has rank " + std::to_string(out.rank) + ", but must have rank " +
                          std::to_string(in.rank - reduced) + ", or " + std::to_string(in.rank) +
                          " with extents of 1 where axes are reduced");
    }
    int next = 0;
    for (int i = 0; i < in.rank; ++i) {
      of[i] = in.reduced[i] && !keeps_all ? -1 : next++;
      if (of[i] >= 0) require(in, out, i, of[i]);
    }
  }

 private:
  static void require(const view_shape& in, const view_shape& out, int i, int o) {
    const std::int64_t wanted = in.reduced[i] ? 1 : in.extent[i];
    if (out.extent[o] == wanted) return;
    detail::throw_shape(
        "axis " + std::to_string(o) + " of out has extent " + std::to_string(out.extent[o]) +
        ", but " +
        (in.reduced[i] ? "must have 1, for axis " + std::to_string(i) + " of in is reduced"
                       : "axis " + std::to_string(i) + " of in has " + std::to_string(wanted)));
  }
};

/// Result number k starts at element columns.offset(k) of the view, reads the elements that lie
/// rows.offset(0), rows.offset(1)... from there, and goes to out.offset(k).
struct axis_plan {
  strided_axes columns;
  strided_axes rows;
  strided_axes out;
  std::int64_t results = 1;
  std::int64_t length = 1;
};

inline std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    detail::throw_shape(std::to_string(a) + " times " + std::to_string(b) +
                        " elements are more than a view can have");
  }
  return product;
}

/// How far the elements of a view lie from the one with all indices 0, whichever way is further. Of
/// a view without elements it is 0, whatever its strides. Throws if 64 bits do not count it.
inline std::int64_t reach_of(const view_shape& shape, const char* name) {
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.extent[i] == 0) return 0;
  }
  std::int64_t ahead = 0;
  std::int64_t behind = 0;
  for (int i = 0; i < shape.rank; ++i) {
    std::int64_t step = 0;
    std::int64_t& way = shape.stride[i] < 0 ? behind : ahead;
    if (__builtin_mul_overflow(shape.extent[i] - 1, shape.stride[i], &step) ||
        __builtin_add_overflow(way, step, &way)) {
      detail::throw_shape("axis " + std::to_string(i) + " of " + name + " has " +
                          std::to_string(shape.extent[i]) + " elements " +
                          std::to_string(shape.stride[i]) +
                          " apart, which leads further than 64 bits count");
    }
  }
  return behind < -ahead ? -(behind + 1) : ahead;
}

/// One axis is enough for indices, and one there must be.
inline void complete(strided_axes& axes) {
  if (axes.rank == 0) axes = {1, {1}, {1}};
}

/// Which result is number k of a plan.
enum class result_order {
  by_stride,  // kept axes with the smallest stride last: neighbours read neighbouring memory, or
              // write it where nothing is read
  by_axis,    // the last axis last, however the view lies
};

/// The plan for `in`, whose reduced axes are marked. The order of those is the order of the fold.
inline axis_plan make_axis_plan(const view_shape& in, const view_shape& out,
                                const matched_axes& matched,
                                result_order order = result_order::by_stride) {
  axis_plan plan;
  bool left[max_axes]{};
  for (int i = in.rank - 1; i >= 0; --i) {
    left[i] = !in.reduced[i] && in.extent[i] != 1;
    auto& size = in.reduced[i] ? plan.length : plan.results;
    size = detail::checked_product(size, in.extent[i]);
    if (in.reduced[i]) plan.rows.prepend(in.extent[i], in.stride[i]);
  }
  if (plan.length > 0) (void)detail::reach_of(in, "in");
  (void)detail::reach_of(out, "out");
  const auto magnitude = [&](int i) {
    if (order == result_order::by_axis) return std::uint64_t{0};
    const std::int64_t stride = plan.length == 0 ? out.stride[matched.of[i]] : in.stride[i];
    const auto bits = static_cast<std::uint64_t>(stride);
    return stride < 0 ? std::uint64_t{0} - bits : bits;
  };
  for (;;) {
    int smallest = -1;
    for (int i = in.rank - 1; i >= 0; --i) {
      if (left[i] && (smallest < 0 || magnitude(i) < magnitude(smallest))) smallest = i;
    }
    if (smallest < 0) break;
    left[smallest] = false;
    plan.columns.prepend(in.extent[smallest], in.stride[smallest]);
    plan.out.prepend(in.extent[smallest], out.stride[matched.of[smallest]]);
  }
  detail::complete(plan.columns);
  detail::complete(plan.rows);
  detail::complete(plan.out);
  return plan;
}

/// What parts of a view along its first axis have in common: "* x 3 x 4 along 0 2".
inline std::string common_shape(const view_shape& in) {
  std::string text = "*";
  for (int i = 1; i < in.rank; ++i) text += " x " + std::to_string(in.extent[i]);
  text += " along";
  for (int i = 0; i < in.rank; ++i) {
    if (in.reduced[i]) text += " " + std::to_string(i);
  }
  return text;
}

/// Whether a plan is one of equal trees, in memory one after the other without gaps, whose results
/// go by one stride; or of trees of nothing, whose results go line by line.
inline bool has_equal_trees(const axis_plan& plan) {
  if (plan.length == 0) return true;
  const bool rows = plan.rows.rank == 1 && (plan.rows.stride[0] == 1 || plan.length == 1);
  const bool columns =
      plan.columns.rank == 1 && (plan.columns.stride[0] == plan.length || plan.results == 1);
  return rows && columns && plan.out.rank == 1;
}

/// The results of a plan of equal trees along the innermost axis of `out`: use(their number, where
/// they go) for each line of them. Only results of nothing may need more than one line.
template <class It, class Use>
void for_each_line(const strided_axes& out, const It& results, const Use& use) {
  const std::int64_t n = out.inner_extent();
  for (std::int64_t done = 0; done < out.size(); done += n) {
    const auto first = detail::starting_at(results, out.offset(done));
    use(n, stepped_output<std::remove_const_t<decltype(first)>>{first, {out.inner_stride()}});
  }
}

}  // namespace detail

}  // namespace tilefold
