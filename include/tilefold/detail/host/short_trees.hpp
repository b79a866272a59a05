// SPDX-License-Identifier: Apache-2.0
//
// Short trees of a forest, gathered so that the library tilefold::host folds many of them at once.
// Only programs that link it may use this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::detail::host {

/// What to ask find_short_fold() for a reducer over a source.
template <class Source, class Reducer>
inline constexpr simd_key short_key{};
template <class It, class Reducer>
inline constexpr simd_key short_key<source<It>, Reducer> = simd_key_of<Reducer, It>;

/// The fold for them, or one that takes no tree.
template <class Source, class Reducer>
simd_short_fold find_short_fold_of() {
  constexpr simd_key key = short_key<Source, Reducer>;
  if constexpr (worth_asking(key)) return find_short_fold(key.op, key.value, key.accumulator);
  return {};
}

/// Takes trees one after the other, from number `first` on; calls keep(i, fold of tree i) for short
/// ones, some time until finish(), and other(i) for all others.
template <class Source, class Reducer, class Keep, class Other, bool Known>
class short_trees {
 public:
  short_trees(const simd_short_fold&, const Keep&, const Other& other, std::int64_t first)
      : other_(other), next_(first) {}
  void add(const Source&, std::int64_t) { other_(next_++); }
  template <class Forest>
  void add_to(const Forest&, std::int64_t last) {
    while (next_ < last) other_(next_++);
  }
  void finish() {}

 private:
  const Other& other_;
  std::int64_t next_;
};

template <class It, class Reducer, class Keep, class Other>
class short_trees<source<It>, Reducer, Keep, Other, true> {
  using accumulator = typename Reducer::accumulator;

 public:
  short_trees(const simd_short_fold& fold, const Keep& keep, const Other& other, std::int64_t first)
      : fold_(fold), keep_(keep), other_(other), first_(first) {}

  void add(const source<It>& elements, std::int64_t n) {
    put(count_++, elements, n);
    items_ += n;
    if (count_ == room || items_ >= most_items) finish();
  }

  /// All trees of a forest up to number `last`.
  template <class Forest>
  void add_to(const Forest& forest, std::int64_t last) {
    while (first_ < last) {
      const std::int64_t most = detail::smaller(last - first_, room);
      std::int64_t items = 0;
      std::int64_t count = 0;
      for (; count < most && items < most_items; ++count) {
        const std::int64_t n = forest.count(first_ + count);
        put(count, forest.tree(first_ + count), n);
        items += n;
      }
      count_ = count;
      finish();
    }
  }

  void finish() {
    if (count_ == 0) return;
    // A copy that nothing else can see, so that what it refers to stays in registers.
    const Keep keep = keep_;
    accumulator values[room];
    if (fold_.run != nullptr) fold_.run(arrays_, counts_, count_, values);
    for (std::int64_t k = 0; k < count_; ++k) {
      if (counts_[k] != 0) {
        keep(first_ + k, values[k]);
      } else {
        other_(first_ + k);
      }
    }
    first_ += count_;
    count_ = 0;
    items_ = 0;
  }

 private:
  void put(std::int64_t k, const source<It>& elements, std::int64_t n) {
    arrays_[k] = std::to_address(elements.template iterator<0>(elements));
    // 0 is for others, all of them if there is no fold. Without a branch, which lengths would make
    // hard to foretell.
    counts_[k] = static_cast<std::int32_t>(n > 0 && n <= fold_.most_items ? n : 0);
  }

  // Enough that a call costs nothing, few enough to stay in the first-level cache.
  static constexpr std::int64_t room = most_short_arrays;
  // And what these trees and the next ones hold stays in the second-level cache.
  static constexpr std::int64_t most_items = 65536 / sizeof(std::iter_value_t<It>);

  const simd_short_fold fold_;
  const Keep& keep_;
  const Other& other_;
  std::int64_t first_;
  std::int64_t count_ = 0;
  std::int64_t items_ = 0;
  const void* arrays_[room];
  std::int32_t counts_[room];
};

template <class Source, class Reducer, class Keep, class Other>
using short_trees_of =
    short_trees<Source, Reducer, Keep, Other, worth_asking(short_key<Source, Reducer>)>;

/// Whether the trees of a forest are alike, one after the other and short.
template <class Forest>
bool has_equal_short_trees(const simd_short_fold&, const Forest&) {
  return false;
}
template <class Source>
bool has_equal_short_trees(const simd_short_fold& fold, const equal_forest<Source>& forest) {
  return forest.length > 0 && forest.length <= fold.most_items;
}

/// Calls keep(i, fold of tree i) for trees [first, last) of such a forest.
template <class It, class Reducer, class Keep>
void fold_equal_short_trees(const simd_short_fold& fold, const equal_forest<source<It>>& forest,
                            const Reducer&, std::int64_t first, std::int64_t last,
                            const Keep& keep) {
  const Keep own = keep;
  typename Reducer::accumulator values[most_short_arrays];
  for (std::int64_t i = first; i < last; i += most_short_arrays) {
    const std::int64_t n = detail::smaller(last - i, most_short_arrays);
    const auto elements = forest.tree(i);
    fold.run_equal(std::to_address(elements.template iterator<0>(elements)), forest.length, n,
                   values);
    for (std::int64_t k = 0; k < n; ++k) own(i + k, values[k]);
  }
}
template <class Forest, class Reducer, class Keep>
void fold_equal_short_trees(const simd_short_fold&, const Forest&, const Reducer&, std::int64_t,
                            std::int64_t, const Keep&) {}

}  // namespace tilefold::detail::host
