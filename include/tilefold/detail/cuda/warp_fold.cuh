// SPDX-License-Identifier: Apache-2.0
//
// The neighbour tree inside a warp. `Full` says that every item exists; otherwise `count` cuts the
// tile off, and a node whose right half starts at or beyond it is its left half. The operator is
// never called on an operand that does not exist.
#pragma once

#include <tilefold/detail/cuda/words.cuh>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// One node: op(left, right), or left where the right half, starting at item `right_first`, is
/// beyond `count`.
template <bool Full, class Reducer, class Acc>
__device__ __forceinline__ Acc combine(const Reducer& reducer, const Acc& left, const Acc& right,
                                       int right_first, int count) {
  if (Full || right_first < count) return reducer.combine(left, right);
  return left;
}

/// One node seen from either of two lanes: `mine` is the left operand unless `upper`.
template <bool Full, class Reducer, class Acc>
__device__ __forceinline__ Acc combine_lanes(const Reducer& reducer, const Acc& mine,
                                             const Acc& other, bool upper, int right_first,
                                             int count) {
  if constexpr (Full && Reducer::commutative) {
    return reducer.combine(mine, other);
  } else {
    return cuda::combine<Full>(reducer, cuda::select(upper, other, mine),
                               cuda::select(upper, mine, other), right_first, count);
  }
}

/// The warp's part of a tile: row r, lane l covers `Width` items from first + (r * 32 + l) * Width.
template <int Rows, int Width, bool Full, class Reducer>
class row_fold {
  static_assert(tree::is_power_of_two(Rows) && Rows <= warp_size);
  using acc = typename Reducer::accumulator;
  static constexpr int row_bits = tree::floor_log2(Rows);
  static constexpr int lane_bits = 5;
  static constexpr int row_items = warp_size * Width;

 public:
  __device__ row_fold(const Reducer& reducer, int first, int count)
      : reducer_(reducer),
        first_(first),
        count_(count),
        lane_(static_cast<int>(threadIdx.x) % warp_size) {}

  /// The node of all rows, the same in every lane; values[r] is this lane's node of row r.
  ///
  /// One shuffle tree per row would cost 5 * Rows shuffles. Instead rows are merged pairwise while
  /// lanes are halved: at lane bit b, lanes with the bit clear keep the even row and lanes with it
  /// set the odd one, each sending the other row's value across. After log2(Rows) steps a lane
  /// holds one row's node; the remaining lane bits and then the rows follow. Rows - 1 + 5 shuffles.
  __device__ __forceinline__ acc fold(const registers<acc, Rows>& values) const {
    return fold_row_bits<0>(fold_lane_bits<row_bits>(merge<0>(values)));
  }

 private:
  // First item of the right half of the node that joins lane groups of 2^Bit in row `row`.
  template <int Bit>
  __device__ __forceinline__ int lane_right(int row) const {
    return first_ + row * row_items + tree::right_half(lane_, Bit + 1) * Width;
  }

  template <int Bit, int N>
  __device__ __forceinline__ acc merge(const registers<acc, N>& values) const {
    if constexpr (N == 1) {
      return values[0];
    } else {
      const bool upper = (lane_ >> Bit) & 1;
      const int my_row = lane_ & ((2 << Bit) - 1);
      registers<acc, N / 2> merged;
#pragma unroll
      for (int i = 0; i < N / 2; ++i) {
        const acc kept = cuda::select(upper, values[2 * i + 1], values[2 * i]);
        const acc sent = cuda::select(upper, values[2 * i], values[2 * i + 1]);
        merged.put(
            i, cuda::combine_lanes<Full>(reducer_, kept, cuda::shuffle_xor(sent, 1 << Bit), upper,
                                         lane_right<Bit>((i << (Bit + 1)) + my_row), count_));
      }
      return merge<Bit + 1>(merged);
    }
  }

  template <int Bit>
  __device__ __forceinline__ acc fold_lane_bits(const acc& value) const {
    if constexpr (Bit == lane_bits) {
      return value;
    } else {
      return fold_lane_bits<Bit + 1>(cuda::combine_lanes<Full>(
          reducer_, value, cuda::shuffle_xor(value, 1 << Bit), (lane_ >> Bit) & 1,
          lane_right<Bit>(lane_ & (Rows - 1)), count_));
    }
  }

  template <int Bit>
  __device__ __forceinline__ acc fold_row_bits(const acc& value) const {
    if constexpr (Bit == row_bits) {
      return value;
    } else {
      const int right = first_ + tree::right_half(lane_ & (Rows - 1), Bit + 1) * row_items;
      return fold_row_bits<Bit + 1>(cuda::combine_lanes<Full>(
          reducer_, value, cuda::shuffle_xor(value, 1 << Bit), (lane_ >> Bit) & 1, right, count_));
    }
  }

  const Reducer& reducer_;
  const int first_;
  const int count_;
  const int lane_;
};

}  // namespace tilefold::detail::cuda
