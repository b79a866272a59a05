// SPDX-License-Identifier: Apache-2.0
//
// Loads of full tiles. A warp reads stripes of 32 packets, packet l of each by lane l. A packet is
// `width` neighbouring items, as many as make 16-byte loads. A stripe of floats that begins 8 bytes
// after a multiple of 16 is read in the same aligned loads, and shifted into place in registers:
//
//     memory      [. . 0 1] [2 3 4 5] [6 7 8 9] ...     vectors of 16 bytes
//     loaded by     lane 0    lane 1    lane 2          one vector each
//     received     2 3 4 ..  6 7 8 ..    ...            what the lane above loaded; lane 31 gets it
//                                                       from lane 0, which has the next stripe
//     packet      [0 1 2 3] [4 5 6 7]    ...            as if memory were aligned
//
// Only items of alignment 4 are shifted by shuffles. Others (of alignment 1, 2 or 8) are read by
// their own lane in loads of 8 bytes, which was faster. Behind the last stripe the warp reads up to
// 16 bytes more (`overreads`). So alignment changes neither the layout nor any bit. Other iterators
// than pointers, and adaptors of such, are read by items.
#pragma once

#include <tilefold/detail/cuda/load/elements.cuh>

namespace tilefold::detail::cuda {

constexpr int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }

// Items per packet at which packets of T are whole 16-byte loads.
template <class T>
inline constexpr int natural_width = load_bytes / gcd(load_bytes, static_cast<int>(sizeof(T)));

template <class It>
inline constexpr int iterator_width = 1;
template <class T>
inline constexpr int iterator_width<T*> = loads_packets<T*> ? natural_width<T> : 1;

template <class Source>
inline constexpr int source_width = 1;
template <std::size_t... Index, class... Its>
inline constexpr int source_width<source_of<std::index_sequence<Index...>, Its...>> =
    detail::larger(iterator_width<Its>...);
template <adaptor It>
inline constexpr int iterator_width<It> = source_width<underneath_t<It>>;

/// Items per packet for iterators read in step by threads of vt items.
template <class... Its>
TILEFOLD_HD constexpr int packet_width(int vt) {
  constexpr int item_bytes = detail::larger(
      (loads_packets<Its> ? static_cast<int>(sizeof(std::iter_value_t<Its>)) : 1)...);
  int width = detail::larger(iterator_width<Its>...);
  while (width > 1 && (width > vt || width * item_bytes > max_packet_bytes)) width /= 2;
  return width;
}

template <int Vt, std::size_t... Index, class... Its>
TILEFOLD_HD constexpr int packet_width_of(const source_of<std::index_sequence<Index...>, Its...>*) {
  return packet_width<Its...>(Vt);
}

// `Stripes` packets of one lane; that of stripe r starts at item `first` + r * stripe_items.
// `load_all` takes whole stripes, with all lanes of the warp; `load_one` the first `available`
// items of one packet, the others of which stay undefined.
template <class It, int Stripes, int Width>
class lane_items {
  using value = std::iter_value_t<It>;

 public:
  __device__ static bool overreads(const It&) { return false; }

  TILEFOLD_D void load_all(const It& it, std::int64_t first) {
#pragma unroll
    for (int r = 0; r < Stripes; ++r) load_one(it, first + r * warp_size * Width, r, Width);
  }
  TILEFOLD_D void load_one(const It& it, std::int64_t first, int r, int available) {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      if (j < available) values_.put(r * Width + j, detail::element(it, first + j));
    }
  }
  TILEFOLD_D const value& get(int r, int j) const { return values_[r * Width + j]; }

 private:
  registers<value, Stripes * Width> values_;
};

// Indices are not loaded.
template <int Stripes, int Width>
class lane_items<index_iterator, Stripes, Width> {
 public:
  __device__ static bool overreads(const index_iterator&) { return false; }
  TILEFOLD_D void load_all(const index_iterator&, std::int64_t first) { first_ = first; }
  TILEFOLD_D void load_one(const index_iterator&, std::int64_t first, int r, int) {
    first_ = first - r * warp_size * Width;
  }
  TILEFOLD_D std::int64_t get(int r, int j) const { return first_ + r * warp_size * Width + j; }

 private:
  std::int64_t first_;
};

template <class T, int Stripes, int Width>
  requires packs_into_loads<T, Width>
class lane_items<T*, Stripes, Width> {
  using value = std::remove_cv_t<T>;
  static constexpr int bytes = Width * static_cast<int>(sizeof(T));
  static constexpr bool can_shift = bytes % load_bytes == 0;
  static constexpr unsigned alignment = can_shift ? load_bytes : bytes;
  using packet = cuda::packet<bytes>;

 public:
  __device__ static bool overreads(const T* p) {
    return can_shift && cuda::misalignment(p, alignment) != 0;
  }

  TILEFOLD_D void load_all(const T* p, std::int64_t first) {
    const unsigned offset = cuda::misalignment(p, alignment);
    if (offset == 0) {
      load_aligned(reinterpret_cast<const packet*>(p + first));
    } else if constexpr (can_shift && alignof(T) != 4) {
      load_by_8_bytes(reinterpret_cast<const char*>(p + first), offset % 8);
    } else if constexpr (can_shift) {
      const auto* aligned =
          reinterpret_cast<const packet*>(reinterpret_cast<const char*>(p + first) - offset);
      load_aligned(aligned);
      shift_stripes(aligned, offset);
    } else {
#pragma unroll
      for (int r = 0; r < Stripes; ++r) load_one(p, first + r * warp_size * Width, r, Width);
    }
  }

  TILEFOLD_D void load_one(const T* p, std::int64_t first, int r, int available) {
    if (available >= Width && cuda::misalignment(p, alignment) == 0) {
      packets_[r] = *reinterpret_cast<const packet*>(p + first);
      return;
    }
    packet built{};
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      if (j < available) cuda::insert_item<value>(built.word, j, p[first + j]);
    }
    packets_[r] = built;
  }

  TILEFOLD_D value get(int r, int j) const { return cuda::item_of<value, Width>(packets_[r], j); }

 private:
  TILEFOLD_D void load_aligned(const packet* lane_first) {
#pragma unroll
    for (int r = 0; r < Stripes; ++r) packets_[r] = lane_first[r * warp_size];
  }

  // Each packet begins `offset` bytes after a multiple of 8, from which the loads begin.
  TILEFOLD_D void load_by_8_bytes(const char* first, unsigned offset) {
    constexpr int n = bytes / 4;
    constexpr int loaded = alignof(T) < 8 ? n + 2 : n;  // words
    const auto* const parts = reinterpret_cast<const cuda::packet<8>*>(first - offset);
#pragma unroll
    for (int r = 0; r < Stripes; ++r) {
      unsigned word[loaded];
#pragma unroll
      for (int i = 0; i < loaded; i += 2) {
        const cuda::packet<8> part = parts[(r * warp_size * n + i) / 2];
        word[i] = part.word[0];
        word[i + 1] = part.word[1];
      }
      cuda::shift_down<alignof(T), n>(word, offset);
#pragma unroll
      for (int i = 0; i < n; ++i) packets_[r].word[i] = word[i];
    }
  }

  // Each lane holds aligned packets, which begin `offset` bytes too early. Their ends lack the
  // first bytes of the next lane's packets; after lane 31 comes lane 0 of the next stripe.
  TILEFOLD_D void shift_stripes(const packet* lane_first, unsigned offset) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    lacking after{};
    if (lane == 0) after = *reinterpret_cast<const lacking*>(lane_first + Stripes * warp_size);
#pragma unroll
    for (int r = 0; r < Stripes; ++r) {
      lacking next;
#pragma unroll
      for (int i = 0; i < lacking_words; ++i) {
        const unsigned of_next_stripe =
            r + 1 < Stripes ? packets_[(r + 1) % Stripes].word[i] : after.word[i];
        const unsigned sent = lane == 0 ? of_next_stripe : packets_[r].word[i];
        next.word[i] = __shfl_sync(full_warp, sent, (lane + 1) % warp_size);
      }
      packets_[r] = shifted(packets_[r], next, offset);
    }
  }

  // Words that a packet can lack: it starts at a multiple of a word.
  static constexpr int lacking_words = load_bytes / 4 - 1;
  struct lacking {
    unsigned word[lacking_words];
  };

  // Bytes [offset, offset + bytes) of a packet and what follows it; 0 < offset < 16.
  TILEFOLD_D static packet shifted(const packet& own, const lacking& next, unsigned offset) {
    constexpr int n = bytes / 4;
    constexpr int all = n + lacking_words;
    unsigned w[all];
#pragma unroll
    for (int i = 0; i < all; ++i) w[i] = i < n ? own.word[i % n] : next.word[i < n ? 0 : i - n];
    cuda::shift_down<alignof(T), n>(w, offset);
    packet result;
#pragma unroll
    for (int i = 0; i < n; ++i) result.word[i] = w[i];
    return result;
  }

  packet packets_[Stripes];
};

template <int Stripes, int Width>
struct packet_holders : in_registers {
  template <class It>
  using of = lane_items<It, Stripes, Width>;
};

/// `Stripes` packets of one lane.
template <class Source, int Stripes, int Width>
using lane_stripes = elements_of<Source, packet_holders<Stripes, Width>>;

}  // namespace tilefold::detail::cuda
