// SPDX-License-Identifier: Apache-2.0
//
// Items on their way through a warp's shared memory: those of the next deals are copied while a
// deal is folded. Vector c of 16 bytes lies at place c % vectors, here of 8:
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

}  // namespace tilefold::detail::cuda
