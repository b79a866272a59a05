// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a long fold that wait for their right neighbours, in a warp's lanes. Device code.
#pragma once

#include <tilefold/detail/cuda/base/words.cuh>

namespace tilefold::detail::cuda {

/// Partial results of a long fold, one per level of the tree, held by lane `level`: the value of
/// 2^level nodes that were pushed waits there for its right neighbour. All lanes of the warp push
/// the same values.
template <class Reducer>
class warp_stack {
  using acc = typename Reducer::accumulator;

 public:
  __device__ warp_stack(const Reducer& reducer)
      : reducer_(reducer), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

  __device__ void push(acc value) {
    int level = 0;
    for (unsigned bits = count_; bits & 1; bits >>= 1) {
      replace(value, reducer_.combine(waiting(level++), value));
    }
    if (lane_ == level) waiting_.put(value);
    ++count_;
  }

  /// As if nothing had been pushed.
  __device__ void clear() { count_ = 0; }

  /// The fold of everything pushed, at least one value; the same in every lane.
  __device__ acc value() const {
    int level = __ffs(static_cast<int>(count_)) - 1;
    acc result = waiting(level);
    for (unsigned bits = count_ >> (level + 1); bits != 0; bits >>= 1) {
      ++level;
      if (bits & 1) replace(result, reducer_.combine(waiting(level), result));
    }
    return result;
  }

 private:
  // The node is made apart from its operands: made in place, a combine that copies the left one and
  // adds the right one to it would read what it has overwritten.
  __device__ __forceinline__ static void replace(acc& place, const acc& node) {
    ::new (static_cast<void*>(__builtin_addressof(place))) acc(node);
  }

  __device__ acc waiting(int level) const {
    return cuda::shuffle_from<warp_size>(waiting_.value, level, full_warp);
  }

  const Reducer& reducer_;
  const int lane_;
  slot<acc> waiting_;
  unsigned count_ = 0;
};

}  // namespace tilefold::detail::cuda
