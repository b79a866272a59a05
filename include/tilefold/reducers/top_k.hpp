// SPDX-License-Identifier: Apache-2.0
//
// The k largest or smallest elements and where they stand, for small k.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tilefold/op.hpp>
#include <tilefold/reducer.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <tilefold/detail/cuda/range/launch_select.cuh>
#endif

TILEFOLD_WARNINGS_OFF

namespace tilefold::reducers {

/// The best elements, best first: operator[](i) is an indexed_value, for i < size(), which is K or
/// the length of a shorter range.
template <class T, int K>
struct best_elements {
  T values[K];
  std::int64_t indices[K];
  std::int64_t count;

  TILEFOLD_HD std::int64_t size() const { return count; }
  TILEFOLD_HD indexed_value<T> operator[](std::int64_t i) const { return {values[i], indices[i]}; }
};

}  // namespace tilefold::reducers

namespace tilefold::detail {

inline constexpr std::int64_t no_element = std::int64_t{1} << 62;

constexpr int ceil_power_of_two(int x) {
  int power = 1;
  while (power < x) power *= 2;
  return power;
}

/// N elements, best first; those that do not exist stand last, and have an index that none has.
template <class Ranking, int N>
struct best_list {
  using ranking = Ranking;
  static constexpr int size = N;
  ranked<Ranking> item[N];
};

template <class Ranking>
TILEFOLD_HD bool is_better(const ranked<Ranking>& a, const ranked<Ranking>& b) {
  if (a.index == no_element) return false;
  if (b.index == no_element) return true;
  return detail::stands_before(a, b);
}

/// Elements of the block, best first, then those that do not exist.
template <class Ranking, int N>
struct block_claims<best_list<Ranking, N>> {
  static bool hold(const best_list<Ranking, N>& acc, std::int64_t begin, std::int64_t end) {
    int found = 0;
    while (found < N && acc.item[found].index != no_element) ++found;
    for (int i = 0; i < N; ++i) {
      const auto& item = acc.item[i];
      if (i >= found && item.index != no_element) return false;
      if (i < found && !block_claims<ranked<Ranking>>::hold(item, begin, end)) return false;
      if (i > 0 && i < found && !detail::is_better(acc.item[i - 1], item)) return false;
    }
    return found > 0;
  }
};

/// Lifts an element to an item of the list, and knows what a list of those needs to know.
template <bool Largest, nan_rule Nan>
struct best_one : arg_extreme<Largest, Nan> {
  // Without branches: warps ask for 32 elements at once.
  template <class Ranking>
  TILEFOLD_HD static bool is_better(const ranked<Ranking>& a, const ranked<Ranking>& b) {
    return static_cast<bool>(Ranking::before(a.key, b.key) |
                             (!Ranking::before(b.key, a.key) & (a.index < b.index)));
  }
  // Worse than any.
  template <class Item>
  TILEFOLD_HD static Item none() {
    return {Item::ranking::last_key, no_element};
  }
};
template <bool Largest, nan_rule Nan>
struct ways<best_one<Largest, Nan>> : arg_extreme_ways<Largest, Nan, tie_rule::first> {};

struct keeps_lists : empty_reducer {};

/// The best k of all, the same list whatever the order of merging: no two elements are equal, for
/// their indices differ.
template <int K, bool Largest, nan_rule Nan>
struct top_k_reducer : keeps_lists {
  static_assert(K >= 1 && K <= 32, "tilefold: top_k takes k from 1 to 32");
  static constexpr bool indexed = true;
  static constexpr int size = ceil_power_of_two(K);

  template <orderable T>
  TILEFOLD_HD best_list<ranking<T, Largest, Nan>, size> lift(const T& value,
                                                             std::int64_t index) const {
    using ranking = detail::ranking<T, Largest, Nan>;
    best_list<ranking, size> list;
    list.item[0] = {ranking::of(value), index};
    for (int i = 1; i < size; ++i) list.item[i] = {ranking::of(value), no_element};
    return list;
  }

  // One list against the other backwards: the better of each pair are the best `size` of all, first
  // falling, then rising; a bitonic merge puts them in order. No branch depends on the data, so
  // everything can stay in registers.
  template <class Ranking>
  TILEFOLD_HD best_list<Ranking, size> combine(const best_list<Ranking, size>& a,
                                               const best_list<Ranking, size>& b) const {
    best_list<Ranking, size> best;
    TILEFOLD_UNROLL()
    for (int i = 0; i < size; ++i) {
      const auto& x = a.item[i];
      const auto& y = b.item[size - 1 - i];
      best.item[i] = detail::is_better(y, x) ? y : x;
    }
    TILEFOLD_UNROLL()
    for (int step = size / 2; step > 0; step /= 2) {
      TILEFOLD_UNROLL()
      for (int i = 0; i < size; ++i) {
        if ((i & step) == 0 && detail::is_better(best.item[i + step], best.item[i])) {
          const auto better = best.item[i + step];
          best.item[i + step] = best.item[i];
          best.item[i] = better;
        }
      }
    }
    return best;
  }

  template <class T>
  TILEFOLD_HD reducers::best_elements<T, K> project(
      const best_list<ranking<T, Largest, Nan>, size>& list) const {
    reducers::best_elements<T, K> best{};
    for (int i = 0; i < K && list.item[i].index != no_element; ++i) {
      const auto place = detail::place_of(list.item[i]);
      best.values[i] = place.value;
      best.indices[i] = place.index;
      best.count = i + 1;
    }
    return best;
  }
};

}  // namespace tilefold::detail

namespace tilefold::reducers {

/// The K largest elements with their indices, largest first, as best_elements; 1 <= K <= 32. Of
/// equal ones the lower index comes first, +0 before -0; NaN is greater than any number, or less
/// under nan_rule::ignore. Where the range is shorter, all of it; empty: an error. The accumulator
/// has K values (the next power of two) with 64-bit indices. On a GPU reduce() of numbers keeps one
/// for a warp; elsewhere (fused, over segments, over values that are no numbers) large ones cost
/// registers.
template <int K, nan_rule Nan = nan_rule::propagate>
struct top_k : detail::top_k_reducer<K, true, Nan> {};

/// The K smallest elements; NaN first, or last under nan_rule::ignore, and -0 before +0.
template <int K, nan_rule Nan = nan_rule::propagate>
struct bottom_k : detail::top_k_reducer<K, false, Nan> {};

}  // namespace tilefold::reducers

namespace tilefold::detail {

template <class R>
  requires std::derived_from<R, keeps_lists>
struct functions_of<R> {
  template <class T, class...>
  static constexpr bool fit() {
    constexpr bool yes = std::is_default_constructible_v<T> && std::is_copy_assignable_v<T>;
    static_assert(yes,
                  "tilefold: top_k and bottom_k keep items in an array: they need a default "
                  "constructor and assignment");
    return yes;
  }
};

template <bool Largest, nan_rule Nan>
struct best_list_ways : order_free_ways {
  using of_one = best_one<Largest, Nan>;

  template <class R, class T, int Size>
  TILEFOLD_HD static void absorb(const R&, best_list<ranking<T, Largest, Nan>, Size>& list,
                                 const T& value, std::int64_t index) {
    using ranking = detail::ranking<T, Largest, Nan>;
    const auto key = ranking::of(value);
    const auto& last = list.item[Size - 1];
    if (!ranking::before(key, last.key) && last.index != no_element) return;
    insert(list, {key, index});
  }

 private:
  // Every element worse than the new one moves a place down.
  template <class Ranking, int Size>
  TILEFOLD_HD static void insert(best_list<Ranking, Size>& list, ranked<Ranking> added) {
    TILEFOLD_UNROLL()
    for (int i = 0; i < Size; ++i) {
      const auto here = list.item[i];
      const bool is_better = detail::is_better(added, here);
      list.item[i] = is_better ? added : here;
      added = is_better ? here : added;
    }
  }
};
template <int K, nan_rule Nan>
struct ways<reducers::top_k<K, Nan>> : best_list_ways<true, Nan> {};
template <int K, nan_rule Nan>
struct ways<reducers::bottom_k<K, Nan>> : best_list_ways<false, Nan> {};

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
