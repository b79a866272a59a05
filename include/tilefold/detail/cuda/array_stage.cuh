// SPDX-License-Identifier: Apache-2.0
//
// Items of several arrays in shared memory, one array after the other, for one warp; as
// warp_stage.cuh has those of one range. Every item begins at a word, whatever its size and the
// alignment of its array. Device code.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/cuda/warp_stage.cuh>
#include <tilefold/detail/cuda/words.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::detail::cuda {

template <class It>
inline constexpr int gathered_item_bytes = 4 * words<std::iter_value_t<It>>::count;
template <>
inline constexpr int gathered_item_bytes<index_iterator> = 0;

/// Up to `Items` items that iterators of one type lead to.
template <class It, int Items>
class gathered_items {
  using value = std::iter_value_t<It>;
  static constexpr int item_words = words<value>::count;
  static constexpr bool by_words =
      loads_packets<It> && sizeof(value) % 4 == 0 && alignof(value) % 4 == 0;
  static constexpr int most_words = Items * item_words;

 public:
  /// Items [0, count) of `first` to places `at`, `at` + 1...; this is lane `lane` of `lanes`.
  __device__ __forceinline__ void fill(const It& first, int at, int count, int lane, int lanes) {
    if constexpr (by_words) {
      const auto* const from = reinterpret_cast<const unsigned*>(first);
      const int start = at * item_words;
#pragma unroll 4
      for (int w = lane; w < count * item_words; w += lanes) {
        cuda::copy_word(memory_ + cuda::padded(start + w), from + w);
      }
    } else {
#pragma unroll 4
      for (int i = lane; i < count; i += lanes) {
        const words<value> w = cuda::to_words(value(detail::element(first, i)));
#pragma unroll
        for (int k = 0; k < item_words; ++k) {
          memory_[cuda::padded((at + i) * item_words + k)] = w.word[k];
        }
      }
    }
  }

  __device__ __forceinline__ value get(int i, std::int64_t) const {
    words<value> w;
#pragma unroll
    for (int k = 0; k < item_words; ++k) w.word[k] = memory_[cuda::padded(i * item_words + k)];
    return from_words<value>(w);
  }

 private:
  unsigned memory_[most_words + most_words / 32 + 1];
};

// Indices need no room: an item is told its own.
template <int Items>
class gathered_items<index_iterator, Items> {
 public:
  __device__ void fill(const index_iterator&, int, int, int, int) {}
  __device__ std::int64_t get(int, std::int64_t index) const { return index; }
};

template <class Source>
inline constexpr int gathered_bytes = 0;
template <std::size_t... Index, class... Its>
inline constexpr int gathered_bytes<source_of<std::index_sequence<Index...>, Its...>> =
    detail::larger((gathered_item_bytes<Its> + ...), 1);

/// The memory, a warp's own, for sources of one type.
template <class Source>
class array_stage;
template <std::size_t... Index, class... Its>
class array_stage<source_of<std::index_sequence<Index...>, Its...>>
    : staged_leaf<Index,
                  gathered_items<Its, detail::bounded(
                                          stage_bytes / gathered_bytes<source_of<
                                                            std::index_sequence<Index...>, Its...>>,
                                          1, 4096)>>... {
  using source_type = source_of<std::index_sequence<Index...>, Its...>;
  template <std::size_t I, class Items>
  __device__ __forceinline__ static Items& leaf(staged_leaf<I, Items>& l) {
    return l.items;
  }
  template <std::size_t I, class Items>
  __device__ __forceinline__ static const Items& leaf(const staged_leaf<I, Items>& l) {
    return l.items;
  }

 public:
  static constexpr int capacity =
      detail::bounded(stage_bytes / gathered_bytes<source_type>, 1, 4096);

  /// Brings items [0, count) of `array` to places `at`, `at` + 1..., where `lanes` lanes, of which
  /// this is number `lane`, call it alike; there after commit_stage() and finish_stage().
  __device__ __forceinline__ void fill(const source_type& array, int at, int count, int lane,
                                       int lanes) {
    (leaf<Index>(*this).fill(source_type::template iterator<Index>(array), at, count, lane, lanes),
     ...);
  }

  /// The item at place i, lifted; `index` is its own in its tree.
  template <class Reducer>
  __device__ __forceinline__ typename Reducer::accumulator lift(const Reducer& reducer,
                                                                const source_type&, int i,
                                                                std::int64_t index) const {
    return reducer.lift(leaf<Index>(*this).get(i, index)...);
  }
};

}  // namespace tilefold::detail::cuda
