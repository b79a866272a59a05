// SPDX-License-Identifier: Apache-2.0
//
// Values as registers see them: arrays of 32-bit words that can be shuffled, selected and stored
// without the value's type taking part. Device code only; values are trivially copyable.
#pragma once

#include <cstring>
#include <new>
#include <type_traits>

#include <tilefold/config.hpp>

/// A device function that is always inlined.
#define TILEFOLD_D __device__ __forceinline__

namespace tilefold::detail::cuda {

inline constexpr int warp_size = 32;
inline constexpr unsigned full_warp = 0xffffffffu;

/// Storage for a T that need not be default constructible nor assignable.
template <class T>
union slot {
  T value;
  TILEFOLD_HD slot() {}
  TILEFOLD_HD void put(const T& v) { ::new (static_cast<void*>(__builtin_addressof(value))) T(v); }
};

/// N slots, indexed by constants only, so that they stay in registers.
template <class T, int N>
struct registers {
  slot<T> slots[N];
  TILEFOLD_HD const T& operator[](int i) const { return slots[i].value; }
  TILEFOLD_HD void put(int i, const T& v) { slots[i].put(v); }
};

TILEFOLD_D int lane_of_thread() { return static_cast<int>(threadIdx.x) % warp_size; }
TILEFOLD_D int warp_of_thread() { return static_cast<int>(threadIdx.x) / warp_size; }

/// The lane's number, read from its special register at each call. So the compiler does not keep
/// values computed from it across a loop, for which there are no registers.
TILEFOLD_D int opaque_lane() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

template <class T>
struct words {
  static constexpr int count = (static_cast<int>(sizeof(T)) + 3) / 4;
  unsigned word[count];
};

template <class T>
TILEFOLD_D words<T> to_words(const T& value) {
  words<T> result;
  if constexpr (sizeof(T) % 4 == 0) {
    result = __builtin_bit_cast(words<T>, value);
  } else {
    // A local copy: nvcc turns a memcpy from a reference into loads of single bytes.
    const T copy = value;
    result.word[words<T>::count - 1] = 0;
    std::memcpy(&result, __builtin_addressof(copy), sizeof(T));
  }
  return result;
}

template <class T>
TILEFOLD_D T from_words(const words<T>& source) {
  if constexpr (sizeof(T) % 4 == 0) {
    return __builtin_bit_cast(T, source);
  } else {
    slot<T> result;
    std::memcpy(static_cast<void*>(__builtin_addressof(result.value)), &source, sizeof(T));
    return result.value;
  }
}

/// The value that lane (mine ^ mask) holds. All `members` take part, both lanes among them.
template <class T>
TILEFOLD_D T shuffle_xor(const T& value, int mask, unsigned members = full_warp) {
  words<T> w = cuda::to_words(value);
#pragma unroll
  for (int i = 0; i < words<T>::count; ++i) w.word[i] = __shfl_xor_sync(members, w.word[i], mask);
  return from_words<T>(w);
}

/// The value that lane `source` of my logical warp of `Lanes` lanes holds. All `members` take part.
template <int Lanes = warp_size, class T>
TILEFOLD_D T shuffle_from(const T& value, int source, unsigned members = full_warp) {
  words<T> w = cuda::to_words(value);
#pragma unroll
  for (int i = 0; i < words<T>::count; ++i) {
    w.word[i] = __shfl_sync(members, w.word[i], source, Lanes);
  }
  return from_words<T>(w);
}

/// The value that lane mine + `step` of my logical warp holds; mine, if there is no such lane.
template <int Lanes = warp_size, class T>
TILEFOLD_D T shuffle_down(const T& value, int step, unsigned members = full_warp) {
  words<T> w = cuda::to_words(value);
#pragma unroll
  for (int i = 0; i < words<T>::count; ++i) {
    w.word[i] = __shfl_down_sync(members, w.word[i], step, Lanes);
  }
  return from_words<T>(w);
}

/// Writes a word behind all that this thread has written; other GPUs and the host see that order.
TILEFOLD_D void store_behind_all(unsigned* to, unsigned value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(value)
               : "memory");
}

/// Bit `bit` of a lane's number as a byte selector: 0x3210 picks select()'s second operand, 0x7654
/// its first. Of a condition the compiler would make branches, and double the shuffles in between.
class lane_bit {
 public:
  TILEFOLD_D lane_bit(int lane, int bit)
      : selector_(0x3210u + 0x4444u * (static_cast<unsigned>(lane) >> bit & 1)) {}

  /// set ? a : b
  TILEFOLD_D unsigned select(unsigned a, unsigned b) const { return __byte_perm(b, a, selector_); }

 private:
  unsigned selector_;
};

/// condition ? a : b, word by word: a select between addresses would force both into memory.
template <class Condition, class T>
TILEFOLD_D T select(Condition condition, const T& a, const T& b) {
  const words<T> x = cuda::to_words(a);
  const words<T> y = cuda::to_words(b);
  words<T> w;
#pragma unroll
  for (int i = 0; i < words<T>::count; ++i) {
    if constexpr (std::is_same_v<Condition, lane_bit>) {
      w.word[i] = condition.select(x.word[i], y.word[i]);
    } else {
      w.word[i] = condition ? x.word[i] : y.word[i];
    }
  }
  return from_words<T>(w);
}

}  // namespace tilefold::detail::cuda
