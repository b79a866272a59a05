// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree on the calling thread, for every operator and iterator. A range is split at
// powers of two, as tree.hpp says, down to blocks; a block is folded run by run, a run being a few
// neighbours in registers, and the values of the runs then level by level. Host only.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include <tilefold/reducer.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::host {

// The result of a lift or a combine, closed to fusion with the operations that use it: which of
// them a compiler sees together depends on unrolling and inlining, and must not move a bit.
template <bool MayFuse, class T>
[[gnu::always_inline]] inline T apart(T value) {
  if constexpr (MayFuse && floating_or_complex<T>) {
    return own_value(value);
  } else {
#if defined(__GNUC__) && !defined(__clang__) && (defined(__FMA__) || !defined(__x86_64__))
    if constexpr (MayFuse && std::is_trivially_copyable_v<T>) asm("" : "+m"(value));
#endif
    return value;
  }
}

template <class Reducer, class T>
[[gnu::always_inline]] inline T combine(const Reducer& reducer, const T& a, const T& b) {
  return apart<Reducer::combine_may_fuse, T>(reducer.combine(a, b));
}

// Element i as an accumulator; the element itself, not a copy, where it is one already.
template <class Source, class Reducer>
typename Reducer::accumulator leaf(const Source& elements, const Reducer& reducer, std::int64_t i) {
  return apart<Reducer::lift_may_fuse>(elements.lift(reducer, i));
}
template <class It, class Acc, class Op>
requires std::same_as<std::iter_reference_t<It>, Acc&> ||
    std::same_as<std::iter_reference_t<It>, const Acc&> const Acc& leaf(
        const source<It>& elements, const op_reducer<Acc, Op, as_is>&, std::int64_t i) {
  return element(elements.template iterator<0>(elements), i);
}

// Reads ahead where the elements are known to lie in a row: left to itself, hardware fetches more
// slowly for the many runs of a block than for one long loop (docs/host.md).
template <class Source>
void prefetch_elements(const Source&, std::int64_t, std::int64_t) {}
template <std::contiguous_iterator It>
void prefetch_elements(const source<It>& elements, std::int64_t first, std::int64_t n) {
  constexpr std::uintptr_t distance = 4096;
  constexpr auto size = static_cast<std::int64_t>(sizeof(std::iter_value_t<It>));
  const auto begin =
      reinterpret_cast<std::uintptr_t>(std::to_address(elements.template iterator<0>(elements)));
  // May point past the array, harmlessly; so it must not be formed as a pointer into it.
  const auto ahead = begin + static_cast<std::uintptr_t>(first * size) + distance;
  for (std::int64_t line = 0; line < n * size; line += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + static_cast<std::uintptr_t>(line)));
  }
}

// The elements of a run, a power of two, are independent enough to hide an operation's latency and
// few enough to stay in registers.
template <class T>
inline constexpr int run_level = sizeof(T) <= 32 ? 3 : 2;

inline constexpr int runs_per_block = 32;

// The node of `Level` whose first element is `i`; all its 2^Level elements exist.
template <int Level, class Source, class Reducer>
[[gnu::always_inline]] inline typename Reducer::accumulator fold_run(const Source& elements,
                                                                     const Reducer& reducer,
                                                                     std::int64_t i) {
  if constexpr (Level == 0) {
    return leaf(elements, reducer, i);
  } else if constexpr (Level == 1) {
    return combine<Reducer, typename Reducer::accumulator>(reducer, leaf(elements, reducer, i),
                                                           leaf(elements, reducer, i + 1));
  } else {
    const auto left = fold_run<Level - 1>(elements, reducer, i);
    const auto right = fold_run<Level - 1>(elements, reducer, i + (std::int64_t{1} << (Level - 1)));
    return combine(reducer, left, right);
  }
}

// The node of `Level` of which only the first n elements exist, 1 <= n < 2^Level.
template <int Level, class Source, class Reducer>
typename Reducer::accumulator fold_part(const Source& elements, const Reducer& reducer,
                                        std::int64_t i, std::int64_t n) {
  if constexpr (Level <= 1) {
    return leaf(elements, reducer, i);
  } else {
    constexpr std::int64_t half = std::int64_t{1} << (Level - 1);
    if (n < half) return fold_part<Level - 1>(elements, reducer, i, n);
    const auto left = fold_run<Level - 1>(elements, reducer, i);
    if (n == half) return left;
    return combine(reducer, left, fold_part<Level - 1>(elements, reducer, i + half, n - half));
  }
}

// Room for values that need not be default constructible.
template <class T, int N>
union value_array {
  value_array() {}
  T values[N];
};

// At most a block of elements, for accumulators that can be copied about.
template <class Source, class Reducer>
typename Reducer::accumulator fold_block(const Source& elements, const Reducer& reducer,
                                         std::int64_t first, std::int64_t n) {
  using accumulator = typename Reducer::accumulator;
  constexpr int level = run_level<accumulator>;
  constexpr std::int64_t run = std::int64_t{1} << level;
  value_array<accumulator, runs_per_block> array;
  accumulator* const values = array.values;
  int count = 0;
  for (; n >= run; n -= run, first += run) {
    prefetch_elements(elements, first, run);
    std::construct_at(&values[count++], fold_run<level>(elements, reducer, first));
  }
  if (n > 0) std::construct_at(&values[count++], fold_part<level>(elements, reducer, first, n));
  for (; count > 1; count = (count + 1) / 2) {
    for (int i = 0; i < count / 2; ++i) {
      values[i] = combine(reducer, values[2 * i], values[2 * i + 1]);
    }
    if (count % 2 != 0) values[count / 2] = values[count - 1];
  }
  return values[0];
}

template <class Reducer>
inline constexpr bool order_free = false;
template <class Acc, class Op, class Lift>
inline constexpr bool order_free<op_reducer<Acc, Op, Lift>> = op_traits<Op, Acc>::order_free;

/// Folds elements [first, first + n) as a sequence of its own; n >= 1.
template <class Source, class Reducer>
typename Reducer::accumulator fold(const Source& elements, const Reducer& reducer,
                                   std::int64_t first, std::int64_t n) {
  using accumulator = typename Reducer::accumulator;
  if constexpr (order_free<Reducer> && !std::integral<accumulator>) {
    // A selection: one after the other, its branches are foretold; in a tree they are not.
    accumulator value = leaf(elements, reducer, first);
    for (std::int64_t i = 1; i < n; ++i) {
      value = combine<Reducer, accumulator>(reducer, value, leaf(elements, reducer, first + i));
    }
    return value;
  } else {
    if constexpr (std::is_trivially_copyable_v<accumulator> && sizeof(accumulator) <= 256) {
      constexpr std::int64_t block = std::int64_t{runs_per_block} << run_level<accumulator>;
      if (n <= block) return fold_block(elements, reducer, first, n);
    } else {
      if (n == 1) return leaf(elements, reducer, first);
    }
    const std::int64_t split = tree::left_size(n);
    const accumulator left = fold(elements, reducer, first, split);
    const accumulator right = fold(elements, reducer, first + split, n - split);
    return combine(reducer, left, right);
  }
}

}  // namespace tilefold::detail::host
