// SPDX-License-Identifier: Apache-2.0
//
// Many sequences to be folded to one value each: a forest. Tree i is the first count(i) elements of
// the source tree(i). Where all trees are known to lie in one range of items that are there
// (`in_one_range`), that is all_items(), and tree i starts at its element first(i). Plain values
// that host and device code share. from(i) is the forest without its first i trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>

namespace tilefold::detail {

/// Elements [begin, end) of a source.
struct element_range {
  std::int64_t begin;
  std::int64_t end;
};

/// Trees that are segments of one range, each from begins[i] to ends[i]. Gaps, overlaps and any
/// order are fine, so nothing is known of the items between them.
template <class Source, class Begins, class Ends>
struct segment_forest {
  using source_type = Source;
  static constexpr bool in_one_range = false;

  Source source;
  Begins begins;
  Ends ends;
  std::int64_t num_trees;

  TILEFOLD_HD std::int64_t size() const { return num_trees; }
  TILEFOLD_HD std::int64_t first(std::int64_t i) const {
    return static_cast<std::int64_t>(detail::element(begins, i));
  }
  TILEFOLD_HD std::int64_t count(std::int64_t i) const {
    return static_cast<std::int64_t>(detail::element(ends, i)) - first(i);
  }
  TILEFOLD_HD Source tree(std::int64_t i) const { return detail::starting_at(source, first(i)); }
  TILEFOLD_HD segment_forest from(std::int64_t i) const {
    return {source, detail::starting_at(begins, i), detail::starting_at(ends, i), num_trees - i};
  }
};

template <class Source, class Begins, class Ends>
segment_forest(Source, Begins, Ends, std::int64_t) -> segment_forest<Source, Begins, Ends>;

/// Trees that are segments one after the other: tree i from offsets[i] to offsets[i + 1].
template <class Source, class Offsets>
struct offsets_forest {
  using source_type = Source;
  static constexpr bool in_one_range = true;

  Source source;
  Offsets offsets;
  std::int64_t num_trees;

  TILEFOLD_HD std::int64_t size() const { return num_trees; }
  TILEFOLD_HD std::int64_t first(std::int64_t i) const {
    return static_cast<std::int64_t>(detail::element(offsets, i));
  }
  TILEFOLD_HD std::int64_t count(std::int64_t i) const { return first(i + 1) - first(i); }
  TILEFOLD_HD Source tree(std::int64_t i) const { return detail::starting_at(source, first(i)); }
  TILEFOLD_HD offsets_forest from(std::int64_t i) const {
    return {source, detail::starting_at(offsets, i), num_trees - i};
  }
  TILEFOLD_HD element_range all_items() const { return {first(0), first(num_trees)}; }
};

template <class Source, class Offsets>
offsets_forest(Source, Offsets, std::int64_t) -> offsets_forest<Source, Offsets>;

/// Trees that are segments one after the other, of at most `most_items` items each. Further items
/// of a longer segment are left out, so that nothing is read or written that should not be.
template <class Source, class Offsets>
struct bounded_forest : offsets_forest<Source, Offsets> {
  using base = offsets_forest<Source, Offsets>;

  std::int64_t most_items;

  TILEFOLD_HD std::int64_t count(std::int64_t i) const {
    const std::int64_t items = base::count(i);
    return items < most_items ? items : most_items;
  }
  TILEFOLD_HD bounded_forest from(std::int64_t i) const { return {base::from(i), most_items}; }
};

template <class Source, class Offsets>
bounded_forest(offsets_forest<Source, Offsets>, std::int64_t) -> bounded_forest<Source, Offsets>;

/// Indices from `position` on: of items that are a part of a longer sequence, in that one.
struct position_iterator {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  std::int64_t position;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const { return position + i; }
  TILEFOLD_HD std::int64_t operator*() const { return position; }
  TILEFOLD_HD friend position_iterator operator+(const position_iterator& it, std::int64_t n) {
    return {it.position + n};
  }
};

/// A source whose indices, if it has some, count in a sequence of which it holds the items from
/// `position` on.
template <class It>
It in_whole(const It& it, std::int64_t) {
  return it;
}
inline position_iterator in_whole(const index_iterator&, std::int64_t position) {
  return {position};
}
template <std::size_t... Index, class... Its>
auto in_whole(const source_of<std::index_sequence<Index...>, Its...>& elements,
              std::int64_t position) {
  return detail::placed(elements, [&](const auto& it) { return detail::in_whole(it, position); });
}

/// Trees of `length` elements each, one after the other.
template <class Source>
struct equal_forest {
  using source_type = Source;
  static constexpr bool in_one_range = true;

  Source source;
  std::int64_t num_trees;
  std::int64_t length;

  TILEFOLD_HD std::int64_t size() const { return num_trees; }
  TILEFOLD_HD std::int64_t first(std::int64_t i) const { return i * length; }
  TILEFOLD_HD std::int64_t count(std::int64_t) const { return length; }
  TILEFOLD_HD Source tree(std::int64_t i) const { return detail::starting_at(source, first(i)); }
  TILEFOLD_HD equal_forest from(std::int64_t i) const { return {tree(i), num_trees - i, length}; }
  TILEFOLD_HD element_range all_items() const { return {0, num_trees * length}; }
};

template <class Source>
equal_forest(Source, std::int64_t, std::int64_t) -> equal_forest<Source>;

/// Trees that are arrays by themselves: the first lengths[i] elements from arrays[i] on. An
/// iterator of an empty tree leads nowhere. `Indexed` puts each element's index before it.
template <bool Indexed, class Arrays, class Lengths>
struct array_forest {
  using array_type = decltype(detail::read_only(std::declval<std::iter_value_t<Arrays>>()));
  using source_type =
      std::conditional_t<Indexed, source<index_iterator, array_type>, source<array_type>>;
  static constexpr bool in_one_range = false;

  Arrays arrays;
  Lengths lengths;
  std::int64_t num_trees;

  TILEFOLD_HD std::int64_t size() const { return num_trees; }
  TILEFOLD_HD std::int64_t count(std::int64_t i) const {
    return static_cast<std::int64_t>(detail::element(lengths, i));
  }
  TILEFOLD_HD source_type tree(std::int64_t i) const {
    if constexpr (Indexed) {
      return {{index_iterator{}}, {detail::element(arrays, i)}};
    } else {
      return {{detail::element(arrays, i)}};
    }
  }
  TILEFOLD_HD array_forest from(std::int64_t i) const {
    return {detail::starting_at(arrays, i), detail::starting_at(lengths, i), num_trees - i};
  }
};

template <bool Indexed, class Arrays, class Lengths>
array_forest<Indexed, Arrays, Lengths> make_array_forest(const Arrays& arrays,
                                                         const Lengths& lengths,
                                                         std::int64_t num_trees) {
  return {arrays, lengths, num_trees};
}

// Forests whose size stands in memory that the executor reads (deferred.hpp).

/// A deferred size that an executor can read through Number.
template <class Number>
struct size_in_memory {
  Number at;
  std::int64_t most;

  TILEFOLD_HD std::int64_t get() const {
    const auto size = detail::element(at, 0);
    if (detail::is_negative(size)) return 0;
    const auto magnitude = static_cast<std::uint64_t>(size);
    return magnitude > static_cast<std::uint64_t>(most) ? most
                                                        : static_cast<std::int64_t>(magnitude);
  }
};

/// Trees that are segments one after the other, as of offsets_forest, of a deferred number.
template <class Source, class Offsets, class Number>
struct deferred_forest {
  using source_type = Source;
  static constexpr bool in_one_range = true;

  Source source;
  Offsets offsets;
  size_in_memory<Number> num_trees;
  std::int64_t skipped;

  TILEFOLD_HD std::int64_t size() const { return num_trees.get() - skipped; }
  TILEFOLD_HD std::int64_t first(std::int64_t i) const {
    return static_cast<std::int64_t>(detail::element(offsets, i));
  }
  TILEFOLD_HD std::int64_t count(std::int64_t i) const { return first(i + 1) - first(i); }
  TILEFOLD_HD Source tree(std::int64_t i) const { return detail::starting_at(source, first(i)); }
  TILEFOLD_HD deferred_forest from(std::int64_t i) const {
    return {source, detail::starting_at(offsets, i), num_trees, skipped + i};
  }
  TILEFOLD_HD element_range all_items() const { return {first(0), first(size())}; }
};

/// One tree of a deferred number of items.
template <class Source, class Number>
struct deferred_tree {
  using source_type = Source;
  static constexpr bool in_one_range = true;

  Source source;
  size_in_memory<Number> num_items;

  TILEFOLD_HD std::int64_t size() const { return 1; }
  TILEFOLD_HD std::int64_t first(std::int64_t i) const { return i == 0 ? 0 : num_items.get(); }
  TILEFOLD_HD std::int64_t count(std::int64_t) const { return num_items.get(); }
  TILEFOLD_HD Source tree(std::int64_t) const { return source; }
  TILEFOLD_HD deferred_tree from(std::int64_t) const { return *this; }
  TILEFOLD_HD element_range all_items() const { return {0, num_items.get()}; }
};

}  // namespace tilefold::detail
