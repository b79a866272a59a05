// SPDX-License-Identifier: Apache-2.0
//
// Short trees of a forest, gathered so that the library tilefold::host folds many of them at once.
// Only programs that link it may use this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <tilefold/detail/bound_reducer.hpp>
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

/// Calls keep(i, fold of tree i) for the trees that it is given, some time until finish().
template <class Source, class Reducer, class Keep, bool Known>
class short_trees {
 public:
  short_trees(const simd_short_fold&, const Keep&) {}
  static constexpr bool take(std::int64_t) { return false; }
  void add(std::int64_t, const Source&, std::int64_t) {}
  void finish() {}
};

template <class It, class Reducer, class Keep>
class short_trees<source<It>, Reducer, Keep, true> {
  using accumulator = typename Reducer::accumulator;

 public:
  short_trees(const simd_short_fold& fold, const Keep& keep) : fold_(fold), keep_(keep) {}

  /// Whether a tree of n >= 1 elements may be added.
  bool take(std::int64_t n) const { return n <= fold_.most_items; }

  void add(std::int64_t i, const source<It>& elements, std::int64_t n) {
    arrays_[count_] = std::to_address(elements.template iterator<0>(elements));
    counts_[count_] = static_cast<std::int32_t>(n);
    numbers_[count_] = i;
    if (++count_ == room) finish();
  }

  void finish() {
    if (count_ == 0) return;
    accumulator values[room];
    fold_.run(arrays_, counts_, count_, values);
    for (std::int64_t k = 0; k < count_; ++k) keep_(numbers_[k], values[k]);
    count_ = 0;
  }

 private:
  // Enough that a call costs nothing, few enough to stay in the first-level cache.
  static constexpr std::int64_t room = 128;

  const simd_short_fold& fold_;
  const Keep& keep_;
  std::int64_t count_ = 0;
  const void* arrays_[room];
  std::int32_t counts_[room];
  std::int64_t numbers_[room];
};

template <class Source, class Reducer, class Keep>
using short_trees_of = short_trees<Source, Reducer, Keep, worth_asking(short_key<Source, Reducer>)>;

}  // namespace tilefold::detail::host
