// SPDX-License-Identifier: Apache-2.0
//
// The input: item i is a function of i alone, so that memory can be filled anew at any time. Both
// signs, magnitudes over many binades, never zero.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/config.hpp>
#include <tilefold/half.hpp>

#include "contestant.hpp"
#include "structs.hpp"

namespace bench {

/// 64 bits without visible pattern (the finaliser of splitmix64).
TILEFOLD_HD inline std::uint64_t scrambled(index i) {
  std::uint64_t x = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A finite floating value from random bits: sign, one of `binades` exponents around 1, significand.
template <class Word>
TILEFOLD_HD Word float_bits(std::uint64_t random, int significand_bits, int bias, int binades) {
  const auto exponent = static_cast<std::uint64_t>(bias - binades / 2) + (random >> 40) % binades;
  const std::uint64_t significand = (random ^ random << 21) & ((1ull << significand_bits) - 1);
  return static_cast<Word>((random >> 63) << (8 * sizeof(Word) - 1) | exponent << significand_bits |
                           significand);
}

template <class T>
struct mixed {
  using item = T;
  TILEFOLD_HD static T at(index i) {
    const std::uint64_t random = scrambled(i);
    if constexpr (std::is_same_v<T, float>) {
      return __builtin_bit_cast(T, float_bits<std::uint32_t>(random, 23, 127, 20));
    } else if constexpr (std::is_same_v<T, double>) {
      return __builtin_bit_cast(T, float_bits<std::uint64_t>(random, 52, 1023, 20));
    } else if constexpr (std::is_same_v<T, tilefold::half>) {
      return __builtin_bit_cast(T, float_bits<std::uint16_t>(random, 10, 15, 14));
    } else if constexpr (std::is_same_v<T, tilefold::bfloat16>) {
      return __builtin_bit_cast(T, float_bits<std::uint16_t>(random, 7, 127, 20));
    } else {
      const T value = static_cast<T>(random);
      return value == 0 ? T{1} : value;
    }
  }
};

/// Values of which every other one, at random, is missing (NaN).
template <class T>
struct half_missing {
  using item = T;
  TILEFOLD_HD static T at(index i) {
    const bool missing = scrambled(~i) & 1;
    return missing ? static_cast<T>(__builtin_bit_cast(float, 0x7fc00000u)) : mixed<T>::at(i);
  }
};

/// Factors of a product of any length whose every bit is right in any order of folding: odd
/// integers; or ones of random sign with powers of two between. Of every fourth 32 items, at
/// random, one is 2 or 1/2 and another its inverse, so that what a thread that strides through the
/// array multiplies up stays far from overflow; one item in 2^24 has a factor of 2 or 1/2 more,
/// which tells whether all were multiplied.
template <class T>
struct factors {
  using item = T;
  TILEFOLD_HD static T at(index i) {
    const std::uint64_t random = scrambled(i);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(random | 1);
    } else {
      int exponent = in_pair(i);
      if (random % (1 << 24) == 0) exponent += random >> 62 & 1 ? 1 : -1;
      const T magnitude =
          exponent < 0 ? T{1} / static_cast<T>(1 << -exponent) : static_cast<T>(1 << exponent);
      return random >> 63 ? -magnitude : magnitude;
    }
  }

 private:
  /// 1 for the item that is doubled among 32 neighbours, -1 for its partner.
  TILEFOLD_HD static int in_pair(index i) {
    const std::uint64_t random = scrambled(~(i / 32));
    if (random % 4 != 0) return 0;
    const auto doubled = static_cast<index>(random >> 8 & 31);
    const auto halved = static_cast<index>((random >> 8 ^ (1 + (random >> 16) % 31)) & 31);
    return (i % 32 == doubled ? 1 : 0) - (i % 32 == halved ? 1 : 0);
  }
};

template <class T, int N>
struct mixed_vecs {
  using item = vec<T, N>;
  TILEFOLD_HD static item at(index i) {
    item result;
    for (int k = 0; k < N; ++k) result.part[k] = mixed<T>::at(N * i + k);
    return result;
  }
};

/// By random angles.
struct rotations {
  using item = matrix<float>;
  TILEFOLD_HD static item at(index i) {
    const double t = static_cast<double>(static_cast<std::int64_t>(scrambled(i))) * 0x1p-63;
    const auto cosine = static_cast<float>((1 - t * t) / (1 + t * t));
    const auto sine = static_cast<float>(2 * t / (1 + t * t));
    return {cosine, -sine, sine, cosine};
  }
};

template <class Content>
__global__ void fill_kernel(typename Content::item* items, index n) {
  const index step = index{gridDim.x} * blockDim.x;
  for (index i = index{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    items[i] = Content::at(i);
  }
}

/// Fills `bytes` bytes of device memory, from the first item on.
template <class Content>
void fill(void* memory, index bytes, cudaStream_t stream) {
  using item = typename Content::item;
  fill_kernel<Content><<<2048, 256, 0, stream>>>(static_cast<item*>(memory),
                                                 bytes / static_cast<index>(sizeof(item)));
  check(cudaGetLastError(), "filling the input");
}

}  // namespace bench
