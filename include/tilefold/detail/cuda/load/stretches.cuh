// SPDX-License-Identifier: Apache-2.0
//
// A stretch of neighbouring items in the registers of one lane, wherever it begins in memory. Of a
// pointer, here to floats, in a stretch of 16 items that begins 8 bytes after a multiple of 16
// bytes:
//
//     memory      [. . 0 1] [2 3 4 5] [6 7 8 9] [10 .. 13] [14 15 . .]     vectors of 16 bytes
//     load()       . . 0 1   2 3 4 5   6 7 8 9   10 .. 13   14 15 . .      words in registers
//     settle()     0 1 2 3   4 5 6 7   8 9 .. 15                           shifted to their places
//     get(j)       item j
//
// A vector without items of the stretch is not read. At the ends of memory, where vectors would
// reach beyond it (`inner` is false), items are read one by one.
#pragma once

#include <tilefold/detail/cuda/base/tuning_forests.cuh>
#include <tilefold/detail/cuda/load/elements.cuh>

namespace tilefold::detail::cuda {

/// Loads the 16 bytes that lie Offset bytes after `from` into four registers, if `wanted`. If not,
/// these are undefined, or zeros if `Fresh`. A predicated load keeps its registers alive from
/// before it, thus across the caller's loop; zeroing them first (`Fresh`) ends that.
template <int Offset, bool Fresh>
TILEFOLD_D void load_vector(unsigned* to, const void* from, bool wanted) {
  if constexpr (Fresh) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = 0;
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4 + %6]; }"
        : "+r"(to[0]), "+r"(to[1]), "+r"(to[2]), "+r"(to[3])
        : "l"(__cvta_generic_to_global(from)), "r"(static_cast<unsigned>(wanted)), "n"(Offset));
    return;
  }
  // In assembly: a conditional load in C++ becomes a value that lives across the caller's loop.
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4 + %6]; }"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
      : "l"(__cvta_generic_to_global(from)), "r"(static_cast<unsigned>(wanted)), "n"(Offset));
}

/// Up to Items items of one iterator. `Fresh` as of load_vector().
template <class It, int Items, bool Fresh>
class lane_stretch {
  using value = std::iter_value_t<It>;

 public:
  /// Items [first, first + count) of `it`, count <= Items. `inner` says that 16 bytes before and
  /// after them are there to be read as well.
  TILEFOLD_D void load(const It& it, std::int64_t first, int count, bool) {
#pragma unroll
    for (int j = 0; j < Items; ++j) {
      if (j < count) values_.put(j, detail::element(it, first + j));
    }
  }
  /// Between load() and get(), by all lanes of the warp.
  TILEFOLD_D void settle() {}
  TILEFOLD_D const value& get(int j) const { return values_[j]; }
  /// Forgets the first N items; the others move to their places.
  template <int N>
  TILEFOLD_D void drop(int count) {
#pragma unroll
    for (int j = 0; j + N < Items; ++j) {
      if (j + N < count) values_.put(j, values_[j + N]);
    }
  }

 private:
  registers<value, Items> values_;
};

// Indices are not loaded.
template <int Items, bool Fresh>
class lane_stretch<index_iterator, Items, Fresh> {
 public:
  TILEFOLD_D void load(const index_iterator&, std::int64_t first, int, bool) { first_ = first; }
  TILEFOLD_D void settle() {}
  TILEFOLD_D std::int64_t get(int j) const { return first_ + j; }
  template <int N>
  TILEFOLD_D void drop(int) {
    first_ += N;
  }

 private:
  std::int64_t first_;
};

template <class T, int Items, bool Fresh>
  requires(loads_packets<T*> && Items * sizeof(T) % load_bytes == 0)
class lane_stretch<T*, Items, Fresh> {
  using value = std::remove_cv_t<T>;
  static constexpr int item_bytes = static_cast<int>(sizeof(T));
  static constexpr int bytes = Items * item_bytes;
  // A stretch that begins inside of a vector ends inside of one.
  static constexpr int vectors = bytes / load_bytes + (alignof(T) < load_bytes ? 1 : 0);
  static constexpr int stretch_words = bytes / 4;
  static constexpr int all_words = vectors * load_bytes / 4;

 public:
  TILEFOLD_D void load(const T* p, std::int64_t first, int count, bool inner) {
    const T* const begin = p + first;
    if (inner) {
      load_vectors(reinterpret_cast<const char*>(begin), static_cast<unsigned>(count));
    } else {
      load_items(begin, count);
    }
  }

  /// Items from byte `at` of a ring's stream on (value_ring.cuh). Those before byte `end` are
  /// there; in place of others, whatever stands before `end`.
  template <class Ring>
  TILEFOLD_D void load_ring(const Ring& ring, int at, int end) {
    offset_ = 0;
    constexpr int unit = Ring::unit_words;
#pragma unroll
    for (int i = 0; i < stretch_words; i += unit) {
      const unsigned* const from =
          ring.memory + Ring::place(detail::smaller(at / 4 + i, end / 4 - unit));
      if constexpr (unit == 4) {
        const uint4 vector = *reinterpret_cast<const uint4*>(from);
        word_[i] = vector.x, word_[i + 1] = vector.y, word_[i + 2] = vector.z,
        word_[i + 3] = vector.w;
      } else if constexpr (unit == 2) {
        const uint2 pair = *reinterpret_cast<const uint2*>(from);
        word_[i] = pair.x, word_[i + 1] = pair.y;
      } else {
        word_[i] = *from;
      }
    }
  }

  TILEFOLD_D void settle() {
    if constexpr (alignof(T) < load_bytes) {
      if (__any_sync(full_warp, offset_ != 0)) {
        cuda::shift_down<alignof(T), stretch_words>(word_, offset_);
      }
    }
  }

  TILEFOLD_D value get(int j) const {
    if constexpr (item_bytes % 4 == 0) {
      words<value> w;
#pragma unroll
      for (int i = 0; i < words<value>::count; ++i) {
        w.word[i] = word_[j * words<value>::count + i];
      }
      return from_words<value>(w);
    } else {
      struct stretch {
        value item[Items];
      };
      return __builtin_bit_cast(stretch, packet_of_stretch()).item[j];
    }
  }

  template <int N>
  TILEFOLD_D void drop(int) {
    static_assert(N * item_bytes % 4 == 0);
#pragma unroll
    for (int i = 0; i + N * item_bytes / 4 < stretch_words; ++i)
      word_[i] = word_[i + N * item_bytes / 4];
  }

 private:
  TILEFOLD_D packet<bytes> packet_of_stretch() const {
    packet<bytes> result;
#pragma unroll
    for (int i = 0; i < stretch_words; ++i) result.word[i] = word_[i];
    return result;
  }

  TILEFOLD_D void load_vectors(const char* begin, unsigned count) {
    offset_ = cuda::misalignment(begin);
    const char* const from = begin - offset_;
    load_vectors(from, count == 0 ? 0 : offset_ + count * item_bytes,
                 std::make_integer_sequence<int, vectors>());
  }
  template <int... Vector>
  TILEFOLD_D void load_vectors(const char* from, unsigned end,
                               std::integer_sequence<int, Vector...>) {
    (cuda::load_vector<Vector * load_bytes, Fresh>(word_ + Vector * (load_bytes / 4), from,
                                                   Vector * load_bytes < end),
     ...);
  }

  TILEFOLD_D void load_items(const T* begin, int count) {
    offset_ = 0;
#pragma unroll
    for (int i = 0; i < stretch_words; ++i) word_[i] = 0;
#pragma unroll
    for (int j = 0; j < Items; ++j) {
      if (j < count) cuda::insert_item<value>(word_, j, begin[j]);
    }
  }
  unsigned word_[all_words];
  unsigned offset_;
};

/// Whether stretches of an iterator are whole vectors of items that are large enough.
template <class It>
inline constexpr bool stretch_vectors = std::is_same_v<It, index_iterator>;
template <class T>
inline constexpr bool stretch_vectors<T*> =
    loads_packets<T*> && sizeof(T) >= least_stretch_item_bytes;

template <class Source>
inline constexpr bool all_stretch_vectors = false;
template <std::size_t... Index, class... Its>
inline constexpr bool all_stretch_vectors<source_of<std::index_sequence<Index...>, Its...>> =
    (stretch_vectors<Its> && ...);
template <adaptor It>
inline constexpr bool stretch_vectors<It> = all_stretch_vectors<underneath_t<It>>;

/// Bytes of an item of a source, no more than any has: 1 for a source that reads several ranges.
template <class Source>
inline constexpr int least_item_bytes = ranges<Source> == 1 ? item_bytes<Source> : 1;

template <int Items, bool Fresh>
struct stretch_holders : in_registers {
  template <class It>
  using of = lane_stretch<It, Items, Fresh>;
};

/// A stretch of every iterator of a source.
template <class Source, int Items, bool Fresh = false>
using lane_stretches = elements_of<Source, stretch_holders<Items, Fresh>>;

/// Items of a lane's stretch.
template <class Source>
inline constexpr int stretch_items = stretch_items_for(item_bytes<Source>);

}  // namespace tilefold::detail::cuda
