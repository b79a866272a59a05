// SPDX-License-Identifier: Apache-2.0
//
// Short trees of a forest, gathered so that the library tilefold::host folds many of them at once.
// Only programs that link it may use this.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/host/simd.hpp>

namespace tilefold::detail::host {

/// The fold for a reducer over a source, or one that takes no tree.
template <class Source, class Reducer>
simd_short_fold find_short_fold_of() {
  constexpr simd_key key = source_key<Source, Reducer>;
  if constexpr (worth_asking(key)) return find_short_fold(key.op, key.value, key.accumulator);
  return {};
}

/// Calls keep(i, fold of tree i) for n trees from number `first` on, up to most_short_arrays, of
/// `length` items each: they lie one after the other from `elements` on.
template <class Reducer, class It, class Keep>
[[gnu::noinline]] void fold_in_a_row(const simd_short_fold& fold, const source<It>& elements,
                                     std::int64_t length, std::int64_t first, std::int64_t n,
                                     const Keep& keep) {
  // A copy that nothing else can see, so that what it refers to stays in registers.
  const Keep own = keep;
  typename Reducer::accumulator values[most_short_arrays];
  fold.run_equal(std::to_address(elements.template iterator<0>(elements)), length, n, values);
  for (std::int64_t k = 0; k < n; ++k) own(first + k, values[k]);
}

/// Takes trees one after the other, from number `first` on; calls keep(i, fold of tree i) for short
/// ones, some time until finish(), and other(i) for all others.
template <class Source, class Reducer, class Keep, class Other, bool Known>
class short_trees {
 public:
  short_trees(const simd_short_fold&, const Keep&, const Other& other, std::int64_t)
      : other_(other) {}

  void add(std::int64_t i, const Source&, std::int64_t) { other_(i); }
  void finish(std::int64_t) {}
  template <class Forest>
  void fold_all(const Forest&, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) other_(i);
  }

 private:
  const Other& other_;
};

template <class It, class Reducer, class Keep, class Other>
class short_trees<source<It>, Reducer, Keep, Other, true> {
  using accumulator = typename Reducer::accumulator;

 public:
  short_trees(const simd_short_fold& fold, const Keep& keep, const Other& other, std::int64_t first)
      : fold_(fold), keep_(keep), other_(other), first_(first) {}

  /// The next tree, which lies behind the ones before in the same array.
  void add(std::int64_t i, const source<It>& elements, std::int64_t n) {
    const std::int64_t k = i - first_;
    put(k, elements, n);
    const auto bytes =
        reinterpret_cast<std::uintptr_t>(arrays_[k]) - reinterpret_cast<std::uintptr_t>(arrays_[0]);
    if (k + 1 == room || bytes >= most_bytes) finish(i + 1);
  }

  /// There are no more trees than up to number `last`, or so for now.
  void finish(std::int64_t last) {
    const std::int64_t count = last - first_;
    if (count == 0) return;
    // A copy that nothing else can see, so that what it refers to stays in registers.
    const Keep keep = keep_;
    accumulator values[room];
    if (fold_.run != nullptr) fold_.run(arrays_, counts_, count, values);
    std::int64_t folded = 0;
    for (std::int64_t k = 0; k < count; ++k) folded += counts_[k] != 0;
    if (folded == count) {
      for (std::int64_t k = 0; k < count; ++k) keep(first_ + k, values[k]);
    } else {
      keep_some(keep, values, count);
    }
    first_ = last;
  }

  /// Trees [first, last) of a forest and nothing else.
  template <class Forest>
  void fold_all(const Forest& forest, std::int64_t first, std::int64_t last) {
    while (first < last) {
      const std::int64_t most = detail::smaller(last - first, room);
      if (const std::int64_t length = common_length(forest, first, most); length > 0) {
        host::fold_in_a_row<Reducer>(fold_, forest.tree(first), length, first, most, keep_);
        first_ = first += most;
        continue;
      }
      std::int64_t items = 0;
      std::int64_t k = 0;
      for (; k < most && items < most_bytes / item_bytes; ++k) {
        const std::int64_t n = forest.count(first + k);
        put(k, forest.tree(first + k), n);
        items += n;
      }
      if (items > k * most_mean_items) {
        for (std::int64_t i = first; i < first + k; ++i) other_(i);
        first_ = first += k;
      } else {
        finish(first += k);
      }
    }
  }

 private:
  // The length of trees [first, first + n), if it is one that folds here and they lie one after the
  // other; else 0. Looks at a few at a time, since most trees differ soon.
  template <class Forest>
  std::int64_t common_length(const Forest& forest, std::int64_t first, std::int64_t n) const {
    if constexpr (Forest::in_one_range) {
      const std::int64_t length = forest.count(first);
      if (length <= 0 || length > fold_.most_items) return 0;
      constexpr std::int64_t at_a_time = 16;
      for (std::int64_t k = first; k < first + n; k += at_a_time) {
        const std::int64_t end = detail::smaller(k + at_a_time, first + n);
        std::int64_t differ = 0;
        for (std::int64_t i = k; i < end; ++i) {
          differ |= (forest.first(i + 1) - forest.first(i)) ^ length;
        }
        if (differ != 0) return 0;
      }
      return length;
    } else {
      return 0;
    }
  }

  // Lists both kinds first, without a branch for each tree, which a processor would foretell wrong.
  void keep_some(const Keep& keep, const accumulator* values, std::int64_t count) {
    std::int32_t folded[room];
    std::int32_t others[room];
    std::int64_t num_folded = 0;
    std::int64_t num_others = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      folded[num_folded] = others[num_others] = static_cast<std::int32_t>(k);
      const auto is_folded = static_cast<std::int64_t>(counts_[k] != 0);
      num_folded += is_folded;
      num_others += 1 - is_folded;
    }
    for (std::int64_t i = 0; i < num_folded; ++i) keep(first_ + folded[i], values[folded[i]]);
    for (std::int64_t i = 0; i < num_others; ++i) other_(first_ + others[i]);
  }

  void put(std::int64_t k, const source<It>& elements, std::int64_t n) {
    arrays_[k] = std::to_address(elements.template iterator<0>(elements));
    // 0 is for others, all of them if there is no fold. Without a branch, which lengths would make
    // hard to foretell.
    const bool is_short =
        static_cast<std::uint64_t>(n) <= static_cast<std::uint64_t>(fold_.most_items);
    counts_[k] = static_cast<std::int32_t>(n) & -static_cast<std::int32_t>(is_short);
  }

  // Enough that a call costs nothing, few enough that these stay in the first-level cache, and what
  // they and the next ones hold in the second.
  static constexpr std::int64_t room = most_short_arrays;
  static constexpr std::int64_t most_bytes = 65536;
  // Where trees are longer on average, the short ones do not pay for reads out of turn.
  static constexpr std::int64_t most_mean_items = 128;
  static constexpr std::int64_t item_bytes = sizeof(std::iter_value_t<It>);

  const simd_short_fold fold_;
  const Keep& keep_;
  const Other& other_;
  std::int64_t first_;
  const void* arrays_[room];
  std::int32_t counts_[room];
};

template <class Source, class Reducer, class Keep, class Other>
using short_trees_of =
    short_trees<Source, Reducer, Keep, Other, worth_asking(source_key<Source, Reducer>)>;

/// If the trees of a forest are alike, one after the other and short: calls keep(i, fold of tree i)
/// for trees [first, last), and returns true.
template <class Reducer, class Forest, class Keep>
bool fold_equal_short_trees(const simd_short_fold&, const Forest&, std::int64_t, std::int64_t,
                            const Keep&) {
  return false;
}
template <class Reducer, class It, class Keep>
  requires(worth_asking(simd_key_of<Reducer, It>))
bool fold_equal_short_trees(const simd_short_fold& fold, const equal_forest<source<It>>& forest,
                            std::int64_t first, std::int64_t last, const Keep& keep) {
  if (forest.length <= 0 || forest.length > fold.most_items) return false;
  for (std::int64_t i = first; i < last; i += most_short_arrays) {
    const std::int64_t n = detail::smaller(last - i, most_short_arrays);
    host::fold_in_a_row<Reducer>(fold, forest.tree(i), forest.length, i, n, keep);
  }
  return true;
}

}  // namespace tilefold::detail::host
