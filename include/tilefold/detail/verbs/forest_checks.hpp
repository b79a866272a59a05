// SPDX-License-Identifier: Apache-2.0
//
// What checked() looks for in a forest before it is folded: the first tree whose bounds do not fit
// the items, whose length is negative or whose pointer is null. It is found by a fold over offsets,
// lengths or pointers, so any executor can look.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>

#include <tilefold/config.hpp>
#include <tilefold/detail/core/deferred_forest.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail {

/// A wrong tree, and the two values that describe it.
struct tree_fault {
  static constexpr std::int64_t none = (std::numeric_limits<std::int64_t>::max)();

  std::int64_t tree;
  std::int64_t first;
  std::int64_t second;
};

/// The first tree of which `Judge` says that it is wrong.
template <class Judge>
struct first_fault {
  using accumulator = tree_fault;
  using result = tree_fault;
  static constexpr bool commutative = true;
  static constexpr bool lift_may_fuse = false;
  static constexpr bool combine_may_fuse = false;

  Judge judge;

  template <class First, class Second>
  TILEFOLD_HD tree_fault lift(std::int64_t tree, const First& first, const Second& second) const {
    if (!judge.is_wrong(first, second)) return {tree_fault::none, 0, 0};
    return {tree, Judge::word(first), Judge::word(second)};
  }
  TILEFOLD_HD tree_fault combine(const tree_fault& a, const tree_fault& b) const {
    return b.tree < a.tree ? b : a;
  }
  TILEFOLD_HD tree_fault project(const tree_fault& fault) const { return fault; }
};

/// Whether x > y, of integers that are not negative.
template <std::integral T, std::integral U>
TILEFOLD_HD bool is_more(T x, U y) {
  return static_cast<std::uint64_t>(x) > static_cast<std::uint64_t>(y);
}

struct segment_judge {
  std::int64_t num_items;

  template <class Begin, class End>
  TILEFOLD_HD bool is_wrong(const Begin& begin, const End& end) const {
    return detail::is_negative(begin) || detail::is_negative(end) || detail::is_more(begin, end) ||
           detail::is_more(end, num_items);
  }
  template <class T>
  TILEFOLD_HD static std::int64_t word(const T& x) {
    return static_cast<std::int64_t>(x);
  }
};

struct array_judge {
  template <class Length, class Array>
  TILEFOLD_HD bool is_wrong(const Length& length, const Array& array) const {
    return detail::is_negative(length) || detail::is_more(length, tree_fault::none) ||
           (length > 0 && word(array) == 0);
  }
  /// 0 for a null pointer.
  template <class T>
  TILEFOLD_HD static std::int64_t word(const T& x) {
    if constexpr (std::is_pointer_v<T>) {
      return x == nullptr ? 0 : 1;
    } else if constexpr (std::integral<T>) {
      return static_cast<std::int64_t>(x);
    } else {
      return 1;
    }
  }
};

template <class Executor, class Judge, class First, class Second>
tree_fault find_fault(Executor& exec, const Judge& judge, std::int64_t num_trees,
                      const First& first, const Second& second) {
  exec.require_checking();
  const source<index_iterator, First, Second> trees{{index_iterator{}}, {first}, {second}};
  return exec.template fold<default_policy>(trees, first_fault<Judge>{judge}, no_init{}, num_trees);
}

/// What stood in memory, whose type is T.
template <class T>
std::string shown(std::int64_t word) {
  return std::to_string(static_cast<T>(word));
}

/// Throws segment_error if a tree of `forest` is not where trees can be, the range it lies in
/// having `num_items` items. This one is for forests that nothing of the caller's describes.
template <class Executor, class Forest>
void require_sound(Executor&, const Forest&, std::int64_t) {}

template <class Executor, class Begins, class Ends>
void require_sound_segments(Executor& exec, const Begins& begins, const Ends& ends,
                            std::int64_t num_segments, std::int64_t num_items) {
  using begin_type = std::iter_value_t<Begins>;
  using end_type = std::iter_value_t<Ends>;
  const tree_fault fault =
      detail::find_fault(exec, segment_judge{num_items}, num_segments, begins, ends);
  if (fault.tree == tree_fault::none) return;
  const auto begin = static_cast<begin_type>(fault.first);
  const auto end = static_cast<end_type>(fault.second);
  const std::string why = detail::is_negative(begin) ? "begins before the first item"
                          : detail::is_negative(end) || detail::is_more(begin, end)
                              ? "ends before it begins"
                              : "ends after the last of " + std::to_string(num_items) + " items";
  throw segment_error("tilefold: segment " + std::to_string(fault.tree) + ", [" +
                          detail::shown<begin_type>(fault.first) + ", " +
                          detail::shown<end_type>(fault.second) + "), " + why,
                      fault.tree);
}

template <class Executor, class Source, class Begins, class Ends>
void require_sound(Executor& exec, const segment_forest<Source, Begins, Ends>& forest,
                   std::int64_t num_items) {
  detail::require_sound_segments(exec, forest.begins, forest.ends, forest.size(), num_items);
}

template <class Executor, class Source, class Offsets>
void require_sound(Executor& exec, const offsets_forest<Source, Offsets>& forest,
                   std::int64_t num_items) {
  detail::require_sound_segments(exec, forest.offsets, detail::starting_at(forest.offsets, 1),
                                 forest.size(), num_items);
}

/// Segments that are sound, but perhaps too long.
struct length_judge {
  std::int64_t most_items;

  template <class Begin, class End>
  TILEFOLD_HD bool is_wrong(const Begin& begin, const End& end) const {
    return static_cast<std::int64_t>(end) - static_cast<std::int64_t>(begin) > most_items;
  }
  template <class T>
  TILEFOLD_HD static std::int64_t word(const T& x) {
    return static_cast<std::int64_t>(x);
  }
};

template <class Executor, class Source, class Offsets>
void require_sound(Executor& exec, const bounded_forest<Source, Offsets>& forest,
                   std::int64_t num_items) {
  const auto ends = detail::starting_at(forest.offsets, 1);
  detail::require_sound_segments(exec, forest.offsets, ends, forest.size(), num_items);
  const tree_fault fault = detail::find_fault(exec, length_judge{forest.most_items}, forest.size(),
                                              forest.offsets, ends);
  if (fault.tree == tree_fault::none) return;
  using offset = std::iter_value_t<Offsets>;
  throw segment_error("tilefold: segment " + std::to_string(fault.tree) + ", [" +
                          detail::shown<offset>(fault.first) + ", " +
                          detail::shown<offset>(fault.second) + "), is longer than the bound of " +
                          std::to_string(forest.most_items) + " items",
                      fault.tree);
}

template <class Executor, class Source>
void require_sound(Executor&, const equal_forest<Source>& forest, std::int64_t num_items) {
  if (forest.length == 0 || forest.num_trees <= num_items / forest.length) return;
  throw segment_error("tilefold: " + std::to_string(forest.num_trees) + " segments of " +
                          std::to_string(forest.length) + " items end after the last of " +
                          std::to_string(num_items) + " items",
                      num_items / forest.length);
}

template <class Executor, bool Indexed, class Arrays, class Lengths>
void require_sound(Executor& exec, const array_forest<Indexed, Arrays, Lengths>& forest,
                   std::int64_t) {
  const tree_fault fault =
      detail::find_fault(exec, array_judge{}, forest.size(), forest.lengths, forest.arrays);
  if (fault.tree == tree_fault::none) return;
  const std::string length = detail::shown<std::iter_value_t<Lengths>>(fault.first);
  const std::string what = fault.first < 0 || fault.second != 0
                               ? " cannot have " + length + " items"
                               : " is a null pointer, but has " + length + " items";
  throw segment_error("tilefold: array " + std::to_string(fault.tree) + what, fault.tree);
}

/// The only element of a range.
template <class T>
struct only_element {
  using accumulator = T;
  using result = T;
  static constexpr bool commutative = true;
  static constexpr bool lift_may_fuse = false;
  static constexpr bool combine_may_fuse = false;

  TILEFOLD_HD T lift(T value) const { return value; }
  TILEFOLD_HD T combine(T value, T) const { return value; }
  TILEFOLD_HD T project(T value) const { return value; }
};

/// The size, looked at; throws if it is not one of those that were told.
template <class Executor, class Number>
std::int64_t require_sound_size(Executor& exec, const size_in_memory<Number>& size) {
  using value = std::iter_value_t<Number>;
  exec.require_checking();
  const auto found = exec.template fold<default_policy>(
      source<Number>{{size.at}}, only_element<value>{}, no_init{}, std::int64_t{1});
  if (detail::is_negative(found) || detail::is_more(found, size.most)) {
    throw invalid_range_error("tilefold: a deferred size is " + std::to_string(found) +
                              ", not one of 0 to " + std::to_string(size.most));
  }
  return static_cast<std::int64_t>(found);
}

template <class Executor, class Source, class Offsets, class Number>
void require_sound(Executor& exec, const deferred_forest<Source, Offsets, Number>& forest,
                   std::int64_t num_items) {
  const std::int64_t segments = detail::require_sound_size(exec, forest.num_trees);
  if (segments == 0) return;
  detail::require_sound_segments(exec, forest.offsets, detail::starting_at(forest.offsets, 1),
                                 segments, num_items);
}

template <class Executor, class Source, class Number>
void require_sound(Executor& exec, const deferred_tree<Source, Number>& forest,
                   std::int64_t num_items) {
  const std::int64_t n = detail::require_sound_size(exec, forest.num_items);
  if (n <= num_items) return;
  throw invalid_range_error("tilefold: a deferred size is " + std::to_string(n) +
                            ", more than the " + std::to_string(num_items) + " items");
}

}  // namespace tilefold::detail
