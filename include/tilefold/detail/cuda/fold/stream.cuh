// SPDX-License-Identifier: Apache-2.0
//
// The next items are on their way while these are folded:
//
//     load      i0   i1   i2   i3            into registers
//     fold           i0   i1   i2   i3
//
// Device code.
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>

namespace tilefold::detail::cuda {

/// Loads and folds what stands at `place`, and then goes on as long as advance() says that there is
/// more. load(items, place) only begins the loads; fold(items, place) waits for them. Returns the
/// place behind the last one.
template <class Items, class Place, class Advance, class Load, class Fold>
__device__ __forceinline__ Place stream_ahead(Place place, const Advance& advance, const Load& load,
                                              const Fold& fold) {
  slot<Items> next;
  next.put(load(place));
  bool more = true;
#pragma unroll 1
  do {
    slot<Items> items;
    items.put(next.value);
    const Place here = place;
    more = advance(place);
    if (more) next.put(load(place));
    fold(items.value, here);
  } while (more);
  return place;
}

}  // namespace tilefold::detail::cuda
