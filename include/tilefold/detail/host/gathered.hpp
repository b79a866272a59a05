// SPDX-License-Identifier: Apache-2.0
//
// Items that do not stand in an array of their own type: a block of them is copied to one, in the
// first-level cache, and folded there as any array is, with vector instructions where there are
// some. The blocks are nodes of the tree. Host only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/host/places.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/tree.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail::host {

/// An iterator that copies items of a kind that arrays on the stack can hold.
template <class It>
concept copies_items = copies_rows<It> && std::is_trivially_copyable_v<std::iter_value_t<It>> &&
                       std::is_trivially_default_constructible_v<std::iter_value_t<It>> &&
                       sizeof(std::iter_value_t<It>) <= 16;

/// Whether a source is folded so: such items, alone or with their indices.
template <class Source>
inline constexpr bool is_gathered = false;
template <copies_items It>
inline constexpr bool is_gathered<source<It>> = true;
template <copies_items It>
inline constexpr bool is_gathered<source<index_iterator, It>> = true;

/// What to ask find_simd_fold() for a reducer over an array of what a source reads, alone or with
/// its indices.
template <class Source, class Reducer>
inline constexpr simd_key array_key{};
template <class It, class Reducer>
inline constexpr simd_key array_key<source<It>, Reducer> =
    range_key_of<typename of_stored<Reducer>::type, const std::iter_value_t<It>*>;
template <class It, class Reducer>
inline constexpr simd_key array_key<source<index_iterator, It>, Reducer> =
    first_place_key<source<index_iterator, const std::iter_value_t<It>*>,
                    typename of_stored<Reducer>::type>;

/// The array of such a source.
template <simd_key Key, reads_array It>
item_array array_of(const source<It>& elements) {
  return item_array::of<Key>(elements.template iterator<0>(elements));
}
template <simd_key Key, reads_array It>
item_array array_of(const source<index_iterator, It>& elements) {
  return item_array::of<Key>(elements.template iterator<1>(elements));
}

/// The fold of ranges of one such source with one reducer, as scalar_fold. fold_array(elements,
/// reducer, n) folds a block's array.
template <class Source, class Reducer, class FoldArray>
class gathered_fold;
template <std::size_t... Index, class... Its, class Reducer, class FoldArray>
class gathered_fold<source_of<std::index_sequence<Index...>, Its...>, Reducer, FoldArray> {
  using source_type = source<Its...>;
  static constexpr std::size_t last = sizeof...(Its) - 1;
  using iterator = std::remove_cvref_t<decltype(source_type::template iterator<last>(
      std::declval<const source_type&>()))>;
  using item = std::iter_value_t<iterator>;

 public:
  using accumulator = typename Reducer::accumulator;

  gathered_fold(const source_type& elements, const Reducer& reducer, const FoldArray& fold_array)
      : elements_(elements), reducer_(reducer), fold_array_(fold_array) {}

  /// So many bytes, a power of two, hold so many items: of their array, if its type is known.
  std::int64_t items_in(std::int64_t bytes) const {
    if constexpr (knows_array<iterator> && worth_asking(key)) {
      return bytes / host::bytes_of(source_type::template iterator<last>(elements_).array_type());
    } else {
      return std::int64_t{1} << tree::floor_log2(bytes / static_cast<std::int64_t>(sizeof(item)));
    }
  }

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    if constexpr (knows_array<iterator> && worth_asking(key)) {
      // Where the array's own type has vector instructions, nothing is copied.
      const iterator items = source_type::template iterator<last>(elements_);
      if (const simd_fold fold =
              find_simd_fold(items.array_op(key.op), items.array_type(), key.accumulator)) {
        accumulator result;
        fold(detail::starting_at(items, first).array(), nullptr, n, &result);
        if constexpr (last == 1) result.index += first;
        return result;
      }
    }
    if (n <= block) return fold_block(first, n);
    if constexpr (fold_traits<Reducer>::settles) {
      return fold_until_settled(first, n);
    } else {
      const std::int64_t split = tree::left_size(n);
      const accumulator left = (*this)(first, split);
      const accumulator right = (*this)(first + split, n - split);
      return closed_steps<Reducer>{reducer_}.combine(left, right);
    }
  }

 private:
  using stored = of_stored<Reducer>;
  static_assert(std::same_as<typename stored::type::accumulator, accumulator>);

  // The key of a fold of an array of these items.
  static constexpr simd_key key = [] {
    if constexpr (last == 0) {
      return range_key_of<typename stored::type, const item*>;
    } else {
      return first_place_key<source<index_iterator, const item*>, typename stored::type>;
    }
  }();
  static constexpr std::int64_t block =
      std::int64_t{1} << tree::floor_log2(16384 / static_cast<std::int64_t>(sizeof(item)));

  accumulator fold_until_settled(std::int64_t first, std::int64_t n) const {
    accumulator value = fold_block(first, block);
    for (std::int64_t i = block; i < n && !reducer_.settled(value); i += block) {
      detail::replace(value, closed_steps<Reducer>{reducer_}.combine(
                                 value, fold_block(first + i, detail::smaller(block, n - i))));
    }
    return value;
  }

  accumulator fold_block(std::int64_t first, std::int64_t n) const {
    item items[block];
    copy_block(first, n, items);
    const item* const array = items;
    if constexpr (last == 0) {
      return fold_array_(source<const item*>{{array}}, stored::of(reducer_), n);
    } else {
      return fold_array_(
          source<position_iterator, const item*>{{{position_iterator{first}}}, {array}},
          stored::of(reducer_), n);
    }
  }

  // Not inlined: g++ does not see else that every item which is read is written, and warns.
  [[gnu::noinline]] void copy_block(std::int64_t first, std::int64_t n, item* to) const {
    source_type::template iterator<last>(elements_).copy(first, n, to);
  }

  const source_type& elements_;
  const Reducer& reducer_;
  const FoldArray& fold_array_;
};

}  // namespace tilefold::detail::host

TILEFOLD_WARNINGS_BACK
