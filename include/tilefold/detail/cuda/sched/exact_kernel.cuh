// SPDX-License-Identifier: Apache-2.0
//
// Exact sums at the speed of memory. A floating number is cut into digits against fixed anchors,
// large powers of two; here anchors of floats, 23 bits apart:
//
//     item        x = 1.01101...01 * 2^3           24 bits
//     anchor A    1.5 * 2^12, above all items of the warp's chunk
//     h = x + A   rounded to a multiple of 2^-11: A and the digit, the upper bits of x
//     x -= h - A  exact: what is left lies below 2^-12, for the next anchor 23 bits lower
//     digits      the bits of all h are added as integers, and the anchor's taken off in the end
//
//     warp        chunks of 32 * vt items; the next one loads while this one is cut, level by
//                 level, from the anchor of its largest item down until nothing is left
//     block       64-bit sums of digits in shared memory, one of each level for every warp
//     launch      integer atomics; a warp of the last block to arrive makes one sum of them, which
//                 is rounded
//
// Anchors are fixed, so sums are integers and no order enters. Data of ordinary spread take two or
// three levels. Items too large for the first anchor are scaled first; infinities and NaNs are
// noted. Device code.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/wide_by_warp.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/exact_state.hpp>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/policy.hpp>

namespace tilefold::detail::cuda {

/// The sum over the lanes of a warp, in one instruction where there is one.
__device__ __forceinline__ int warp_sum_at_once(int x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(full_warp, x);
#else
  return cuda::warp_sum(x);
#endif
}

/// Anchor l is 1.5 * 2^(top - step l); its last bit is worth 2^(top - fraction - step l).
template <class Float>
struct anchors;
template <>
struct anchors<float> {
  using bits_type = unsigned;
  static constexpr int fraction = 23;
  static constexpr int bias = 127;
  static constexpr int step = 23;
  static constexpr int top = 127;
  static constexpr int levels = 12;
  static constexpr int scale = 24;  // items of 2^125 and more are taken 2^-24 times
  static constexpr int parts = 1;   // words of a sum of digits
  static constexpr bool has_rest = false;
};
template <>
struct anchors<double> {
  using bits_type = unsigned long long;
  static constexpr int fraction = 52;
  static constexpr int bias = 1023;
  static constexpr int step = 52;
  static constexpr int top = 1022;
  static constexpr int levels = 40;
  static constexpr int scale = 64;
  static constexpr int parts = 2;
  static constexpr bool has_rest = true;  // below the last anchor: multiples of 2^-1074
};

/// Where sums of digits lie: those of all levels, of what is left, and of scaled items.
template <class Float>
struct digit_slots {
  using anchor = anchors<Float>;
  static constexpr int scaled_levels = 4;
  static constexpr int rest = anchor::levels;
  static constexpr int scaled = anchor::levels + (anchor::has_rest ? 1 : 0);
  static constexpr int count = scaled + scaled_levels;
  static constexpr int words = count * anchor::parts;

  /// The power of two that a digit of slot s counts.
  __device__ static int exponent(int s) {
    constexpr int unit = anchor::top - anchor::fraction;
    if (anchor::has_rest && s == rest) return 1 - anchor::bias - anchor::fraction;
    return s >= scaled ? unit + anchor::scale - anchor::step * (s - scaled)
                       : unit - anchor::step * s;
  }
};

/// What blocks of a launch add to; zero between launches.
template <class Float>
struct digit_sums {
  unsigned long long word[digit_slots<Float>::words];
  unsigned marks;
  unsigned arrivals;
};

/// A warp's own sums of digits, in shared memory.
template <class Float>
class warp_digits {
  using anchor = anchors<Float>;
  using slots = digit_slots<Float>;
  using bits_type = typename anchor::bits_type;
  static constexpr bits_type sign = bits_type{1} << (8 * sizeof(Float) - 1);
  // Of items that the first anchor takes; fields of exponents.
  static constexpr int most_exponent = anchor::top - 3 + anchor::bias;

 public:
  long long word[slots::words];
  unsigned marks;

  __device__ __forceinline__ void clear(int lane) {
    for (int i = lane; i < slots::words; i += warp_size) word[i] = 0;
    if (lane == 0) marks = 0;
    __syncwarp();
  }

  /// Adds N items of every lane, unless some are too large for the first anchor or not finite.
  /// Returns whether it did. All lanes of the warp.
  template <int N>
  __device__ __forceinline__ bool add(registers<Float, N>& items, int lane) {
    const int largest = largest_exponent(items);
    if (largest > most_exponent) return false;
    if (largest < 0) {
      note_zeros(items, lane);
      return true;
    }
    if (lane == 0) marks |= static_cast<unsigned>(seen::other);
    const int level = (anchor::top - 2 + anchor::bias - largest) / anchor::step;
    cut(items, lane, detail::smaller(level, anchor::levels - 1), 0);
    return true;
  }

  /// The same for any items.
  template <int N>
  __device__ __forceinline__ void add_any(registers<Float, N>& items, int lane) {
    add_huge(items, lane);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (exponent_of(items[i]) > most_exponent) items.put(i, -Float{0});
    }
    add(items, lane);
  }

 private:
  __device__ __forceinline__ static bits_type bits_of(Float x) {
    return __builtin_bit_cast(bits_type, x);
  }
  __device__ __forceinline__ static int exponent_of(Float x) {
    return static_cast<int>((bits_of(x) & ~sign) >> anchor::fraction);
  }
  __device__ __forceinline__ static Float sum_of(Float a, Float b) {
    if constexpr (sizeof(Float) == 4) {
      return __fadd_rn(a, b);
    } else {
      return __dadd_rn(a, b);
    }
  }

  // The exponent's field, of all items of the warp; -1 if all are zeros.
  template <int N>
  __device__ __forceinline__ static int largest_exponent(const registers<Float, N>& items) {
    if constexpr (sizeof(Float) == 4) {
      // In one instruction an item, which passes over NaNs: cut() and note_zeros() meet them.
      float most = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) most = fmaxf(most, fabsf(items[i]));
      const int all = cuda::warp_max(static_cast<int>(bits_of(most)));
      return all == 0 ? -1 : all >> anchor::fraction;
    } else {
      // The upper words, and whether the lower ones of subnormals are anything.
      unsigned most = 0;
      unsigned any = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        most = max(most, static_cast<unsigned>(bits_of(items[i]) >> 32) & 0x7fffffffu);
        any |= static_cast<unsigned>(bits_of(items[i]));
      }
      const int all = cuda::warp_max(static_cast<int>(most | (any != 0 ? 1u : 0u)));
      return all == 0 ? -1 : all >> (anchor::fraction - 32);
    }
  }

  // Cuts the items at anchor `level` and those below it, until nothing is left of any; their digits
  // go to slots `base` + level.
  template <int N>
  __device__ __forceinline__ void cut(registers<Float, N>& items, int lane, int level, int base) {
    bool more;
#pragma unroll 1
    do {
      const bits_type a = (static_cast<bits_type>(anchor::top + anchor::bias - anchor::step * level)
                           << anchor::fraction) |
                          bits_type{1} << (anchor::fraction - 1);
      const auto above = __builtin_bit_cast(Float, a);
      bits_type digits = 0;
      bits_type left = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const Float h = sum_of(items[i], above);
        digits += bits_of(h);
        items.put(i, sum_of(items[i], -sum_of(h, -above)));
        left |= bits_of(items[i]);
      }
      add_sum(base + level, static_cast<std::make_signed_t<bits_type>>(digits - N * a), lane);
      ++level;
      more = __any_sync(full_warp, (left & ~sign) != 0);
    } while (more && level < anchor::levels);
    if (more) {
      if constexpr (anchor::has_rest) {
        add_rest(items, lane);
      } else if (lane == 0) {
        marks |= static_cast<unsigned>(seen::nan);  // of all numbers nothing is left
      }
    }
  }

  // Multiples of the least number, of which so little is left that their bits are the integers.
  template <int N>
  __device__ __forceinline__ void add_rest(const registers<Float, N>& items, int lane) {
    long long sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const auto size = static_cast<long long>(bits_of(items[i]) & ~sign);
      sum += (bits_of(items[i]) & sign) != 0 ? -size : size;
    }
    add_sum(slots::rest, sum, lane);
  }

  // Adds what all lanes bring to a slot.
  __device__ __forceinline__ void add_sum(int slot, int mine, int lane) {
    const int high = cuda::warp_sum_at_once(mine >> 12);
    const int low = cuda::warp_sum_at_once(mine & 4095);
    if (lane == 0) word[slot] += (static_cast<long long>(high) << 12) + low;
  }
  __device__ __forceinline__ void add_sum(int slot, long long mine, int lane) {
    const long long low = cuda::warp_sum_at_once(static_cast<int>(mine & 0xfffff));
    const long long middle = cuda::warp_sum_at_once(static_cast<int>(mine >> 20 & 0xfffff));
    const long long high = cuda::warp_sum_at_once(static_cast<int>(mine >> 40));
    const long long all = (high << 40) + (middle << 20) + low;
    // The sum of a level has more than 64 bits: the lower 32 and what is above them.
    if (lane == 0) word[2 * slot] += all & 0xffffffff;
    if (lane == 1) word[2 * slot + 1] += all >> 32;
  }

  // Those of the items that are too large for the first anchor, or not finite.
  template <int N>
  __device__ __forceinline__ void add_huge(const registers<Float, N>& items, int lane) {
    registers<Float, N> scaled;
    unsigned found = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const bits_type bits = bits_of(items[i]);
      const int exponent = exponent_of(items[i]);
      const bool finite = exponent <= 2 * anchor::bias;
      if (exponent > most_exponent) found |= static_cast<unsigned>(seen::other);
      if (!finite) {
        const bool nan = (bits & ((bits_type{1} << anchor::fraction) - 1)) != 0;
        found |= static_cast<unsigned>(nan                  ? seen::nan
                                       : (bits & sign) != 0 ? seen::minus_infinity
                                                            : seen::plus_infinity);
      }
      const bits_type divided = bits - (static_cast<bits_type>(anchor::scale) << anchor::fraction);
      scaled.put(
          i, exponent > most_exponent && finite ? __builtin_bit_cast(Float, divided) : Float{0});
    }
    found = cuda::warp_or(found);
    if (lane == 0) marks |= found;
    cut(scaled, lane, (anchor::top - 2 - (anchor::bias - anchor::scale)) / anchor::step,
        slots::scaled);
  }

  // Of items that are all zeros or NaNs: whether any is a NaN, or +0.
  template <int N>
  __device__ __forceinline__ void note_zeros(const registers<Float, N>& items, int lane) {
    bits_type all = sign;
    bits_type any = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      all &= bits_of(items[i]);
      any |= bits_of(items[i]) & ~sign;
    }
    const bool nan = __any_sync(full_warp, any != 0);
    const bool other = __any_sync(full_warp, all == 0);
    const std::uint64_t found = nan     ? seen::nan | seen::other
                                : other ? seen::other
                                        : seen::minus_zero;
    if (lane == 0) marks |= static_cast<unsigned>(found);
  }
};

/// What makes an accumulator of an exact sum.
template <class Reducer>
struct exact_sum_of;
template <class R, class Lift, class... Values>
struct exact_sum_of<unfused<bound_reducer<R, Lift, Values...>>>
    : ways<R>::template holder<typename bound_reducer<R, Lift, Values...>::accumulator> {};

template <class Float>
inline constexpr tile_policy exact_policy = exact_policy_for(sizeof(Float));

/// How a warp reads a chunk.
template <class Source, class Float>
struct exact_shape {
  static constexpr int vt = exact_policy<Float>.vt;
  static constexpr int width = packet_width_of<vt>(static_cast<const Source*>(nullptr));
  static constexpr int rows = vt / width;
};

/// The exact sum of n >= 1 elements. `Summands` lifts an element to a float or a double. More than
/// one block need `sums`.
template <class Build, class Source, class Reducer, class Summands, class Init, class Out>
__global__ void __launch_bounds__(exact_policy<typename Summands::accumulator>.nt,
                                  min_resident_exact_blocks(sizeof(typename Summands::accumulator)))
    exact_kernel(Source source, Reducer reducer, Summands summands, Init init, Out out,
                 std::int64_t n, digit_sums<typename Summands::accumulator>* sums) {
  using number = typename Summands::accumulator;
  using slots = digit_slots<number>;
  constexpr tile_policy policy = exact_policy<number>;
  constexpr int width = exact_shape<Source, number>::width;
  constexpr int rows = exact_shape<Source, number>::rows;
  constexpr int chunk = warp_size * policy.vt;
  constexpr int num_warps = policy.nt / warp_size;
  using rows_type = lane_rows<Source, rows, width>;
  __shared__ warp_digits<number> digits[num_warps];
  using state_type = typename exact_sum_of<Reducer>::state;
  __shared__ wide_places<state_type> total;
  __shared__ bool completed;
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  warp_digits<number>& mine = digits[warp];
  mine.clear(lane);
  if (warp == 0) total.clear(lane);
  cuda::wait_for_previous_launch();

  const std::int64_t step = std::int64_t{gridDim.x} * num_warps;
  const std::int64_t overread = rows_type::overreads(source) ? width : 0;
  const std::int64_t whole = n < overread ? 0 : (n - overread) / chunk;
  std::int64_t c = std::int64_t{blockIdx.x} * num_warps + warp;
  const auto lane_first = [&](std::int64_t i) { return i * chunk + lane * width; };
  // Adds whole chunks from c on, as long as nothing in them is rare; returns the first that it did
  // not add.
  const auto whole_chunks = [&](std::int64_t c) {
    if (c >= whole) return c;
    rows_type next;
    next.load_rows(source, lane_first(c));
    bool done = true;
#pragma unroll 1
    do {
      registers<number, policy.vt> items;
#pragma unroll
      for (int i = 0; i < policy.vt; ++i) items.put(i, next.lift(summands, i / width, i % width));
      if (c + step < whole) next.load_rows(source, lane_first(c + step));  // while these are cut
      done = mine.add(items, lane);
      if (done) c += step;
    } while (done && c < whole);
    return c;
  };
  // Then one chunk with care. Apart, because what is rare must not take the registers of the next
  // chunk's items.
#pragma unroll 1
  while (c * chunk < n) {
    if (overread == 0) {
      // Then the compiler leaves out the code for misaligned memory.
      __builtin_assume(!rows_type::overreads(source));
      c = whole_chunks(c);
    } else {
      c = whole_chunks(c);
    }
    if (c * chunk >= n) break;
    registers<number, policy.vt> items;
    rows_type loaded;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::int64_t first = lane_first(c) + r * warp_size * width;
      const auto available =
          static_cast<int>(detail::bounded(n - first, std::int64_t{0}, std::int64_t{width}));
      loaded.load_part(source, first, r, available);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        // -0 is nothing to a sum.
        items.put(r * width + j, j < available ? loaded.lift(summands, r, j) : -number{0});
      }
    }
    mine.add_any(items, lane);
    c += step;
  }

  __syncthreads();
  // The block's sums, in those of its first warp.
  for (int s = static_cast<int>(threadIdx.x); s < slots::words; s += policy.nt) {
    long long sum = 0;
    for (int w = 0; w < num_warps; ++w) sum += digits[w].word[s];
    digits[0].word[s] = sum;
    if (gridDim.x > 1 && sum != 0) {
      atomicAdd(sums->word + s, static_cast<unsigned long long>(sum));
    }
  }
  if (threadIdx.x == 0) {
    unsigned marks = 0;
    for (int w = 0; w < num_warps; ++w) marks |= digits[w].marks;
    digits[0].marks = marks;
    if (gridDim.x > 1 && marks != 0) atomicOr(&sums->marks, marks);
  }
  __syncthreads();
  if (gridDim.x > 1) {
    if (!cuda::arrive(&sums->arrivals, 1, gridDim.x, completed)) return;
    // All others have arrived: zero for the next launch.
    for (int s = static_cast<int>(threadIdx.x); s < slots::words; s += policy.nt) {
      digits[0].word[s] = static_cast<long long>(sums->word[s]);
      sums->word[s] = 0;
    }
    if (threadIdx.x == 0) {
      digits[0].marks = sums->marks;
      sums->marks = 0;
    }
    __syncthreads();
  }
  if (warp != 0) return;
  for (int s = lane; s < slots::words; s += warp_size) {
    const long long sum = digits[0].word[s];
    constexpr int parts = anchors<number>::parts;
    if (sum != 0) total.add(sum, slots::exponent(s / parts) + 32 * (s % parts));
  }
  wide_by_warp<state_type> whole_sum(total, lane);
  const std::uint64_t marks = digits[0].marks;
  if constexpr (std::is_same_v<Init, no_init>) {
    const exact_window window = whole_sum.window(marks);
    if (lane == 0) cuda::write(out, reducer.result_of_exact_sum(window, n));
  } else if (lane == 0) {
    state_type state{};
    for (int i = 0; i < state_type::words; ++i) state.sum.word[i] = total.word(i);
    state.marks = marks;
    cuda::write(out, detail::finish(reducer, init, reducer.of_exact_sum(state, n)));
  }
}

}  // namespace tilefold::detail::cuda
