// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree inside a warp. stripe_fold merges stripes in pairs while it halves lanes, here
// four stripes A B C D of four lanes; A01 is the node of stripe A in lanes 0 and 1:
//
//     lane            0            1            2            3
//     registers  A0 B0 C0 D0  A1 B1 C1 D1  A2 B2 C2 D2  A3 B3 C3 D3
//     bit 0        A01 C01      B01 D01      A23 C23      B23 D23     lanes 0, 1 and 2, 3 exchange
//     bit 1         A0123        B0123        C0123        D0123      lanes 0, 2 and 1, 3 exchange
//     stripes        AB           AB           CD           CD        lanes 0, 1 and 2, 3 exchange
//                   ABCD         ABCD         ABCD         ABCD       lanes 0, 2 and 1, 3 exchange
//
// With 32 lanes, bits 2 to 4 follow bit 1, before the stripes: each lane still has one stripe then.
// `Full` says that every item exists. Otherwise items from `count` on do not, and a node without
// items in its right half is its left half: the operator is called with existing operands alone.
#pragma once

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>

namespace tilefold::detail::cuda {

/// Levels of a warp's tree that the compiler writes out: of large accumulators one, in a loop.
template <class Acc>
inline constexpr int unrolled_levels = sizeof(Acc) <= most_unrolled_bytes ? 5 : 1;

/// One node: op(left, right), or left if the right half, from item `right_first` on, has no items.
template <bool Full, class Reducer, class Acc>
TILEFOLD_D Acc combine(const Reducer& reducer, const Acc& left, const Acc& right, int right_first,
                       int count) {
  if (Full || right_first < count) return reducer.combine(left, right);
  return left;
}

/// One node, in both of its lanes: `mine` is the left operand unless `upper`, which select() takes.
template <bool Full, class Reducer, class Acc, class Condition>
TILEFOLD_D Acc combine_lanes(const Reducer& reducer, const Acc& mine, const Acc& other,
                             Condition upper, int right_first, int count) {
  if constexpr (Full && Reducer::commutative) {
    return reducer.combine(mine, other);
  } else {
    return cuda::combine<Full>(reducer, cuda::select(upper, other, mine),
                               cuda::select(upper, mine, other), right_first, count);
  }
}

/// The node of `Width` neighbouring items of one lane, which start at item `first`.
template <bool Full, class Reducer, class Acc, int Width>
TILEFOLD_D Acc fold_packet(const Reducer& reducer, registers<Acc, Width>& items, int first,
                           int count) {
#pragma unroll
  for (int step = 1; step < Width; step *= 2) {
#pragma unroll
    for (int j = 0; j < Width; j += 2 * step) {
      items.put(j,
                cuda::combine<Full>(reducer, items[j], items[j + step], first + j + step, count));
    }
  }
  return items[0];
}

/// Whether stripes are one tree's, one after the other, or each is another tree's.
enum class stripes_of { one_tree, many_trees };

/// Nodes in the registers of `Lanes` lanes, of which each covers `Width` items. Of one tree, stripe
/// r, lane l covers the items from first + (r * Lanes + l) * Width: the warp's part of a tile. Of
/// many trees it covers those from first + l * Width of tree r.
template <int Stripes, int Width, bool Full, class Reducer, int Lanes = warp_size,
          stripes_of Kind = stripes_of::one_tree>
class stripe_fold {
  static_assert(tree::is_power_of_two(Lanes) && Stripes <= Lanes && Lanes <= warp_size);
  static_assert(tree::is_power_of_two(Stripes) || Kind == stripes_of::many_trees);

 protected:
  using acc = typename Reducer::accumulator;
  static constexpr int levels_at_once = unrolled_levels<acc>;
  static constexpr int stripe_bits = tree::ceil_log2(Stripes);
  static constexpr int lane_bits = tree::floor_log2(Lanes);
  static constexpr int stripe_items = Kind == stripes_of::one_tree ? Lanes * Width : 0;

 public:
  /// `lane` is this lane's number among the `Lanes`, which are the `members` of its warp.
  __device__ stripe_fold(const Reducer& reducer, int first, int count,
                         int lane = static_cast<int>(threadIdx.x) % warp_size,
                         unsigned members = full_warp)
      : reducer_(reducer), first_(first), count_(count), lane_(lane), members_(members) {}

  /// The node of all stripes, the same in every lane; values[r] is this lane's node of stripe r.
  TILEFOLD_D acc fold(const registers<acc, Stripes>& values) const {
    static_assert(Kind == stripes_of::one_tree);
    return fold_stripe_bits(fold_each(values));
  }

  /// The node of stripe lane % 2^stripe_bits, if there is such a stripe; else that of some stripe.
  /// Stripes are merged in pairs while lanes are halved: at lane bit b, lanes with the bit clear
  /// keep the even stripe, the others the odd one, and each sends the other stripe's value. A
  /// stripe without a partner is both kept and sent. So there are Stripes - 1 + lane_bits -
  /// stripe_bits shuffles for a power of two of stripes, not lane_bits * Stripes.
  TILEFOLD_D acc fold_each(const registers<acc, Stripes>& values) const {
    return fold_lane_bits<stripe_bits>(merge<0>(values));
  }

 protected:
  // Whether this lane is in the right half of a node over twice 2^bit lanes.
  TILEFOLD_D auto is_upper(int bit) const {
    if constexpr (Kind == stripes_of::many_trees) {
      return lane_bit(lane_, bit);
    } else {
      return static_cast<bool>((lane_ >> bit) & 1);
    }
  }

  // First item of the right half of the node over twice 2^bit lanes in stripe `stripe`.
  TILEFOLD_D int lane_right(int bit, int stripe) const {
    return first_ + stripe * stripe_items + tree::right_half(lane_, bit + 1) * Width;
  }

  // A constant for whole warps, so that the compiler adds no code by which lanes converge.
  TILEFOLD_D unsigned members() const { return Lanes == warp_size ? full_warp : members_; }

  TILEFOLD_D acc received(const acc& sent, int mask) const {
    return cuda::shuffle_xor(sent, mask, members());
  }

  template <int Bit, int N>
  TILEFOLD_D acc merge(const registers<acc, N>& values) const {
    if constexpr (N == 1) {
      return values[0];
    } else {
      return merge<Bit + 1>(merge_once<Bit>(values));
    }
  }

  template <int Bit, int N>
  TILEFOLD_D registers<acc, (N + 1) / 2> merge_once(const registers<acc, N>& values) const {
    const auto upper = is_upper(Bit);
    const int my_stripe = lane_ & ((2 << Bit) - 1);
    registers<acc, (N + 1) / 2> merged;
#pragma unroll
    for (int i = 0; i < (N + 1) / 2; ++i) {
      const int even = 2 * i;
      const int odd = even + 1 < N ? even + 1 : even;
      const acc kept = cuda::select(upper, values[odd], values[even]);
      const acc sent = cuda::select(upper, values[even], values[odd]);
      merged.put(i,
                 cuda::combine_lanes<Full>(reducer_, kept, received(sent, 1 << Bit), upper,
                                           lane_right(Bit, (i << (Bit + 1)) + my_stripe), count_));
    }
    return merged;
  }

  // From nodes of 2^First lanes of stripe lane % Stripes to that of all lanes.
  template <int First>
  TILEFOLD_D acc fold_lane_bits(const acc& value) const {
    registers<acc, 1> node;
    node.put(0, value);
#pragma unroll levels_at_once
    for (int bit = First; bit < lane_bits; ++bit) {
      node.put(0, cuda::combine_lanes<Full>(reducer_, node[0], received(node[0], 1 << bit),
                                            is_upper(bit), lane_right(bit, lane_ & (Stripes - 1)),
                                            count_));
    }
    return node[0];
  }

  // From the nodes of stripes lane % Stripes to that of all stripes.
  TILEFOLD_D acc fold_stripe_bits(const acc& value) const {
    registers<acc, 1> node;
    node.put(0, value);
#pragma unroll levels_at_once
    for (int bit = 0; bit < stripe_bits; ++bit) {
      const int right = first_ + tree::right_half(lane_ & (Stripes - 1), bit + 1) * stripe_items;
      node.put(0, cuda::combine_lanes<Full>(reducer_, node[0], received(node[0], 1 << bit),
                                            is_upper(bit), right, count_));
    }
    return node[0];
  }

  const Reducer& reducer_;
  const int first_;
  const int count_;
  const int lane_;
  const unsigned members_;
};

// The tree over the warps of a block, through shared memory; here 4 warps:
//
//     warp       0    1    2    3       lane 0 of each writes its warp's node
//     shared   [ v0   v1   v2   v3 ]    a barrier
//     warp 0     v0   v1   v2   v3      lane i reads node i % 4
//                 `----'    `----'      lanes 0 and 1, 2 and 3 exchange
//                   `--------'          lanes 0 and 2, 1 and 3 exchange: all have the root

/// The tree over up to `Most` nodes, each of which covers `Width` items; a power of two, a warp's
/// lanes at most. `Full` and the item `count` as in stripe_merge.cuh.
template <int Most, int Width, bool Full, class Reducer>
struct block_tree {
  static_assert(tree::is_power_of_two(Most) && Most <= warp_size);
  using acc = typename Reducer::accumulator;
  static constexpr int levels_at_once = unrolled_levels<acc>;

  /// The node of all warps, in every lane of the first one; elsewhere `mine`. `values` is shared
  /// memory for a node of each warp, free to use. The block has `warps` warps, a power of two.
  TILEFOLD_D static acc fold(const Reducer& reducer, const acc& mine, acc* values, int count,
                             int warps = Most) {
    if constexpr (Most == 1) {
      return mine;
    } else {
      const int warp = static_cast<int>(threadIdx.x / warp_size);
      const int lane = static_cast<int>(threadIdx.x % warp_size);
      if (lane == 0) ::new (static_cast<void*>(values + warp)) acc(mine);
      __syncthreads();
      if (warp != 0) return mine;
      const int number = lane & (warps - 1);
      return fold_lanes(reducer, values[number], number, count, warps);
    }
  }

  /// The node of all warps of a block that has `Most` warps, in every lane of the first one.
  TILEFOLD_D static acc fold_all(const Reducer& reducer, const acc& mine, acc* values, int count) {
    if constexpr (Most == 1) {
      return mine;
    } else {
      const int warp = static_cast<int>(threadIdx.x) / warp_size;
      const int lane = static_cast<int>(threadIdx.x) % warp_size;
      if (lane == 0) ::new (static_cast<void*>(values + warp)) acc(mine);
      __syncthreads();
      if (warp != 0) return mine;
      registers<acc, 1> node;
      node.put(0, values[lane % Most]);
      return stripe_fold<1, Width, Full, Reducer, Most>(reducer, 0, count, lane % Most).fold(node);
    }
  }

  /// Stores the node of this warp.
  TILEFOLD_D static void put(acc* values, const acc& mine) {
    if (threadIdx.x % warp_size == 0)
      ::new (static_cast<void*>(values + threadIdx.x / warp_size)) acc(mine);
  }

  /// The node of all, in every lane of a warp: lane i holds node i % `nodes`, which is `number`.
  TILEFOLD_D static acc fold_lanes(const Reducer& reducer, const acc& mine, int number, int count,
                                   int nodes = Most) {
    registers<acc, 1> node;
    node.put(0, mine);
#pragma unroll levels_at_once
    for (int bit = 0; (1 << bit) < Most; ++bit) {
      if ((1 << bit) >= nodes) break;
      const acc received = cuda::shuffle_xor(node[0], 1 << bit);
      node.put(0, cuda::combine_lanes<Full>(reducer, node[0], received, (number >> bit) & 1,
                                            tree::right_half(number, bit + 1) * Width, count));
    }
    return node[0];
  }
};

}  // namespace tilefold::detail::cuda
