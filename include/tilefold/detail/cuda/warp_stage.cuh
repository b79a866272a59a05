// SPDX-License-Identifier: Apache-2.0
//
// A stretch of a source in shared memory, for one warp:
//
//     memory    w0 w1 .. w31 | w32 .. w63 | w64 ..          words; lane l copies words l, l + 32...
//     shared    w0 w1 .. w31 - w32 .. w63 - w64 ..          a word of padding (-) after every 32
//     read      any lane reads any item
//
// The copy is one coalesced sweep, whatever the alignment, and however short the trees in the
// stretch. Padding keeps lanes that read a power of two of words apart out of each other's banks.
// Device code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/cuda/words.cuh>
#include <tilefold/reducer.hpp>

namespace tilefold::detail::cuda {

// Per warp, twice: one stretch is folded while the next is on its way.
inline constexpr int stage_bytes = 4096;

/// Where word `w` of a stretch lies.
__device__ __forceinline__ int padded(int w) { return w + (w >> 5); }

/// One word from global to shared memory; there after finish_stage().
__device__ __forceinline__ void copy_word(unsigned* to, const unsigned* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(__cvta_generic_to_global(from))
               : "memory");
#else
  *to = *from;
#endif
}

/// Words [begin, end) of `from` to their places in `to`, by all lanes of a warp: lane + 32 k lies
/// at lane + 33 k.
__device__ __forceinline__ void copy_words(unsigned* to, const unsigned* from, int begin, int end,
                                           int lane) {
  to += lane;
  from += lane;
  int w = lane;
  if (w < begin) {
    w += warp_size;
    to += warp_size + 1;
    from += warp_size;
  }
  constexpr int unroll = 8;
  for (; w + (unroll - 1) * warp_size < end; w += unroll * warp_size) {
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      cuda::copy_word(to + k * (warp_size + 1), from + k * warp_size);
    }
    to += unroll * (warp_size + 1);
    from += unroll * warp_size;
  }
#pragma unroll
  for (int k = 0; k < unroll; ++k) {
    if (w + k * warp_size < end) {
      cuda::copy_word(to + k * (warp_size + 1), from + k * warp_size);
    }
  }
}

/// Ends a stage's copies; those of several stages may be on their way.
__device__ __forceinline__ void commit_stage() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Until all stages but the `Later` last are there for all lanes.
template <int Later>
__device__ __forceinline__ void finish_stage() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
#endif
  __syncwarp();
}

// Items of pointers are copied as the words or bytes that they are; items of other iterators one by
// one, each from a word's start on.
template <class It>
inline constexpr bool staged_as_bytes =
    loads_packets<It> &&
    (sizeof(std::iter_value_t<It>) == 1 ||
     (sizeof(std::iter_value_t<It>) == 2 && alignof(std::iter_value_t<It>) == 2));
template <class It>
inline constexpr int staged_item_bytes =
    staged_as_bytes<It> ? static_cast<int>(sizeof(std::iter_value_t<It>))
                        : 4 * words<std::iter_value_t<It>>::count;

/// Up to `Items` items of one iterator.
template <class It, int Items>
class staged_items {
  using value = std::iter_value_t<It>;
  static constexpr int item_bytes = staged_item_bytes<It>;
  static constexpr int item_words = words<value>::count;
  static constexpr bool by_bytes = staged_as_bytes<It>;
  static constexpr bool by_words =
      loads_packets<It> && sizeof(value) % 4 == 0 && alignof(value) % 4 == 0;
  // Bytes may begin anywhere in the first word.
  static constexpr int most_words = (Items * item_bytes + 3 + 3) / 4;

 public:
  __device__ __forceinline__ void fill(const It& first, int count, int lane) {
    if constexpr (by_bytes) {
      fill_bytes(reinterpret_cast<std::uintptr_t>(first), count * item_bytes, lane);
    } else if constexpr (by_words) {
      const auto* const from = reinterpret_cast<const unsigned*>(first);
      cuda::copy_words(memory_, from, 0, count * item_words, lane);
    } else {
#pragma unroll 4
      for (int i = lane; i < count; i += warp_size) {
        const words<value> w = cuda::to_words(value(detail::element(first, i)));
#pragma unroll
        for (int k = 0; k < item_words; ++k) memory_[cuda::padded(i * item_words + k)] = w.word[k];
      }
    }
  }

  // `first` as it was in fill().
  __device__ __forceinline__ value get(const It& first, int i, std::int64_t) const {
    words<value> w;
    if constexpr (by_bytes) {
      const int at = static_cast<int>(reinterpret_cast<std::uintptr_t>(first) % 4) + i * item_bytes;
      w.word[0] = memory_[cuda::padded(at / 4)] >> (at % 4 * 8);
    } else {
#pragma unroll
      for (int k = 0; k < item_words; ++k) w.word[k] = memory_[cuda::padded(i * item_words + k)];
    }
    return from_words<value>(w);
  }

 private:
  // Whole words by copies, the bytes before and after them one by one.
  __device__ __forceinline__ void fill_bytes(std::uintptr_t first, int count, int lane) {
    const auto offset = static_cast<int>(first % 4);
    const auto* const from = reinterpret_cast<const unsigned*>(first - offset);
    const int end = offset + count;
    const int first_word = offset == 0 ? 0 : 1;
    const int end_word = end / 4;
    cuda::copy_words(memory_, from, first_word, end_word, lane);
    if (lane == 0 && first_word > 0) word_of_bytes(from, 0, offset, detail::smaller(end, 4));
    if (lane == 1 && end % 4 != 0 && (end_word > 0 || first_word == 0)) {
      word_of_bytes(from, end_word, 0, end % 4);
    }
  }
  __device__ void word_of_bytes(const unsigned* from, int word, int begin, int end) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(from + word);
    unsigned built = 0;
    for (int b = begin; b < end; ++b) built |= static_cast<unsigned>(bytes[b]) << (b * 8);
    memory_[cuda::padded(word)] = built;
  }

  unsigned memory_[most_words + most_words / 32 + 1];
};

// Indices need no room: an item is told its own.
template <int Items>
class staged_items<index_iterator, Items> {
 public:
  __device__ void fill(const index_iterator&, int, int) {}
  __device__ std::int64_t get(const index_iterator&, int, std::int64_t index) const {
    return index;
  }
};
template <>
inline constexpr int staged_item_bytes<index_iterator> = 0;

template <std::size_t Index, class Items>
struct staged_leaf {
  Items items;
};

template <class Source>
inline constexpr int staged_bytes = 0;
template <std::size_t... Index, class... Its>
inline constexpr int staged_bytes<source_of<std::index_sequence<Index...>, Its...>> =
    detail::larger((staged_item_bytes<Its> + ...), 1);

/// The memory, for up to `Capacity` items; a warp's own.
template <class Source, int Capacity>
class warp_stage;
template <std::size_t... Index, class... Its, int Capacity>
class warp_stage<source_of<std::index_sequence<Index...>, Its...>, Capacity>
    : staged_leaf<Index, staged_items<Its, Capacity>>... {
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
  static constexpr int capacity = Capacity;

  /// Will hold the first `count` <= capacity items of `source`, after finish_stage(). All lanes.
  __device__ __forceinline__ void fill(const source_type& source, int count) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    __syncwarp();  // everyone has read what was here
    (leaf<Index>(*this).fill(source_type::template iterator<Index>(source), count, lane), ...);
    cuda::commit_stage();
  }

  /// Item i of what fill(source, ...) brought, lifted; `index` is its own in its tree.
  template <class Reducer>
  __device__ __forceinline__ typename Reducer::accumulator lift(const Reducer& reducer,
                                                                const source_type& source, int i,
                                                                std::int64_t index) const {
    return reducer.lift(
        leaf<Index>(*this).get(source_type::template iterator<Index>(source), i, index)...);
  }
};

}  // namespace tilefold::detail::cuda
