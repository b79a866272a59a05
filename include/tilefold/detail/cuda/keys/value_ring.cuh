// SPDX-License-Identifier: Apache-2.0
//
// Items of runs in shared memory, a warp's own: in a ring, and in spans (warp_stage, below).
//
// Through a ring pass neighbouring items: those that are folded next are on their way while a deal
// of items is folded. They pass in vectors of 16 bytes, of which vector c lies at place c %
// vectors, here of 8:
//
//     memory    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | ...     all items, in vectors
//     ring      | 8 | 9 | 2 | 3 | 4 | 5 | 6 | 7 |
//                 new     deal    on their way
//     turn        wait() until vectors 2 and 3 are there; lanes read their items (stretches.cuh);
//                 next() asks for 10 and 11, which take the places of 2 and 3
//
// The copies are one coalesced sweep, however long the runs are. Only bytes of items are touched.
#pragma once

#include <tilefold/detail/cuda/keys/tuning_keys.cuh>
#include <tilefold/detail/cuda/load/elements.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/cuda/load/staged.cuh>

namespace tilefold::detail::cuda {

/// The memory of a warp whose lanes read stretches of `Items` items of T.
template <class T, int Items>
struct value_ring {
  static constexpr int item_bytes = static_cast<int>(sizeof(T));
  static constexpr int deal_bytes = warp_size * Items * item_bytes;
  /// Words that lie together in memory wherever an item begins.
  static constexpr int unit_words = alignof(T) % 16 == 0 ? 4 : alignof(T) % 8 == 0 ? 2 : 1;
  /// Deals that the ring has room for, which are waited for one after the other.
  static constexpr int deals = detail::larger(by_key_ring_bytes / deal_bytes, 1);
  // Items that begin inside of a vector end inside of one.
  static constexpr int most_deal_bytes = deal_bytes + (unit_words == 4 ? 0 : 2 * load_bytes);
  // A whole number of times all banks.
  static constexpr int vectors =
      (detail::larger(deals * most_deal_bytes, by_key_ring_bytes) + 127) / 128 * 8;

  /// Where word `word` of the stream lies. Lanes that read strides of a power of two of vectors
  /// would meet at one bank, so each eight vectors lie in another order.
  TILEFOLD_D static int place(int word) {
    int vector = static_cast<int>(static_cast<unsigned>(word) / 4 % vectors);
    if constexpr (tree::is_power_of_two(Items * item_bytes)) vector ^= (vector >> 3) & 7;
    return vector * 4 + (word & 3);
  }

  alignas(16) unsigned memory[vectors * 4];
};

/// Where a source has no ring.
struct no_value_ring {};

/// A warp's pass through `count` items from `first` on. All lanes make every call.
template <class T, int Items>
class value_stream {
  using ring_type = value_ring<T, Items>;

 public:
  /// Asks for as many items as the ring has room for.
  TILEFOLD_D value_stream(ring_type& ring, const T* first, int count)
      : ring_(ring),
        begin_(ring_type::unit_words == 4 ? 0 : static_cast<int>(cuda::misalignment(first))),
        end_(at(count)),
        base_(reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(first) - begin_)) {
#pragma unroll 1
    for (int d = 1; d <= ring_type::deals; ++d)
      ask_up_to(d * ring_type::vectors / ring_type::deals);
  }

  /// The byte of the stream that item i begins with.
  TILEFOLD_D int at(int i) const { return begin_ + i * ring_type::item_bytes; }

  /// Waits until the next deal is there for all lanes.
  TILEFOLD_D void wait() const { cuda::finish_stage<ring_type::deals - 1>(); }

  /// Asks for the next vectors, in the places of items before item i, which no lane reads any more.
  TILEFOLD_D void next(int i) {
    __syncwarp();  // all lanes have read
    ask_up_to(at(i) / load_bytes + ring_type::vectors);
  }

 private:
  TILEFOLD_D void ask_up_to(int vector) {
    vector = detail::smaller(vector, (end_ + load_bytes - 1) / load_bytes);
#pragma unroll 4
    for (int c = asked_ + static_cast<int>(threadIdx.x) % warp_size; c < vector; c += warp_size) {
      copy(c);
    }
    asked_ = detail::larger(asked_, vector);
    cuda::commit_stage();
  }

  // The first and the last vector may hold bytes that are none of the items'.
  TILEFOLD_D void copy(int c) const {
    const unsigned* const from = base_ + c * 4;
    unsigned* const to = ring_.memory + ring_type::place(c * 4);
    if constexpr (ring_type::unit_words < 4) {
      const int first = c * load_bytes;
      if (first < begin_ || first + load_bytes > end_) {
#pragma unroll 1
        for (int w = 0; w < 4; ++w) {
          const int at = first + 4 * w;
          if (at >= begin_ && at < end_) cuda::copy_words<1>(to + w, from + w);
        }
        return;
      }
    }
    cuda::copy_words<4>(to, from);
  }

  ring_type& ring_;
  // Bytes of the stream, which begins with an aligned vector.
  int begin_;
  int end_;
  const unsigned* base_;
  int asked_ = 0;  // vectors
};

// Items in shared memory, a warp's own, as one span that any lane reads (warp_stage):
//
//     memory    w0 w1 .. w31 | w32 .. w63 | w64 ..          words; lane l copies words l, l + 32...
//     shared    w0 w1 .. w31 - w32 .. w63 - w64 ..          a word of padding (-) after every 32
//
// The copy is one coalesced sweep, whatever the alignment, and however short the runs of keys in
// the span. Padding keeps lanes that read a power of two apart out of each other's banks.

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
  TILEFOLD_D value get_from(const It& first, int i, std::int64_t) const {
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
  __device__ std::int64_t get_from(const index_iterator&, int, std::int64_t index) const {
    return index;
  }
};

template <int Capacity>
struct staged_holders : in_shared_memory {
  template <class It>
  using of = staged_items<It, Capacity>;
};

/// A span of up to `Capacity` items: fill(source, count). lift_from(reducer, source, i, index) is
/// item i of the span that begins with `source`, lifted; `index` is its index in its tree.
template <class Source, int Capacity>
using warp_stage = shared_elements<Source, staged_holders<Capacity>>;

}  // namespace tilefold::detail::cuda
