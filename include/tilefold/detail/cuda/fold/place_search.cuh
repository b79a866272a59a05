// SPDX-License-Identifier: Apache-2.0
//
// Finds where the extremes of a tile stand. It first compares values alone with the best of earlier
// tiles. Only if a tile has something better, which few have, are indices worked out: they cost
// more than the loads of the items.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/load/elements.cuh>

namespace tilefold::detail::cuda {

/// A lane's items of a tile, of which the first is number `first`.
template <int Vt, int Width, class Stripes, class Source>
struct place_search {
  const Source& source;
  const Stripes& loaded;
  std::int64_t first;

  /// Brings what the warp has found in the tiles before this one up to date; `value` is the best of
  /// my items. As each lane is told what any of them has found, few tiles have anything better.
  template <class Place, class T>
  __device__ __forceinline__ void operator()(Place& found, const T& value) const {
    using ranking = typename Place::ranking;
    const auto key = ranking::of(value);
    const bool better = found.gives_way_to(key);
    if (!__any_sync(full_warp, better)) return;
    const int place = place_of<ranking, T>(key);
    if (better) found = {key, cuda::index_of(source, first + place)};
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      const Place other = cuda::shuffle_xor(found, mask);
      const bool same = !ranking::before(found.key, other.key);
      bool wins_tie;
      if constexpr (ranking::first_counts) {
        wins_tie = same & (other.index < found.index);
      } else {
        wins_tie = same & (found.index < other.index);
      }
      if (ranking::before(other.key, found.key) | wins_tie) {
        found = other;
      }
    }
  }

 private:
  // The place of the item that has the key, counted from the lane's first item. Of several, the
  // first or the last, as the ranking says.
  template <class Ranking, class T>
  __device__ __forceinline__ int place_of(const typename Ranking::key& key) const {
    if constexpr (sizeof(T) >= 4) {
      return place_of<Ranking>(loaded, key);
    } else {
      // Unpacked packets would need too many registers, so the items are read again.
      asm volatile("" ::: "memory");
      Stripes again;
      again.load_all(source, first);
      return place_of<Ranking>(again, key);
    }
  }
  template <class Ranking>
  __device__ __forceinline__ static int place_of(const Stripes& stripes,
                                                 const typename Ranking::key& key) {
    int place = 0;
#pragma unroll
    for (int i = Vt - 1; i >= 0; --i) {
      const int k = Ranking::first_counts ? i : Vt - 1 - i;
      // The elements' indices come before them.
      const auto item = stripes.template item<1>(k / Width, k % Width);
      const bool same = !Ranking::before(key, Ranking::of(item));  // as none comes before it
      place = same ? k / Width * (warp_size * Width) + k % Width : place;
    }
    return place;
  }
};

}  // namespace tilefold::detail::cuda
