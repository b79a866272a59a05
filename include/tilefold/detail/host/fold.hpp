// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree on the calling thread, for every operator and iterator. A range is split at
// powers of two, as tree.hpp says, down to blocks; a block is folded run by run, a run being a few
// neighbours in registers, and the values of the runs then level by level. Host only.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#include <tilefold/detail/core/closing.hpp>
#include <tilefold/detail/core/folding.hpp>
#include <tilefold/detail/core/op_reducer.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/tree.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail::host {

// Element i as an accumulator; the element itself, not a copy, where it is one already.
template <class Source, class Reducer>
typename Reducer::accumulator leaf(const Source& elements, const Reducer& reducer, std::int64_t i) {
  return elements.lift(closed_steps<Reducer>{reducer}, i);
}
template <class It, class Acc, class Op>
  requires std::same_as<std::iter_reference_t<It>, Acc&> ||
           std::same_as<std::iter_reference_t<It>, const Acc&>
const Acc& leaf(const source<It>& elements, const op_reducer<Acc, Op, as_is>&, std::int64_t i) {
  return detail::element(elements.template iterator<0>(elements), i);
}

// Asks for what a run's worth of elements will be some runs later, if they lie in a row. Hardware
// does so by itself, but not early enough (docs/host.md).
template <class It>
void prefetch_run(const It& first, std::int64_t i, std::int64_t run) {
  if constexpr (std::contiguous_iterator<It>) {
    constexpr auto size = static_cast<std::int64_t>(sizeof(std::iter_value_t<It>));
    constexpr std::int64_t distance = 8192;
    constexpr std::int64_t line = 64;
    if (run * size < line && (i / run) % (line / (run * size)) != 0) return;
    // May point past the array, harmlessly; so it must not be formed as a pointer into it.
    const auto ahead = reinterpret_cast<std::uintptr_t>(std::to_address(first)) +
                       static_cast<std::uintptr_t>(i * size + distance);
    for (std::int64_t byte = 0; byte < run * size; byte += line) {
      __builtin_prefetch(reinterpret_cast<const void*>(ahead + static_cast<std::uintptr_t>(byte)));
    }
  }
}

// Room for values that need not be default constructible.
template <class T, int N>
union value_array {
  value_array() {}
  T values[N];
};

// Adds element i to the accumulator of elements before it, where the order does not matter.
template <class Source, class Reducer>
void add_element(const Source& elements, const Reducer& reducer, std::int64_t i,
                 typename Reducer::accumulator& value) {
  detail::replace(value,
                  closed_steps<Reducer>{reducer}.combine(value, host::leaf(elements, reducer, i)));
}
template <std::size_t... Index, class... Its, class R, class... Values>
  requires bound_reducer<R, as_is, Values...>::absorbs
void add_element(const source_of<std::index_sequence<Index...>, Its...>& elements,
                 const bound_reducer<R, as_is, Values...>& reducer, std::int64_t i,
                 typename bound_reducer<R, as_is, Values...>::accumulator& value) {
  elements.absorb(reducer, value, i);
}

// Whether runs of elements that lie in memory are lifted at once.
template <class Reducer, class Source>
inline constexpr bool lifts_packets_of = false;
template <class R, class T, std::contiguous_iterator It>
inline constexpr bool lifts_packets_of<bound_reducer<R, as_is, T>, source<It>> =
    bound_reducer<R, as_is, T>::lifts_packets;

// The node of elements [i, i + Count), a power of two from 2 to 16.
template <std::int64_t Count, class It, class Reducer>
typename Reducer::accumulator lift_packet(const source<It>& elements, const Reducer& reducer,
                                          std::int64_t i) {
  std::iter_value_t<It> values[Count];
  for (std::int64_t k = 0; k < Count; ++k) {
    values[k] = detail::element(elements.template iterator<0>(elements), i + k);
  }
  return reducer.lift_packet(values);
}

// A reducer that looks at a range. A range of elements is folded without a look, and again with one
// if the value is out of range.
template <class Reducer>
concept looks_at_range = requires { requires Reducer::looks_at_range; };

template <class Reducer>
struct in_range : Reducer {
  static constexpr bool looks_at_range = false;
  typename Reducer::accumulator combine(const typename Reducer::accumulator& a,
                                        const typename Reducer::accumulator& b) const {
    return Reducer::combine_in_range(a, b);
  }
};
template <class Reducer>
struct out_of_range : Reducer {
  static constexpr bool looks_at_range = false;
};

// Defined in exact_fold.hpp, which reducers/exact.hpp includes. Left undefined here, so that a
// missing include is a compile error.
template <class Reducer>
class exact_sum_of_terms;
template <class Source, class Reducer>
class exact_fold;

template <class Source, class Reducer>
inline constexpr bool folds_exactly = false;

// Defined in reducers/fuse.hpp.
template <class Source, class Reducer, class FoldPart>
class parts_fold;

/// Whether fused reducers are folded part by part.
template <class Source, class Reducer>
inline constexpr bool folds_by_parts = false;

/// The fold of ranges of one source with one reducer.
template <class Source, class Reducer>
class scalar_fold {
 public:
  using accumulator = typename Reducer::accumulator;

  scalar_fold(const Source& elements, const Reducer& reducer)
      : elements_(elements), reducer_(reducer) {}

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    if constexpr (folds_exactly<Source, Reducer>) {
      using exact = exact_fold<Source, Reducer>;
      return exact(elements_, reducer_, exact::terms::plain_cutter())(first, n);
    } else if constexpr (folds_by_parts<Source, Reducer>) {
      const auto fold_part = [](const auto& elements, const auto& part, std::int64_t begin,
                                std::int64_t count) {
        return scalar_fold<Source, std::remove_cvref_t<decltype(part)>>(elements, part)(begin,
                                                                                        count);
      };
      return parts_fold<Source, Reducer, decltype(fold_part)>(elements_, reducer_, fold_part)(first,
                                                                                              n);
    } else if constexpr (fold_traits<Reducer>::settles) {
      return fold_until_settled(first, n);
    } else if constexpr (looks_at_range<Reducer>) {
      const accumulator value = fold_as<in_range<Reducer>>(first, n);
      return Reducer::is_in_range(value) ? value : fold_out_of_range(first, n);
    } else if constexpr (fold_traits<Reducer>::order_free && !integer<accumulator>) {
      return fold_in_sequence(first, n);
    } else if constexpr (std::is_trivially_copyable_v<accumulator> && sizeof(accumulator) <= 256) {
      return n <= block ? fold_block(first, n) : fold_halves(first, n);
    } else {
      return n == 1 ? host::leaf(elements_, reducer_, first) : fold_halves(first, n);
    }
  }

 private:
  // The elements of a run, a power of two, are independent enough to hide an operation's latency
  // and few enough to stay in registers.
  static constexpr int run_level = sizeof(accumulator) <= 32 ? 3 : 2;
  static constexpr std::int64_t run = std::int64_t{1} << run_level;
  static constexpr int runs_per_block = 32;
  static constexpr std::int64_t block = runs_per_block * run;

  [[gnu::always_inline]] accumulator combine(const accumulator& a, const accumulator& b) const {
    return closed_steps<Reducer>{reducer_}.combine(a, b);
  }

  template <class Other>
  accumulator fold_as(std::int64_t first, std::int64_t n) const {
    const Other other{reducer_};
    return scalar_fold<Source, Other>(elements_, other)(first, n);
  }
  [[gnu::cold, gnu::noinline]] accumulator fold_out_of_range(std::int64_t first,
                                                             std::int64_t n) const {
    return fold_as<out_of_range<Reducer>>(first, n);
  }

  accumulator fold_halves(std::int64_t first, std::int64_t n) const {
    const std::int64_t split = tree::left_size(n);
    const accumulator left = (*this)(first, split);
    const accumulator right = (*this)(first + split, n - split);
    return combine(left, right);
  }

  // For minima and the like: in a sequence their branches can be foretold, in a tree they cannot.
  accumulator fold_in_sequence(std::int64_t first, std::int64_t n) const {
    accumulator value = host::leaf(elements_, reducer_, first);
    for (std::int64_t i = 1; i < n; ++i) host::add_element(elements_, reducer_, first + i, value);
    return value;
  }

  // Looks at the accumulator once a block, so that elements are folded at full speed in between.
  accumulator fold_until_settled(std::int64_t first, std::int64_t n) const {
    accumulator value = fold_some(first, n < block ? n : block);
    for (std::int64_t done = block; done < n && !reducer_.settled(value); done += block) {
      detail::replace(value,
                      combine(value, fold_some(first + done, n - done < block ? n - done : block)));
    }
    return value;
  }
  accumulator fold_some(std::int64_t first, std::int64_t n) const {
    if constexpr (integer<accumulator>) {
      return fold_block(first, n);
    } else {
      return fold_in_sequence(first, n);
    }
  }

  // At most a block. Not inlined: where g++ sees a short array and this code together, it warns of
  // accesses past the array that never happen.
  [[gnu::noinline]] accumulator fold_block(std::int64_t first, std::int64_t n) const {
    if (n <= 0) __builtin_unreachable();
    value_array<accumulator, runs_per_block> array;
    accumulator* const values = array.values;
    int count = 0;
    for (; n >= run; n -= run, first += run) {
      prefetch(elements_, first);
      ::new (static_cast<void*>(values + count++)) accumulator(fold_run<run_level>(first));
    }
    if (n > 0) {
      ::new (static_cast<void*>(values + count++)) accumulator(fold_part<run_level>(first, n));
    }
    for (; count > 1; count = (count + 1) / 2) {
      for (int i = 0; i < count / 2; ++i) {
        detail::replace(values[i], combine(values[2 * i], values[2 * i + 1]));
      }
      if (count % 2 != 0) detail::replace(values[count / 2], values[count - 1]);
    }
    return values[0];
  }

  // The node of `Level` whose first element is `i`; all its 2^Level elements exist.
  template <int Level>
  [[gnu::always_inline]] accumulator fold_run(std::int64_t i) const {
    if constexpr (Level == run_level && lifts_packets_of<Reducer, Source>) {
      return host::lift_packet<run>(elements_, reducer_, i);
    } else if constexpr (Level == 0) {
      return host::leaf(elements_, reducer_, i);
    } else if constexpr (Level == 1) {
      return combine(host::leaf(elements_, reducer_, i), host::leaf(elements_, reducer_, i + 1));
    } else {
      // Left before right, so that memory is read in ascending order.
      const accumulator left = fold_run<Level - 1>(i);
      const accumulator right = fold_run<Level - 1>(i + (std::int64_t{1} << (Level - 1)));
      return combine(left, right);
    }
  }

  // The node of `Level` of which only the first n elements exist, 1 <= n < 2^Level.
  template <int Level>
  accumulator fold_part(std::int64_t i, std::int64_t n) const {
    if constexpr (Level <= 1) {
      return host::leaf(elements_, reducer_, i);
    } else {
      constexpr std::int64_t half = std::int64_t{1} << (Level - 1);
      if (n < half) return fold_part<Level - 1>(i, n);
      const accumulator left = fold_run<Level - 1>(i);
      if (n == half) return left;
      return combine(left, fold_part<Level - 1>(i + half, n - half));
    }
  }

  template <std::size_t... Index, class... Its>
  void prefetch(const source_of<std::index_sequence<Index...>, Its...>& elements,
                std::int64_t i) const {
    (prefetch_run(elements.template iterator<Index>(elements), i, run), ...);
  }
  template <class Other>
  void prefetch(const Other&, std::int64_t) const {}

  const Source& elements_;
  const Reducer& reducer_;
};

/// The fold of elements [first, first + n) of `elements`, n >= 1, on the calling thread.
template <class Source, class Reducer>
typename Reducer::accumulator fold(const Source& elements, const Reducer& reducer,
                                   std::int64_t first, std::int64_t n) {
  return scalar_fold<Source, Reducer>(elements, reducer)(first, n);
}

}  // namespace tilefold::detail::host

TILEFOLD_WARNINGS_BACK
