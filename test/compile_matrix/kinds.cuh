// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of the programs that matrix_test.py writes: items, keys and accumulators of every
// size, operators that take any of them, iterators over them. Compiled, never run.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <thrust/tuple.h>

#include <tilefold/tilefold.cuh>

namespace kinds {

/// N words of which nothing is known; what users fold with operators of their own.
template <class Word, int N>
struct pack {
  Word word[N];
  friend TILEFOLD_HD bool operator==(const pack& a, const pack& b) {
    for (int i = 0; i < N; ++i) {
      if (a.word[i] != b.word[i]) return false;
    }
    return true;
  }
};

/// The same as whole 16-byte words.
struct alignas(16) wide {
  float word[4];
  friend TILEFOLD_HD bool operator==(const wide& a, const wide& b) {
    return a.word[0] == b.word[0] && a.word[3] == b.word[3];
  }
};

/// An accumulator that is made of an item of any type, and of nothing but an item.
template <class Word, int N>
struct gathered {
  Word word[N];

  gathered() = default;
  template <class T>
    requires(!std::same_as<T, gathered>)
  TILEFOLD_HD explicit gathered(const T& item) {
    unsigned char first_byte;
    memcpy(&first_byte, &item, 1);
    for (int i = 0; i < N; ++i) word[i] = static_cast<Word>(first_byte + i);
  }
};

template <class T>
concept narrow = tilefold::is_narrow_float<T>;
template <class T>
concept with_words = requires(T x) { x.word[0]; };

/// Any item as an Acc.
template <class Acc>
struct made {
  template <class T>
  TILEFOLD_HD Acc operator()(const T& item) const {
    if constexpr (narrow<T> && !std::same_as<T, Acc>) {
      return static_cast<Acc>(static_cast<float>(item));
    } else {
      return static_cast<Acc>(item);
    }
  }
  template <class T, class U>
  TILEFOLD_HD Acc operator()(const T& item, const U&) const {
    return (*this)(item);
  }
};

/// A user's operator on values of any type.
struct join {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<T>(a + b);
    } else if constexpr (narrow<T>) {
      return T(static_cast<float>(a) + static_cast<float>(b));
    } else if constexpr (with_words<T>) {
      constexpr int count = sizeof(a.word) / sizeof(a.word[0]);
      T both = a;
      for (int i = 0; i < count; ++i) {
        both.word[i] = static_cast<std::remove_cvref_t<decltype(a.word[0])>>(
            a.word[i] + b.word[(i + 1) % count]);
      }
      return both;
    } else {
      return b;
    }
  }
  template <class T, class U>
  TILEFOLD_HD thrust::tuple<T, U> operator()(const thrust::tuple<T, U>& a,
                                             const thrust::tuple<T, U>& b) const {
    return {(*this)(thrust::get<0>(a), thrust::get<0>(b)), thrust::get<1>(b)};
  }
};

struct same_value {
  template <class T>
  TILEFOLD_HD const T& operator()(const T& x) const {
    return x;
  }
};

/// A predicate on anything: whether the first byte is odd.
struct odd {
  template <class T>
  TILEFOLD_HD bool operator()(const T& x) const {
    unsigned char first_byte;
    memcpy(&first_byte, &x, 1);
    return (first_byte & 1) != 0;
  }
};

/// An equality of keys that is not ==.
struct alike {
  template <class Key>
  TILEFOLD_HD bool operator()(const Key& a, const Key& b) const {
    return odd{}(a) == odd{}(b);
  }
};

template <class Acc>
auto own_reducer() {
  return tilefold::reducers::make_reducer(made<Acc>{}, join{}, same_value{});
}

/// What an mdspan shows of itself.
template <class It>
struct view {
  It first;
  std::int64_t extents[2], strides[2];

  std::size_t rank() const { return 2; }
  std::int64_t extent(std::size_t i) const { return extents[i]; }
  std::int64_t stride(std::size_t i) const { return strides[i]; }
  It data_handle() const { return first; }
};

/// What reduce() with these arguments gives over what `It` leads to.
template <class Acc, class It, class... InitOp>
using reduced = decltype(tilefold::reduce<Acc>(std::declval<const tilefold::host_executor&>(),
                                               std::declval<It>(), std::declval<It>(),
                                               std::declval<InitOp>()...));

}  // namespace kinds
