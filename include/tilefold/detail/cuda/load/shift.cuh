// SPDX-License-Identifier: Apache-2.0
//
// Items as the words that loads bring: packets of whole aligned loads, and the shift in registers
// that puts items in their places where memory begins between two loads (packets.cuh).
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/cuda/base/words.cuh>

namespace tilefold::detail::cuda {

inline constexpr int load_bytes = 16;

/// Whether items lie in memory as words that may be loaded.
template <class It>
inline constexpr bool loads_packets =
    std::is_pointer_v<It> && std::is_trivially_copyable_v<std::remove_pointer_t<It>>;

template <int Bytes>
struct alignas(Bytes % load_bytes == 0 ? load_bytes : Bytes) packet {
  unsigned word[Bytes / 4];
};

/// Width neighbouring items as a packet.
template <class T, int Width>
using packet_of = packet<Width* static_cast<int>(sizeof(T))>;

template <class T, int Width>
concept packs_into_loads = loads_packets<T*> && ((Width * sizeof(T)) % load_bytes == 0 ||
                                                 Width * sizeof(T) == 4 || Width * sizeof(T) == 8);

/// Item j of a packet.
template <class T, int Width>
TILEFOLD_D T item_of(const packet_of<T, Width>& from, int j) {
  if constexpr (sizeof(T) == 2) {
    // From the word, so that a bfloat16 becomes a float by one instruction.
    const unsigned word = from.word[j / 2];
    const auto bits = static_cast<std::uint16_t>(j % 2 != 0 ? word >> 16 : word);
    return __builtin_bit_cast(T, bits);
  } else {
    struct items {
      T item[Width];
    };
    return __builtin_bit_cast(items, from).item[j];
  }
}

/// How far behind a multiple of `alignment` bytes, a power of two, `p` lies.
TILEFOLD_D unsigned misalignment(const void* p, unsigned alignment = load_bytes) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p)) & (alignment - 1);
}

/// Puts item j among words whose bytes are still zero there.
template <class T>
TILEFOLD_D void insert_item(unsigned* to, int j, const T& item) {
  const words<T> w = cuda::to_words(item);
  constexpr int size = static_cast<int>(sizeof(T));
  if constexpr (size % 4 == 0) {
#pragma unroll
    for (int i = 0; i < size / 4; ++i) to[j * (size / 4) + i] = w.word[i];
  } else {
#pragma unroll
    for (int i = 0; i < size; ++i) {
      const int at = j * size + i;
      to[at / 4] |= ((w.word[i / 4] >> (i % 4 * 8)) & 0xffu) << (at % 4 * 8);
    }
  }
}

/// Moves words down by `offset` < 16 bytes, a multiple of `Alignment`: by 8 bytes, by 4 and by 1 to
/// 3, as the bits of `offset` say. Only the first `Kept` words are used afterwards.
template <int Alignment, int Kept, int All>
TILEFOLD_D void shift_down(unsigned (&word)[All], unsigned offset) {
  if constexpr (Alignment < 16) {
#pragma unroll
    for (int i = 0; i + 2 < All; ++i) word[i] = (offset & 8) ? word[i + 2] : word[i];
  }
  if constexpr (Alignment < 8) {
#pragma unroll
    for (int i = 0; i + 1 < All; ++i) word[i] = (offset & 4) ? word[i + 1] : word[i];
  }
  if constexpr (Alignment < 4) {
#pragma unroll
    for (int i = 0; i < Kept; ++i) {
      word[i] = __funnelshift_r(word[i], word[(i + 1) % All], (offset & 3) * 8);
    }
  }
}

}  // namespace tilefold::detail::cuda
