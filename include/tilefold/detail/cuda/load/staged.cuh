// SPDX-License-Identifier: Apache-2.0
//
// Items in shared memory, a warp's own, as a stripe of cells, one for each lane (lane_stage), here
// of 32 words:
//
//     memory    | cell 0 | cell 1 | ... | cell 31 |       lane l copies vectors l, l + 32...
//     shared      cell 0    vectors  0 1 2 3 4 5 6 7      in the order that they lie there:
//                 cell 1             1 0 3 2 5 4 7 6      vector v of cell q lies at v ^ (q % 8)
//                 cell 2             2 3 0 1 6 7 4 5
//     read        lane q reads vectors 0, 1, 2... of cell q
//
// Cells of a power of two of words begin in the same banks. In this order, neighbouring lanes find
// their vectors v in different banks, so they stay out of each other's way. Words or pairs of them
// are copied in place of vectors if memory is not aligned. Items of 1 or 2 bytes lie as the words
// that hold them, cells one word apart. Spans of any length: keys/value_ring.cuh.
#pragma once

#include <tilefold/detail/cuda/load/elements.cuh>

namespace tilefold::detail::cuda {

/// 1, 2 or 4 words from global to shared memory; there after finish_stage().
template <int Words>
TILEFOLD_D void copy_words(unsigned* to, const unsigned* from) {
  static_assert(Words == 1 || Words == 2 || Words == 4);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const auto global = __cvta_generic_to_global(from);
  if constexpr (Words == 4) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared), "l"(global),
                 "n"(4 * Words)
                 : "memory");
  }
#else
  using vector =
      std::conditional_t<Words == 4, uint4, std::conditional_t<Words == 2, uint2, unsigned>>;
  *reinterpret_cast<vector*>(to) = *reinterpret_cast<const vector*>(from);
#endif
}

/// Ends a stage: finish_stage() waits for all its copies together.
TILEFOLD_D void commit_stage() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all stages but the `Later` last ones are there for all lanes.
template <int Later>
TILEFOLD_D void finish_stage() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
#endif
  __syncwarp();
}

// Items of pointers are copied as words or bytes, those of other iterators one by one, as words.
template <class It>
inline constexpr bool staged_as_bytes =
    loads_packets<It> &&
    (sizeof(std::iter_value_t<It>) == 1 ||
     (sizeof(std::iter_value_t<It>) == 2 && alignof(std::iter_value_t<It>) == 2));
template <class It>
inline constexpr int staged_item_bytes =
    staged_as_bytes<It> ? static_cast<int>(sizeof(std::iter_value_t<It>))
                        : 4 * words<std::iter_value_t<It>>::count;

template <>
inline constexpr int staged_item_bytes<index_iterator> = 0;

template <class Source>
inline constexpr int staged_bytes = 0;
template <std::size_t... Index, class... Its>
inline constexpr int staged_bytes<source_of<std::index_sequence<Index...>, Its...>> =
    detail::larger((staged_item_bytes<Its> + ...), 1);
template <adaptor It>
inline constexpr int staged_item_bytes<It> = staged_bytes<underneath_t<It>>;

/// Elements in shared memory, a warp's own.
template <class Source, class Holders>
class shared_elements : public elements_of<Source, Holders> {
 public:
  /// Will hold elements of `source` after finish_stage(). All lanes.
  template <class... Count>
  TILEFOLD_D void fill(const Source& source, Count... count) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    __syncwarp();  // all lanes have read the previous elements
    this->load(source, lane, count...);
    cuda::commit_stage();
  }
};

/// The cell of lane q is `CellWords` words, of which word w lies at q * CellWords + (w ^ key(q)).
///
/// Lanes that read 16 bytes each take turns by eights, whose vectors should lie in all eighths
/// of the banks. Cells of an odd number of vectors do so by themselves. In those of 2^bits times an
/// odd number, 2^bits lanes of eight would meet, so each has its vectors in another order.
template <int CellWords>
struct cell_places {
  static constexpr int vectors = CellWords / 4;
  static constexpr bool power_of_two = tree::is_power_of_two(CellWords);
  static constexpr int bits = vectors % 8 == 0   ? 3
                              : vectors % 4 == 0 ? 2
                              : vectors % 2 == 0 ? 1
                                                 : 0;

  TILEFOLD_D static int key(int q) { return ((q >> (3 - bits)) & ((1 << bits) - 1)) * 4; }
  TILEFOLD_D static int word(int q, int w) { return q * CellWords + (w ^ key(q)); }
};

/// Cells of `Cell` items of one iterator.
template <class It, int Cell>
class staged_cells {
  using value = std::iter_value_t<It>;
  static constexpr int item_words = words<value>::count;
  static constexpr int cell_words = Cell * item_words;
  static constexpr bool by_words =
      loads_packets<It> && sizeof(value) % 4 == 0 && alignof(value) % 4 == 0;
  using places = cell_places<cell_words>;
  static_assert(cell_words % 4 == 0);

 public:
  __device__ static bool overreads(const It&) { return false; }

  TILEFOLD_D void load(const It& first, int lane) {
    if constexpr (!by_words) {
#pragma unroll 4
      for (int k = 0; k < Cell; ++k) {
        const int i = lane + k * warp_size;
        put(i / Cell, i % Cell, detail::element(first, i));
      }
    } else {
      const auto* const from = reinterpret_cast<const unsigned*>(first);
      if (cuda::misalignment(from) == 0) {
        copy_vectors(from, lane);
      } else if constexpr (alignof(value) % 8 == 0) {
        copy_all_by<2>(from, lane);
      } else {
        copy_all_by<1>(from, lane);
      }
    }
  }

  /// Loads the first `count` items, and touches no memory behind them.
  TILEFOLD_D void load(const It& first, int lane, int count)
    requires by_words
  {
    const auto* const from = reinterpret_cast<const unsigned*>(first);
    const int words = count * item_words;
    if constexpr (item_words % 4 == 0) {
      if (cuda::misalignment(from) == 0) return copy_all_by<4>(from, lane, words);
    }
    copy_all_by<alignof(value) % 8 == 0 ? 2 : 1>(from, lane, words);
  }

  /// N items of this lane's cell from item i on.
  template <int N>
  TILEFOLD_D registers<value, N> get_packet(const It&, int lane, int i, std::int64_t) const {
    static_assert(N * item_words % 4 == 0);
    struct items {
      words<value> item[N];
    };
    union {
      uint4 vector[N * item_words / 4];
      items all;
    } loaded;
    const unsigned* const mine = memory_ + lane * cell_words;
    const int key = places::key(lane);
    const int first = places::power_of_two ? i * item_words ^ key : i * item_words;
#pragma unroll
    for (int c = 0; c < N * item_words / 4; ++c) {
      // In a cell of a power of two of words, `first` has no bits among those of 4 c.
      const int at = places::power_of_two ? first ^ (4 * c) : (first + 4 * c) ^ key;
      loaded.vector[c] = *reinterpret_cast<const uint4*>(mine + at);
    }
    registers<value, N> result;
#pragma unroll
    for (int j = 0; j < N; ++j) result.put(j, from_words<value>(loaded.all.item[j]));
    return result;
  }

 private:
  TILEFOLD_D void copy_vectors(const unsigned* from, int lane) {
    if constexpr (places::power_of_two && places::vectors <= 8) {
      from += lane * 4;
      constexpr int cells = warp_size / places::vectors;  // that all lanes copy at once
      constexpr int copied = 4 * warp_size;               // words at once
      // Cells q and q + 2 * cells have the same key.
      unsigned* const even = memory_ + (lane * 4 ^ places::key(lane / places::vectors));
      unsigned* const odd = memory_ + (lane * 4 ^ places::key(lane / places::vectors + cells));
#pragma unroll
      for (int k = 0; k < places::vectors; ++k) {
        cuda::copy_words<4>((k % 2 == 0 ? even : odd) + k * copied, from + k * copied);
      }
    } else {
      copy_all_by<4>(from, lane);
    }
  }
  // All cells, `Words` words at a time: lane l makes copies l, l + 32...
  template <int Words>
  TILEFOLD_D void copy_all_by(const unsigned* from, int lane) {
    constexpr int copies = cell_words / Words;  // of a cell
#pragma unroll 8
    for (int k = 0; k < copies; ++k) copy_at<Words>(from, lane + k * warp_size);
  }
  template <int Words>
  TILEFOLD_D void copy_all_by(const unsigned* from, int lane, int words) {
#pragma unroll 4
    for (int copy = lane; copy * Words < words; copy += warp_size) copy_at<Words>(from, copy);
  }
  template <int Words>
  TILEFOLD_D void copy_at(const unsigned* from, int copy) {
    constexpr int copies = cell_words / Words;
    cuda::copy_words<Words>(memory_ + places::word(copy / copies, copy % copies * Words),
                            from + copy * Words);
  }
  TILEFOLD_D void put(int q, int i, const value& item) {
    const words<value> w = cuda::to_words(value(item));
#pragma unroll
    for (int k = 0; k < item_words; ++k) {
      memory_[places::word(q, i * item_words + k)] = w.word[k];
    }
  }

  alignas(16) unsigned memory_[warp_size * cell_words];
};

/// Items of one or two bytes, as the words that hold them, other items' bytes in the first and last
/// one among them; a cell that begins inside a word has one more.
template <class It, int Cell>
  requires staged_as_bytes<It>
class staged_cells<It, Cell> {
  using value = std::iter_value_t<It>;
  static constexpr int item_bytes = sizeof(value);
  static constexpr int items_per_word = 4 / item_bytes;
  static constexpr int cell_words = Cell / items_per_word;
  static constexpr int pitch = cell_words + 1;  // keeps lanes out of each other's banks, too
  static_assert(warp_size % cell_words == 0);

 public:
  __device__ static bool overreads(const It& first) { return offset(first) != 0; }

  TILEFOLD_D void load(const It& first, int lane) {
    const auto* const from =
        reinterpret_cast<const unsigned*>(reinterpret_cast<std::uintptr_t>(first) - offset(first));
    constexpr int cells = warp_size / cell_words;  // that all lanes copy at once
    const int q = lane / cell_words;
    const int w = lane % cell_words;
#pragma unroll
    for (int k = 0; k < cell_words; ++k) {
      cuda::copy_words<1>(memory_ + (q * pitch + w) + k * cells * pitch,
                          from + (q * cell_words + w) + k * cells * cell_words);
    }
    if (offset(first) != 0) {
      cuda::copy_words<1>(memory_ + lane * pitch + cell_words,
                          from + lane * cell_words + cell_words);
    }
  }

  template <int N>
  TILEFOLD_D registers<value, N> get_packet(const It& first, int lane, int i, std::int64_t) const {
    registers<value, N> result;
    const unsigned* const mine = memory_ + lane * pitch + i / items_per_word;
    const unsigned shift = 8 * offset(first);
    unsigned low = mine[0];
#pragma unroll
    for (int w = 0; w < N / items_per_word; ++w) {
      const unsigned high = mine[w + 1];
      const unsigned word = __funnelshift_r(low, high, shift);
      low = high;
#pragma unroll
      for (int k = 0; k < items_per_word; ++k) {
        words<value> item;
        item.word[0] = word >> (8 * item_bytes * k);
        result.put(w * items_per_word + k, from_words<value>(item));
      }
    }
    return result;
  }

 private:
  TILEFOLD_D static unsigned offset(const It& first) { return cuda::misalignment(first, 4); }

  unsigned memory_[warp_size * pitch];
};

// Indices need no room.
template <int Cell>
class staged_cells<index_iterator, Cell> {
 public:
  __device__ static bool overreads(const index_iterator&) { return false; }
  __device__ void load(const index_iterator&, int) {}
  template <int N>
  TILEFOLD_D registers<std::int64_t, N> get_packet(const index_iterator&, int, int,
                                                   std::int64_t index) const {
    registers<std::int64_t, N> result;
#pragma unroll
    for (int j = 0; j < N; ++j) result.put(j, index + j);
    return result;
  }
};

template <int Cell>
struct staged_cell_holders : in_shared_memory {
  template <class It>
  using of = staged_cells<It, Cell>;
};

/// A stripe of 32 cells of `Cell` items: fill(source). Copies of 16 bytes by all lanes begin at
/// multiples of 128 bytes of shared memory. At other addresses ranges take 14 to 35% longer.
template <class Source, int Cell>
class alignas(128) lane_stage : public shared_elements<Source, staged_cell_holders<Cell>> {
 public:
  /// Items behind the last one of a stripe that fill() may touch: those of a word.
  __device__ static int overread_items(const Source& source) {
    return lane_stage::overreads(source) ? 4 : 0;
  }

  /// Returns visit(packets...) of N items of this lane's cell from item i on, N of each
  /// iterator; `source` as in fill(), `index` the first one's own in its tree.
  template <int N, class Visit>
  TILEFOLD_D auto packets(const Visit& visit, const Source& source, int i,
                          std::int64_t index) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    return this->template visit_packets<N>(visit, source, lane, i, index);
  }
};

}  // namespace tilefold::detail::cuda
