// SPDX-License-Identifier: Apache-2.0
//
// A warp's exact sum of floats or doubles by bins, whatever the data's range. A bin takes the items
// of 16 neighbouring exponents; each lane has its own, which are doubles in shared memory:
//
//     bin         0: 2^-149..   1: 2^-111..   2: 2^-95..    ...   15: 2^113..
//     lane 0      [  8 bytes ]  [          ]  [          ]        [          ]
//     lane 1      [          ]  [          ]  [          ]        [          ]      no two lanes
//     ...                                                                          of a bank
//
// A float has 24 bits, 16 exponents make 39 of them, a double holds 53: so sums of 2^13 items are
// exact, and no order enters. Then bins are emptied into integers of 32 bits a word. Doubles are
// cut in two first, 26 upper bits and what is below; with 42 bits that lasts for 2^11 items.
//
// That is 7 instructions a float and 17 a double, and as many banks as half the speed of memory
// has. Bins begin at -0, so that one that still is -0 has met nothing else. Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/exact_state.hpp>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// Which bins an item of type Float goes to, and how.
template <class Float>
class exact_bins;

template <>
class exact_bins<float> {
 public:
  static constexpr int bins = 16;
  static constexpr int items = 1 << 13;  // of a lane, until bins are emptied
  static constexpr int least = -160;     // a multiple of 32 below the lowest unit
  static constexpr int words = 11;

  /// What a bin counts: its values are multiples of 2^unit, and below 2^(unit + 53).
  __device__ static int unit(int bin) { return 16 * bin - 150; }
  /// The power of two by which it stands for more than it holds.
  __device__ static int scale(int) { return 0; }

  /// Whether add() cannot take these items.
  template <int N>
  __device__ __forceinline__ static bool are_rare(const registers<float, N>&) {
    return false;
  }
  /// Adds an item of any kind to a lane's bins; infinities and NaNs make their bin so.
  __device__ __forceinline__ static void add(double (*bin)[warp_size], float x) {
    double& mine = bin[__float_as_uint(x) >> 27 & 15][0];
    mine = __dadd_rn(mine, static_cast<double>(x));
  }
  __device__ __forceinline__ static std::uint64_t add_any(double (*bin)[warp_size], float x) {
    add(bin, x);
    return 0;
  }
};

template <>
class exact_bins<double> {
  static constexpr unsigned exponents = 16;
  static constexpr unsigned below = 27;  // bits of the lower part
  static constexpr unsigned infinity = 0x7ffu << 20;
  // From here on the upper part is taken 2^-64 times: sums of others stay below infinity.
  static constexpr unsigned huge = 0x7f0u << 20;
  static constexpr int scaled_by = 64;

 public:
  // Two bins below the least exponent, for lower parts.
  static constexpr int bins = 130;
  static constexpr int items = 1 << 11;
  static constexpr int least = -1088;
  static constexpr int words = 70;

  __device__ static int unit(int bin) { return 16 * (bin - 2) - 1048 - scale(bin); }
  __device__ static int scale(int bin) { return bin == bins - 1 ? scaled_by : 0; }

  template <int N>
  __device__ __forceinline__ static bool are_rare(const registers<double, N>& items) {
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) most = max(most, size_of(items[i]));
    return most >= huge;
  }
  __device__ __forceinline__ static void add(double (*bin)[warp_size], double x) {
    const double upper = upper_of(x);
    put(bin, size_of(x), upper, __dadd_rn(upper, -x));
  }
  __device__ __forceinline__ static std::uint64_t add_any(double (*bin)[warp_size], double x) {
    const unsigned size = size_of(x);
    if (size >= infinity) return seen::other | (x != x ? seen::nan
                                          : x > 0 ? seen::plus_infinity
                                                  : seen::minus_infinity);
    const double upper = upper_of(x);
    put(bin, size, size >= huge ? upper * 0x1p-64 : upper, __dadd_rn(upper, -x));
    return 0;
  }

 private:
  // The upper word without the sign.
  __device__ __forceinline__ static unsigned size_of(double x) {
    return static_cast<unsigned>(__double2hiint(x)) & 0x7fffffffu;
  }
  __device__ __forceinline__ static double upper_of(double x) {
    return __hiloint2double(__double2hiint(x),
                            __double2loint(x) & static_cast<int>(~0u << below));
  }
  // `above`: by what the upper part is more than the item, so that it is -0 where it is nothing.
  __device__ __forceinline__ static void put(double (*bin)[warp_size], unsigned size, double upper,
                                             double above) {
    double& high = bin[(size + (2 * exponents << 20)) >> 24][0];
    double& low = bin[(size + ((2 * exponents - below) << 20)) >> 24][0];  // never the same
    const double low_sum = __dadd_rn(low, -above);
    const double high_sum = __dadd_rn(high, upper);
    low = low_sum;
    high = high_sum;
  }
};

/// A warp's bins, and the words that they are emptied into, in shared memory.
template <class Float>
class warp_bins {
  using way = exact_bins<Float>;

 public:
  using number = Float;
  static constexpr tile_policy policy = exact_bins_policy_for(sizeof(Float));
  static constexpr int min_resident_blocks = min_resident_bins_blocks(sizeof(Float));
  static constexpr int words = way::words;
  static constexpr int chunks = way::items / policy.vt;  // until it has to be emptied
  /// A word counts 2^exponent and has 32 bits, more or less.
  __device__ static int exponent(int i) { return way::least + 32 * i; }

  double bin[way::bins][warp_size];
  long long word[words];
  unsigned marks;

  __device__ __forceinline__ void clear(int lane) {
#pragma unroll 4
    for (int b = 0; b < way::bins; ++b) bin[b][lane] = -0.0;
    for (int i = lane; i < words; i += warp_size) word[i] = 0;
    if (lane == 0) marks = 0;
    __syncwarp();
  }

  /// Adds N items of every lane, unless some are rare. Returns whether it did. All lanes.
  template <int N>
  __device__ __forceinline__ bool add(const registers<Float, N>& items, int lane) {
    if (__any_sync(full_warp, way::are_rare(items))) return false;
    add_each(items, lane);
    return true;
  }
  /// The same for any items.
  template <int N>
  __device__ __forceinline__ void add_any(const registers<Float, N>& items, int lane) {
    std::uint64_t found = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) found |= way::add_any(mine(lane), items[i]);
    const unsigned of_warp = cuda::warp_or(static_cast<unsigned>(found));
    if (lane == 0) marks |= of_warp;
  }

  /// Empties the bins into the words. At the latest after `chunks` calls of add() and add_any(),
  /// and in the end.
  __device__ __noinline__ void empty(int lane) {
    unsigned found = 0;
#pragma unroll 1
    for (int b = 0; b < way::bins; ++b) {
      const double x = bin[b][lane];
      const auto bits = static_cast<unsigned long long>(__double_as_longlong(x));
      const bool touched = bits != 1ull << 63;
      if (!__any_sync(full_warp, touched)) continue;
      found |= static_cast<unsigned>(seen::other);
      const bool finite = x - x == 0;
      if (!finite) {
        found |= static_cast<unsigned>(x != x ? seen::nan
                                       : x > 0 ? seen::plus_infinity
                                               : seen::minus_infinity);
      }
      add_count(touched && finite ? count_of(x, way::unit(b)) : 0, way::unit(b) + way::scale(b),
                lane);
      if (touched) bin[b][lane] = 0.0;
    }
    found = cuda::warp_or(found);
    if (lane == 0) marks |= found != 0 ? found : static_cast<unsigned>(seen::minus_zero);
  }

 private:
  __device__ __forceinline__ auto mine(int lane) {
    return reinterpret_cast<double(*)[warp_size]>(&bin[0][lane]);
  }
  template <int N>
  __device__ __forceinline__ void add_each(const registers<Float, N>& items, int lane) {
#pragma unroll
    for (int i = 0; i < N; ++i) way::add(mine(lane), items[i]);
  }

  // x / 2^unit, an integer of 54 bits.
  __device__ static long long count_of(double x, int unit) {
    const float_parts parts = detail::parts_of(x);
    const int shift = parts.exponent - unit;
    const auto size = static_cast<long long>(shift >= 0 ? parts.mantissa << min(shift, 63)
                                                        : parts.mantissa >> min(-shift, 63));
    return parts.negative ? -size : size;
  }

  // Adds what all lanes bring, times 2^exponent.
  __device__ void add_count(long long mine, int exponent, int lane) {
    const long long low = cuda::warp_sum_at_once(static_cast<int>(mine & 0xfffff));
    const long long middle = cuda::warp_sum_at_once(static_cast<int>(mine >> 20 & 0xfffff));
    const long long high = cuda::warp_sum_at_once(static_cast<int>(mine >> 40));
    const long long all = (high << 40) + (middle << 20) + low;  // of 59 bits
    const int bit = exponent - way::least;
    const int shift = bit % 32;
    if (lane == 0) word[bit / 32] += (all << shift) & 0xffffffff;
    if (lane == 1) word[bit / 32 + 1] += (all >> (32 - shift)) & 0xffffffff;
    if (lane == 2) word[bit / 32 + 2] += all >> 32 >> (32 - shift);
  }
};

}  // namespace tilefold::detail::cuda
