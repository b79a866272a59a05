// SPDX-License-Identifier: Apache-2.0
//
// Views of several dimensions for the tests of axis reductions: one whose rank is known when the
// test runs, the layouts it can have, and nested loops that gather what each result is made of. Of
// the library it uses the name for a set of axes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilefold/axis_reduce.hpp>

namespace tilefold::test {

/// Extents, and strides in elements.
struct view_layout {
  std::vector<std::int64_t> extents, strides;

  /// Elements from the first to the last.
  std::int64_t span() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] == 0) return 0;
      last += (extents[i] - 1) * strides[i];
    }
    return last + 1;
  }
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      all += std::to_string(extents[i]) + ":" + std::to_string(strides[i]) + " ";
    }
    return all;
  }
};

/// The layout whose axes lie as `order` says, fastest first, each padded by `padding` elements.
inline view_layout layout_in_order(std::vector<std::int64_t> extents,
                                   const std::vector<std::size_t>& order, std::int64_t step = 1,
                                   std::int64_t padding = 0) {
  view_layout layout{extents, std::vector<std::int64_t>(extents.size(), 1)};
  for (const std::size_t axis : order) {
    layout.strides[axis] = step;
    step = step * extents[axis] + padding;
  }
  return layout;
}

inline view_layout right_layout(const std::vector<std::int64_t>& extents, std::int64_t step = 1,
                                std::int64_t padding = 0) {
  std::vector<std::size_t> order;
  for (std::size_t i = extents.size(); i-- > 0;) order.push_back(i);
  return layout_in_order(extents, order, step, padding);
}

inline view_layout left_layout(const std::vector<std::int64_t>& extents) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < extents.size(); ++i) order.push_back(i);
  return layout_in_order(extents, order);
}

/// What an mdspan shows of itself.
template <class It>
struct test_view {
  It first;
  view_layout layout;

  std::size_t rank() const { return layout.extents.size(); }
  std::int64_t extent(std::size_t i) const { return layout.extents[i]; }
  std::int64_t stride(std::size_t i) const { return layout.strides[i]; }
  It data_handle() const { return first; }
};

template <class It>
test_view(It, view_layout) -> test_view<It>;

/// A view whose elements lie in C order from `first` on.
template <class It>
test_view<It> row_major(It first, const std::vector<std::int64_t>& extents) {
  return {first, right_layout(extents)};
}

/// Calls visit(offset) for every element of the axes in `axes`, in row-major order.
template <class Visit>
void for_each_offset(const view_layout& layout, const std::vector<std::size_t>& axes,
                     const Visit& visit, std::size_t depth = 0, std::int64_t offset = 0) {
  if (depth == axes.size()) {
    visit(offset);
    return;
  }
  const std::size_t axis = axes[depth];
  for (std::int64_t i = 0; i < layout.extents[axis]; ++i) {
    for_each_offset(layout, axes, visit, depth + 1, offset + i * layout.strides[axis]);
  }
}

/// The axes whose bits are in `set`, as the library is told them.
inline axes named(unsigned set) {
  axes all;
  for (int i = 0; i < 8; ++i) {
    if ((set >> i) & 1u) all.number[all.count++] = i;
  }
  return all;
}

/// Items that are their own indices.
inline std::vector<std::uint32_t> counted(std::int64_t n) {
  std::vector<std::uint32_t> items;
  for (std::int64_t i = 0; i < n; ++i) items.push_back(static_cast<std::uint32_t>(i));
  return items;
}

/// Axes whose bit in `set` is `bit`.
inline std::vector<std::size_t> axes_in(unsigned set, bool bit, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    if (((set >> i) & 1u) == static_cast<unsigned>(bit)) axes.push_back(i);
  }
  return axes;
}

/// The extents of a result: without the reduced axes, or with 1 in their place.
inline std::vector<std::int64_t> result_extents(const view_layout& layout, unsigned reduced,
                                                bool keep) {
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < layout.extents.size(); ++i) {
    const bool is_reduced = ((reduced >> i) & 1u) != 0;
    if (!is_reduced || keep) extents.push_back(is_reduced ? 1 : layout.extents[i]);
  }
  return extents;
}

}  // namespace tilefold::test
