// SPDX-License-Identifier: Apache-2.0
//
// A row of items in shared memory, a run of neighbours for each lane of a warp, here of 32 words:
//
//     memory    | run 0 | run 1 | run 2 | ... | run 31 |      copied by all lanes together: lane l
//                                                             takes chunks l, l + 32... of 4 words
//     shared      run 0    chunks  0 1 2 3 4 5 6 7            in the order that they lie there:
//                 run 1            1 0 3 2 5 4 7 6            chunk c of run q lies at c ^ (q % 8)
//                 run 2            2 3 0 1 6 7 4 5
//     read        lane q reads chunks 0, 1, 2... of run q
//
// Runs of a power of two of words begin in the same banks. In this order, neighbouring lanes find
// their chunks c in different banks, so they stay out of each other's way. Words are copied in
// place of chunks if memory is not aligned. Items of 1 or 2 bytes lie as the words that hold them,
// runs one word apart. Device code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <tilefold/detail/bound_reducer.hpp>
#include <tilefold/detail/cuda/tile_load.cuh>
#include <tilefold/detail/cuda/warp_stage.cuh>
#include <tilefold/detail/cuda/words.cuh>
#include <tilefold/detail/pack.hpp>
#include <tilefold/reducer.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// 16 bytes from global to shared memory; there after finish_stage().
__device__ __forceinline__ void copy_chunk(unsigned* to, const unsigned* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(__cvta_generic_to_global(from))
               : "memory");
#else
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
#endif
}

/// The run of lane q is `RunWords` words, of which word w lies at q * RunWords + (w ^ key(q)).
template <int RunWords>
struct run_places {
  static constexpr bool even = tree::is_power_of_two(RunWords);
  static constexpr int mask = even ? detail::smaller(RunWords, 32) - 4 : 0;

  __device__ __forceinline__ static int key(int q) { return (q * RunWords / 32 * 4) & mask; }
};

/// Runs of `Run` items of one iterator.
template <class It, int Run>
class staged_runs {
  using value = std::iter_value_t<It>;
  static constexpr int item_words = words<value>::count;
  static constexpr int run_words = Run * item_words;
  static constexpr bool by_words =
      loads_packets<It> && sizeof(value) % 4 == 0 && alignof(value) % 4 == 0;
  using places = run_places<run_words>;
  static_assert(run_words % 8 == 0);

 public:
  __device__ static int overread_items(const It&) { return 0; }

  __device__ __forceinline__ void fill(const It& first, int lane) {
    if constexpr (!by_words) {
#pragma unroll 4
      for (int k = 0; k < Run; ++k) {
        const int i = lane + k * warp_size;
        put(i / Run, i % Run, detail::element(first, i));
      }
    } else {
      const auto* const from = reinterpret_cast<const unsigned*>(first);
      if (places::even && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
        copy_chunks(from + lane * 4, lane);
      } else {
        copy_words(from, lane);
      }
    }
  }

  /// N items of this lane's run from item i on.
  template <int N>
  __device__ __forceinline__ void load(registers<value, N>& to, const It&, int lane, int i,
                                       std::int64_t) const {
    static_assert(N * item_words % 4 == 0);
    struct items {
      words<value> item[N];
    };
    union {
      uint4 chunk[N * item_words / 4];
      items all;
    } loaded;
    const unsigned* const mine = memory_ + lane * run_words;
    const int first = i * item_words ^ places::key(lane);
#pragma unroll
    for (int c = 0; c < N * item_words / 4; ++c) {
      // i * item_words has no bits among those of 4 c if a run is a power of two of words.
      const int at = places::even ? first ^ (4 * c) : first + 4 * c;
      loaded.chunk[c] = *reinterpret_cast<const uint4*>(mine + at);
    }
#pragma unroll
    for (int j = 0; j < N; ++j) to.put(j, from_words<value>(loaded.all.item[j]));
  }

 private:
  __device__ __forceinline__ void copy_chunks(const unsigned* from, int lane) {
    constexpr int chunks = run_words / 4;     // of a run
    constexpr int runs = warp_size / chunks;  // that all lanes copy at once
    constexpr int copied = 4 * warp_size;     // words at once
    // Two sets of runs further on, keys are the same again.
    unsigned* const even = memory_ + (lane * 4 ^ places::key(lane / chunks));
    unsigned* const odd = memory_ + (lane * 4 ^ places::key(lane / chunks + runs));
#pragma unroll
    for (int k = 0; k < chunks; ++k) {
      cuda::copy_chunk((k % 2 == 0 ? even : odd) + k * copied, from + k * copied);
    }
  }
  __device__ __forceinline__ void copy_words(const unsigned* from, int lane) {
#pragma unroll 8
    for (int k = 0; k < run_words; ++k) {
      const int w = lane + k * warp_size;
      const int q = w / run_words;
      cuda::copy_word(memory_ + (q * run_words + (w % run_words ^ places::key(q))), from + w);
    }
  }
  __device__ __forceinline__ void put(int q, int i, const value& item) {
    const words<value> w = cuda::to_words(value(item));
#pragma unroll
    for (int k = 0; k < item_words; ++k) {
      memory_[q * run_words + ((i * item_words + k) ^ places::key(q))] = w.word[k];
    }
  }

  alignas(16) unsigned memory_[warp_size * run_words];
};

/// Items of one or two bytes, as the words that hold them, other items' bytes in the first and last
/// one among them; a run that begins inside a word has one more.
template <class It, int Run>
  requires staged_as_bytes<It>
class staged_runs<It, Run> {
  using value = std::iter_value_t<It>;
  static constexpr int item_bytes = sizeof(value);
  static constexpr int items_per_word = 4 / item_bytes;
  static constexpr int run_words = Run / items_per_word;
  static constexpr int pitch = run_words + 1;  // keeps lanes out of each other's banks, too
  static_assert(warp_size % run_words == 0);

 public:
  __device__ static int overread_items(const It& first) {
    return offset(first) == 0 ? 0 : items_per_word;
  }

  __device__ __forceinline__ void fill(const It& first, int lane) {
    const auto* const from =
        reinterpret_cast<const unsigned*>(reinterpret_cast<std::uintptr_t>(first) - offset(first));
    constexpr int runs = warp_size / run_words;  // that all lanes copy at once
    const int q = lane / run_words;
    const int w = lane % run_words;
#pragma unroll
    for (int k = 0; k < run_words; ++k) {
      cuda::copy_word(memory_ + (q * pitch + w) + k * runs * pitch,
                      from + (q * run_words + w) + k * runs * run_words);
    }
    if (offset(first) != 0) {
      cuda::copy_word(memory_ + lane * pitch + run_words, from + lane * run_words + run_words);
    }
  }

  template <int N>
  __device__ __forceinline__ void load(registers<value, N>& to, const It& first, int lane, int i,
                                       std::int64_t) const {
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
        to.put(w * items_per_word + k, from_words<value>(item));
      }
    }
  }

 private:
  __device__ __forceinline__ static unsigned offset(const It& first) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first)) % 4;
  }

  unsigned memory_[warp_size * pitch];
};

// Indices need no room.
template <int Run>
class staged_runs<index_iterator, Run> {
 public:
  __device__ static int overread_items(const index_iterator&) { return 0; }
  __device__ void fill(const index_iterator&, int) {}
  template <int N>
  __device__ __forceinline__ void load(registers<std::int64_t, N>& to, const index_iterator&, int,
                                       int, std::int64_t index) const {
#pragma unroll
    for (int j = 0; j < N; ++j) to.put(j, index + j);
  }
};

template <std::size_t Index, class Runs>
struct staged_runs_leaf {
  Runs runs;
};

/// The memory of one row; a warp's own.
template <class Source, int Run>
class lane_stage;
template <std::size_t... Index, class... Its, int Run>
class lane_stage<source_of<std::index_sequence<Index...>, Its...>, Run>
    : staged_runs_leaf<Index, staged_runs<Its, Run>>... {
  using source_type = source_of<std::index_sequence<Index...>, Its...>;
  template <std::size_t I, class Runs>
  __device__ __forceinline__ static Runs& leaf(staged_runs_leaf<I, Runs>& l) {
    return l.runs;
  }
  template <std::size_t I, class Runs>
  __device__ __forceinline__ static const Runs& leaf(const staged_runs_leaf<I, Runs>& l) {
    return l.runs;
  }
  template <int N>
  using packet = pack<registers<std::iter_value_t<Its>, N>...>;

 public:
  /// Items behind the last one of a row that fill() may touch.
  __device__ static int overread_items(const source_type& source) {
    int most = 0;
    ((most = max(most, staged_runs<Its, Run>::overread_items(
                           source_type::template iterator<Index>(source)))),
     ...);
    return most;
  }

  /// Will hold the first 32 Run items of `source` after finish_stage(). All lanes.
  __device__ __forceinline__ void fill(const source_type& source) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    __syncwarp();  // everyone has read what was here
    (leaf<Index>(*this).fill(source_type::template iterator<Index>(source), lane), ...);
    cuda::commit_stage();
  }

  /// The node of N items of this lane's run from item i on, a power of two; `source` as in fill(),
  /// `index` the first one's own in its tree.
  template <int N, class Reducer>
  __device__ __forceinline__ typename Reducer::accumulator node(const Reducer& reducer,
                                                                const source_type& source, int i,
                                                                std::int64_t index) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    packet<N> loaded;
    (leaf<Index>(*this).template load<N>(loaded.template get<Index>(),
                                         source_type::template iterator<Index>(source), lane, i,
                                         index),
     ...);
    if constexpr (Reducer::lifts_packets) {
      return lift_packet(reducer, loaded.template get<0>());
    } else {
      return lift_each<0, N>(reducer, loaded);
    }
  }

 private:
  template <class Reducer, class T, int N>
  __device__ __forceinline__ static typename Reducer::accumulator lift_packet(
      const Reducer& reducer, const registers<T, N>& loaded) {
    T values[N];
#pragma unroll
    for (int j = 0; j < N; ++j) values[j] = loaded[j];
    return reducer.lift_packet(values);
  }
  template <int Begin, int Count, class Reducer, class Packet>
  __device__ __forceinline__ static typename Reducer::accumulator lift_each(const Reducer& reducer,
                                                                            const Packet& loaded) {
    if constexpr (Count == 1) {
      return reducer.lift(loaded.template get<Index>()[Begin]...);
    } else {
      const auto left = lift_each<Begin, Count / 2>(reducer, loaded);
      return reducer.combine_equals(left, lift_each<Begin + Count / 2, Count / 2>(reducer, loaded));
    }
  }
};

}  // namespace tilefold::detail::cuda
