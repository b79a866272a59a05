// SPDX-License-Identifier: Apache-2.0
//
// Elements that lie with strides: an index space of several axes, and the forest whose trees stand
// in one. Plain values that host and device code share.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>

namespace tilefold::detail {

inline constexpr int max_axes = 8;

/// a / b for numbers that are not negative. Most fit 32 bits, and GPUs divide those much faster.
TILEFOLD_HD inline std::int64_t quotient(std::int64_t a, std::int64_t b) {
#if defined(__CUDA_ARCH__)
  if (((a | b) >> 32) == 0) return static_cast<unsigned>(a) / static_cast<unsigned>(b);
#endif
  return a / b;
}

/// Up to max_axes axes, at least one, the last one fastest. Strides count elements and may be
/// anything.
struct strided_axes {
  int rank = 0;
  std::int64_t extent[max_axes]{};
  std::int64_t stride[max_axes]{};

  TILEFOLD_HD std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= extent[i];
    return n;
  }
  TILEFOLD_HD std::int64_t inner_extent() const { return extent[rank - 1]; }
  TILEFOLD_HD std::int64_t inner_stride() const { return stride[rank - 1]; }

  /// Where element number `index` in row-major order lies, counted from element 0.
  TILEFOLD_HD std::int64_t offset(std::int64_t index) const {
    return rank == 1 ? index * stride[0] : offset_on_many(index);
  }

  // Apart, because a kernel's registers are for the case of one axis.
  TILEFOLD_APART TILEFOLD_HD std::int64_t offset_on_many(std::int64_t index) const {
    std::int64_t at = 0;
    for (int i = rank - 1; i > 0; --i) {
      const std::int64_t rest = detail::quotient(index, extent[i]);
      at += (index - rest * extent[i]) * stride[i];
      index = rest;
    }
    return at + index * stride[0];
  }

  /// Puts an axis before those that are there, as one with the first of them where they lie so.
  void prepend(std::int64_t n, std::int64_t step) {
    if (n == 1) return;
    // Modulo 2^64: an empty view may have any strides.
    if (rank > 0 && static_cast<std::uint64_t>(step) == static_cast<std::uint64_t>(extent[0]) *
                                                            static_cast<std::uint64_t>(stride[0])) {
      extent[0] *= n;
      return;
    }
    for (int i = rank++; i > 0; --i) {
      extent[i] = extent[i - 1];
      stride[i] = stride[i - 1];
    }
    extent[0] = n;
    stride[0] = step;
  }
};

/// The offsets of `axes`, all `shift` later, as an iterator over nothing in memory.
struct strided_offsets {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  strided_axes axes;
  std::int64_t shift;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const { return axes.offset(i) + shift; }
  TILEFOLD_HD std::int64_t operator*() const { return shift; }
};

/// Where results go: number i through first[axes.offset(i)].
template <class It, class Axes>
struct output_along {
  using value_type = std::iter_value_t<It>;
  using difference_type = std::int64_t;

  It first;
  Axes axes;

  TILEFOLD_HD decltype(auto) operator*() const { return *first; }
  TILEFOLD_HD friend auto operator+(const output_along& out, std::int64_t i) {
    return detail::starting_at(out.first, out.axes.offset(i));
  }
};

/// Of columns.
template <class It>
using strided_output = output_along<It, strided_axes>;

/// Of a forest. Kernels have a store for every node of a tree in registers, so that more than a
/// product would make them much longer.
struct one_step {
  std::int64_t step;
  TILEFOLD_HD std::int64_t offset(std::int64_t i) const { return i * step; }
};
template <class It>
using stepped_output = output_along<It, one_step>;

/// An iterator of ours that copies items to an array at less cost than one by one. It says so: a
/// user's may have a member of that name.
template <class It>
concept copies_rows =
    std::same_as<typename It::copies_rows_tag, It> &&
    requires(const It& it, std::int64_t i, std::iter_value_t<It>* to) { it.copy(i, i, to); };

/// The elements of a tree whose rows lie as `axes` says; refers to them.
template <class It>
struct strided_items {
  using copies_rows_tag = strided_items;
  using value_type = std::iter_value_t<It>;
  using difference_type = std::int64_t;
  using reference = std::iter_reference_t<It>;

  It first;
  const strided_axes* axes;

  reference operator[](std::int64_t i) const {
    return first[static_cast<std::iter_difference_t<It>>(axes->offset(i))];
  }
  reference operator*() const { return *first; }

  /// Copies items [begin, begin + n) to an array.
  void copy(std::int64_t begin, std::int64_t n, value_type* to) const
    requires(std::contiguous_iterator<It> || copies_rows<It>)
  {
    const std::int64_t width = axes->inner_extent();
    while (n > 0) {
      const std::int64_t left = width - begin % width;
      const std::int64_t count = n < left ? n : left;
      copy_row(axes->offset(begin), count, axes->inner_stride(), to);
      begin += count;
      to += count;
      n -= count;
    }
  }

 private:
  void copy_row(std::int64_t at, std::int64_t n, std::int64_t step, value_type* to) const {
    if (step != 1) {
      for (std::int64_t k = 0; k < n; ++k) to[k] = detail::element(first, at + k * step);
    } else if constexpr (copies_rows<It>) {
      first.copy(at, n, to);
    } else {
      for (std::int64_t k = 0; k < n; ++k) to[k] = detail::element(first, at + k);
    }
  }
};

/// Trees that start where `columns` says, each with its elements where `rows` says, counted from
/// its first. Neighbouring trees often stand side by side, as the columns of a matrix do.
template <class Source>
struct column_forest;

template <std::size_t... Index, class... Its>
struct column_forest<source_of<std::index_sequence<Index...>, Its...>> {
  using source_type = source_of<std::index_sequence<Index...>, Its...>;
  static constexpr bool in_one_range = false;

  source_type source;
  strided_axes columns;
  strided_axes rows;

  TILEFOLD_HD std::int64_t size() const { return columns.size(); }
  TILEFOLD_HD std::int64_t count(std::int64_t) const { return rows.size(); }

  /// For the host, while the forest lives.
  auto tree(std::int64_t i) const {
    const std::int64_t first = columns.offset(i);
    return detail::placed(source, [&](const auto& it) { return items(it, first); });
  }

 private:
  template <class It>
  strided_items<It> items(const It& it, std::int64_t first) const {
    return {detail::starting_at(it, first), &rows};
  }
  index_iterator items(const index_iterator& indices, std::int64_t) const { return indices; }
};

}  // namespace tilefold::detail
