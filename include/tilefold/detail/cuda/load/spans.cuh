// SPDX-License-Identifier: Apache-2.0
//
// Items in shared memory, a warp's own, as one span that any lane reads (warp_stage):
//
//     memory    w0 w1 .. w31 | w32 .. w63 | w64 ..          words; lane l copies words l, l + 32...
//     shared    w0 w1 .. w31 - w32 .. w63 - w64 ..          a word of padding (-) after every 32
//
// The copy is one coalesced sweep, whatever the alignment, and however short the runs of keys in
// the span. Padding keeps lanes that read a power of two apart out of each other's banks.
#pragma once

#include <tilefold/detail/cuda/load/staged.cuh>

namespace tilefold::detail::cuda {

/// Where word `w` of a span lies.
TILEFOLD_D int padded(int w) { return w + (w >> 5); }

/// Words [begin, end) of `from` to their places in `to`, by all lanes of a warp.
TILEFOLD_D void copy_words(unsigned* to, const unsigned* from, int begin, int end, int lane) {
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
      cuda::copy_words<1>(to + k * (warp_size + 1), from + k * warp_size);
    }
    to += unroll * (warp_size + 1);
    from += unroll * warp_size;
  }
#pragma unroll
  for (int k = 0; k < unroll; ++k) {
    if (w + k * warp_size < end) {
      cuda::copy_words<1>(to + k * (warp_size + 1), from + k * warp_size);
    }
  }
}

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
  TILEFOLD_D void load(const It& first, int lane, int count) {
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

  // `first` as it was in load().
  TILEFOLD_D value get(const It& first, int i, std::int64_t) const {
    words<value> w;
    if constexpr (by_bytes) {
      const int at = static_cast<int>(cuda::misalignment(first, 4)) + i * item_bytes;
      w.word[0] = memory_[cuda::padded(at / 4)] >> (at % 4 * 8);
    } else {
#pragma unroll
      for (int k = 0; k < item_words; ++k) w.word[k] = memory_[cuda::padded(i * item_words + k)];
    }
    return from_words<value>(w);
  }

 private:
  // Whole words by copies, the bytes before and after them one by one.
  TILEFOLD_D void fill_bytes(std::uintptr_t first, int count, int lane) {
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
  __device__ void load(const index_iterator&, int, int) {}
  __device__ std::int64_t get(const index_iterator&, int, std::int64_t index) const {
    return index;
  }
};

template <int Capacity>
struct staged_holders : in_shared_memory {
  template <class It>
  using of = staged_items<It, Capacity>;
};

/// A span of up to `Capacity` items: fill(source, count).
template <class Source, int Capacity>
class warp_stage : public shared_elements<Source, staged_holders<Capacity>> {
 public:
  /// Item i of what fill(source, ...) brought, lifted; `index` is its own in its tree.
  template <class Reducer>
  TILEFOLD_D typename Reducer::accumulator lift(const Reducer& reducer, const Source& source, int i,
                                                std::int64_t index) const {
    return this->lift_from(reducer, source, i, index);
  }
};

}  // namespace tilefold::detail::cuda
