// SPDX-License-Identifier: Apache-2.0
//
// Statistics by blocks: where a public reducer is made of nothing but counts, means, variances and
// operators, whole blocks of the tree are folded by vector instructions, each part in its own way
// while the block lies in the first-level cache. What is left over, and blocks that hold an
// infinity or a NaN, take the ordinary fold. Only for programs that link tilefold::host.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <tilefold/accumulator.hpp>
#include <tilefold/detail/core/bound_reducer.hpp>
#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/core/pack.hpp>
#include <tilefold/detail/core/source.hpp>
#include <tilefold/detail/host/fold.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/tree.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

// In reducers/fuse.hpp.
template <class Indices, class... R>
struct fused_of;

}  // namespace tilefold::detail

namespace tilefold::detail::host {

struct block_moments {
  double sum;
  double deviations;  // squared, from the mean
};

// Bytes of a block, which stays in the first-level cache while its parts are folded.
inline constexpr std::int64_t most_block_bytes = 16384;

/// What is found of an array of n items, a power of two (of a sum alone any number), up to a block;
/// extremes only of items that are finite, else anything.
struct block_functions {
  void (*moments)(const void* first, std::int64_t n, block_moments* result) = nullptr;
  void (*moments_and_extremes)(const void* first, std::int64_t n, block_moments* result,
                               void* least, void* greatest) = nullptr;
  /// Moments and extremes of each of n arrays of `length` items, one after the other, as far as
  /// whole vectors of arrays go; returns how many these are. 0 where `length` is not a power of two
  /// from 8 to 64.
  std::int64_t (*rows)(const void* first, std::int64_t length, std::int64_t n,
                       block_moments* results, void* least, void* greatest) = nullptr;
};

/// The precompiled functions for the vector instructions of this machine, or null if there are
/// none.
block_functions find_block_functions(simd_type value);

/// A block's items, all finite, and what is known of them.
template <class T>
struct block_facts {
  const T* items;
  std::int64_t count;
  block_moments moments;
  T least, greatest;  // where a part asks for extremes
};

/// A reducer's accumulator of a block of T, if it can be had so.
template <class R, class T>
struct block_part {
  static constexpr block_statistic kind = statistic_of<R>;
  static constexpr bool known = kind != block_statistic::none;
  static constexpr bool asks_for_extremes = false;
  using accumulator = reducer_accumulator_t<R, T>;

  static bool available() { return true; }
  static accumulator of(const block_facts<T>& block) {
    const auto count = static_cast<double>(block.count);
    if constexpr (kind == block_statistic::count) {
      return block.count;
    } else if constexpr (kind == block_statistic::mean) {
      return {count, block.moments.sum};
    } else {
      return {count, block.moments.sum, block.moments.deviations};
    }
  }
};

template <operator_reducer R, class T>
struct block_part<R, T> {
  using op = plain_op_of<R>;
  using accumulator = accumulator_t<void, op, T, no_init>;
  static constexpr simd_key key = simd_key_of<op_reducer<accumulator, op, as_is>, const T*>;
  static constexpr bool known = worth_asking(key);
  // What a NaN is does not matter here.
  static constexpr bool least = key.op == simd_op::minimum || key.op == simd_op::minimum_number;
  static constexpr bool greatest = key.op == simd_op::maximum || key.op == simd_op::maximum_number;
  static constexpr bool asks_for_extremes = least || greatest;

  static simd_fold fold() { return find_simd_fold(key.op, key.value, key.accumulator); }
  static bool available() { return asks_for_extremes || fold() != nullptr; }
  static accumulator of(const block_facts<T>& block) {
    if constexpr (asks_for_extremes) {
      return least ? block.least : block.greatest;
    } else {
      accumulator result;
      fold()(block.items, nullptr, block.count, &result);
      return result;
    }
  }
};

template <std::size_t... Index, class... R, class T>
struct block_part<fused_of<std::index_sequence<Index...>, R...>, T> {
  static constexpr bool known = (block_part<R, T>::known && ...);
  static constexpr bool asks_for_extremes = (block_part<R, T>::asks_for_extremes || ...);
  using fused = fused_of<std::index_sequence<Index...>, R...>;
  using accumulator = reducer_accumulator_t<fused, T>;

  static bool available() { return (block_part<R, T>::available() && ...); }
  static accumulator of(const block_facts<T>& block) { return {{part_of<Index, R>(block)}...}; }

 private:
  template <std::size_t I, class One>
  static auto part_of(const block_facts<T>& block) {
    if constexpr (fused::template keeper<I> == I) {
      return block_part<One, T>::of(block);
    } else {
      return typename fused::template part<I, One, T>{};
    }
  }
};

/// Whether a reducer over these iterators is folded by blocks.
template <class Reducer, class... Its>
inline constexpr bool has_block_parts = false;
template <class R, class T, std::contiguous_iterator It>
  requires(std::same_as<T, float> || std::same_as<T, double>)  //
inline constexpr bool has_block_parts<bound_reducer<R, as_is, T>, It> = block_part<R, T>::known;

/// The fold of ranges of one array with such a reducer, as scalar_fold.
template <class Source, class Reducer>
class block_fold;
template <class It, class R, class T>
class block_fold<source<It>, bound_reducer<R, as_is, T>> {
  using reducer_type = bound_reducer<R, as_is, T>;
  using accumulator = typename reducer_type::accumulator;
  using part = block_part<R, T>;

  static constexpr auto block = most_block_bytes / static_cast<std::int64_t>(sizeof(T));
  // Fewer elements are not worth the calls.
  static constexpr std::int64_t few = 4;

 public:
  block_fold(const block_functions& functions, const source<It>& elements,
             const reducer_type& reducer)
      : functions_(functions),
        items_(std::to_address(elements.template iterator<0>(elements))),
        scalar_(elements, reducer),
        reducer_(reducer) {}

  /// For the constructor: null where there is none, and the scalar fold does it all.
  static block_functions find() {
    block_functions found;
    if (part::available()) found = find_block_functions(simd_type_of<T>());
    if constexpr (statistic_of<R> == block_statistic::mean) {
      // Not every target has it.
      if (found.moments != nullptr && sum() != nullptr) found.moments = &sum_alone;
    }
    return found;
  }

  /// Elements [first, first + n) as a sequence of their own; n >= 1.
  accumulator operator()(std::int64_t first, std::int64_t n) const {
    if (n < few || functions_.moments == nullptr) return scalar_(first, n);
    // A sum alone is that of any number of items.
    const bool is_whole = tree::is_power_of_two(n) || functions_.moments == &sum_alone;
    if (n <= block && is_whole) return fold_block(first, n);
    const std::int64_t split = tree::left_size(n);
    const accumulator left = (*this)(first, split);
    return reducer_.combine(left, (*this)(first + split, n - split));
  }

 private:
  // Found once, as what find() finds of it.
  static simd_fold sum() {
    return host::found_once(
        [] { return find_simd_fold(simd_op::counted_sum, simd_type_of<T>(), simd_type::float64); });
  }
  static void sum_alone(const void* first, std::int64_t n, block_moments* result) {
    double count_and_sum[2];
    sum()(first, nullptr, n, count_and_sum);
    result->sum = count_and_sum[1];
  }

  accumulator fold_block(std::int64_t first, std::int64_t n) const {
    block_facts<T> facts{items_ + first, n, {}, {}, {}};
    if constexpr (part::asks_for_extremes) {
      functions_.moments_and_extremes(facts.items, n, &facts.moments, &facts.least,
                                      &facts.greatest);
    } else {
      functions_.moments(facts.items, n, &facts.moments);
    }
    const bool all_finite = facts.moments.sum - facts.moments.sum == 0.0;
    return all_finite ? part::of(facts) : scalar_(first, n);
  }

  block_functions functions_;
  const T* items_;
  scalar_fold<source<It>, reducer_type> scalar_;
  const reducer_type& reducer_;
};

/// If the trees of a forest are short rows, one after the other, of which many are folded at once:
/// calls keep(i, fold of tree i) for trees from `first` on. Returns the first one that is left.
template <class Forest, class Reducer, class Keep>
std::int64_t fold_short_rows(const Forest&, const Reducer&, std::int64_t first, std::int64_t,
                             const Keep&) {
  return first;
}
template <class It, class R, class T, class Keep>
  requires(has_block_parts<bound_reducer<R, as_is, T>, It>)
std::int64_t fold_short_rows(const equal_forest<source<It>>& forest,
                             const bound_reducer<R, as_is, T>& reducer, std::int64_t first,
                             std::int64_t last, const Keep& keep) {
  using part = block_part<R, T>;
  // What is found of them stays in the first-level cache.
  constexpr std::int64_t at_once = 128;
  if (!part::available()) return first;
  const block_functions functions = find_block_functions(simd_type_of<T>());
  if (functions.rows == nullptr) return first;
  const Keep own = keep;
  const std::int64_t length = forest.length;
  block_moments moments[at_once];
  T least[at_once];
  T greatest[at_once];
  while (first < last) {
    const auto elements = forest.tree(first);
    const T* const items = std::to_address(elements.template iterator<0>(elements));
    const std::int64_t n = detail::smaller(last - first, at_once);
    const std::int64_t done = functions.rows(items, length, n, moments, least, greatest);
    for (std::int64_t k = 0; k < done; ++k) {
      const bool all_finite = moments[k].sum - moments[k].sum == 0.0;
      own(first + k, all_finite
                         ? part::of({items + k * length, length, moments[k], least[k], greatest[k]})
                         : host::fold(elements, reducer, k * length, length));
    }
    first += done;
    if (done < n) break;
  }
  return first;
}

}  // namespace tilefold::detail::host

TILEFOLD_WARNINGS_BACK
