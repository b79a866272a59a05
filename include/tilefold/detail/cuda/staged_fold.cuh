// SPDX-License-Identifier: Apache-2.0
//
// Trees of staged items (load/staged.cuh), here one of 13 items by 4 neighbouring lanes:
//
//     items     0 1 2 3   4 5 6 7   8 9 10 11   12
//     lane         0         1          2        3         each an aligned block, a power of two
//     bit 0        0 with 1             2 with 3           by shuffles
//     bit 1              0, 1 with 2, 3                    then every lane has the result
//
// In its block a lane folds packets of eight items, whose values wait for a right neighbour on a
// stack, and then the rest. Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/load/staged.cuh>
#include <tilefold/detail/cuda/warp_fold.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// Smallest k with 2^k >= x, x >= 0.
__device__ __forceinline__ int ceil_log2(int x) { return x <= 1 ? 0 : 32 - __clz(x - 1); }

/// Folds trees among the items that `stage` holds.
template <class Stage, class Source, class Reducer>
class staged_fold {
  using acc = typename Reducer::accumulator;
  static constexpr int packet = 8;
  // Levels above a packet that a run of staged items can have.
  static constexpr int levels = tree::floor_log2(Stage::capacity / packet) + 1;

 public:
  const Stage& stage;
  const Source& source;  // as it was staged
  const Reducer& reducer;
  std::int64_t origin;  // index in its tree of the first item of a call

  /// The tree of items [first, first + n), n <= capacity, folded by 2^lane_bits neighbouring lanes;
  /// this one is number `lane` among them. All lanes of the warp take part, with n = 0 if they have
  /// no tree. The result is the same in every lane of the group.
  __device__ __forceinline__ acc operator()(int first, int n, int lane, int lane_bits) const {
    // Each lane folds an aligned block.
    const int block_bits = cuda::ceil_log2((n + (1 << lane_bits) - 1) >> lane_bits);
    const int begin = lane << block_bits;
    slot<acc> node;
    if (begin < n)
      node.put(run(first + begin, detail::smaller(1 << block_bits, n - begin), origin - first));
    for (int bit = 0; bit < lane_bits; ++bit) {
      const acc received = cuda::shuffle_xor(node.value, 1 << bit);
      node.put(cuda::combine_lanes<false>(reducer, node.value, received, (lane >> bit) & 1,
                                          tree::right_half(lane, bit + 1) << block_bits, n));
    }
    return node.value;
  }

 private:
  __device__ __forceinline__ acc item(int i, std::int64_t shift) const {
    return stage.lift(reducer, source, i, i + shift);
  }
  __device__ __forceinline__ acc pair(const acc& left, const acc& right) const {
    return reducer.combine(left, right);
  }
  __device__ __forceinline__ acc four(int i, std::int64_t shift) const {
    return pair(pair(item(i, shift), item(i + 1, shift)),
                pair(item(i + 2, shift), item(i + 3, shift)));
  }

  // The tree of n >= 1 items by one lane: packets of eight, and a stack of what waits for a right
  // neighbour. Lanes that run side by side push at the same time, so its branches are uniform. An
  // item's index is its place + shift.
  __device__ __forceinline__ acc run(int first, int n, std::int64_t shift) const {
    registers<acc, levels> waiting;
    const int packets = n / packet;
    for (int p = 0; p < packets; ++p) {
      push<0>(waiting, p, pair(four(first, shift), four(first + 4, shift)));
      first += packet;
    }
    slot<acc> value;
    bool any = n & 3;
    if (any) value.put(few(first + (n & 4), n & 3, shift));
    if (n & 4) {
      const acc left = four(first, shift);
      value.put(any ? pair(left, value.value) : left);
      any = true;
    }
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      if (packets >> level == 0) break;
      if ((packets >> level) & 1) {
        value.put(any ? pair(waiting[level], value.value) : waiting[level]);
        any = true;
      }
    }
    return value.value;
  }

  // 1 to 3 items.
  __device__ __forceinline__ acc few(int i, int n, std::int64_t shift) const {
    slot<acc> value;
    value.put(item(i, shift));
    if (n > 1) value.put(pair(value.value, item(i + 1, shift)));
    if (n > 2) value.put(pair(value.value, item(i + 2, shift)));
    return value.value;
  }

  // Packet p's value meets those that wait.
  template <int Level>
  __device__ __forceinline__ void push(registers<acc, levels>& waiting, int p,
                                       const acc& value) const {
    if constexpr (Level + 1 == levels) {
      waiting.put(Level, value);
    } else if ((p >> Level) & 1) {
      push<Level + 1>(waiting, p, pair(waiting[Level], value));
    } else {
      waiting.put(Level, value);
    }
  }
};

}  // namespace tilefold::detail::cuda
