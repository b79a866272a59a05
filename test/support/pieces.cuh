// SPDX-License-Identifier: Apache-2.0
//
// What the tests of single parts of kernels fold: pieces of a sequence, each of which knows where
// it begins and ends and by which expression it was made, and the neighbour tree over them by
// recursion, as its definition reads. Host and device code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <ostream>

#include <tilefold/op.hpp>

#include "device.cuh"
#include "oracle.hpp"

namespace tilefold::test {

/// Items first to last, folded. A piece of 8 + 8 * Words bytes.
template <int Words>
struct piece {
  std::int32_t first, last;
  std::uint64_t hash[Words];

  piece() = default;
  /// A single item.
  TILEFOLD_HD piece(std::uint32_t item)
      : first(static_cast<std::int32_t>(item)), last(static_cast<std::int32_t>(item)) {
    for (int w = 0; w < Words; ++w) {
      hash[w] = mixed_bits(item + (static_cast<std::uint64_t>(w) + 1) * 0x9e3779b97f4a7c15u);
    }
  }
  /// No item: what stands where one is missing.
  TILEFOLD_HD static piece missing() {
    piece nothing(0u);
    nothing.first = -1;
    nothing.last = -1;
    return nothing;
  }

  friend bool operator==(const piece&, const piece&) = default;
  friend std::ostream& operator<<(std::ostream& out, const piece& p) {
    return out << "[" << p.first << " to " << p.last << ", hash " << p.hash[0] << "]";
  }
};

/// Calls of the operators below, on the GPU, with an operand that is missing.
static __device__ unsigned missing_operands;

/// Neither commutative nor associative.
struct join_pieces {
  template <int Words>
  TILEFOLD_HD piece<Words> operator()(const piece<Words>& a, const piece<Words>& b) const {
    note_missing(a.first < 0 || b.first < 0);
    piece<Words> both = a;
    both.last = b.last;
    for (int w = 0; w < Words; ++w) {
      both.hash[w] = mixed_bits(3 * a.hash[w] + mixed_bits(b.hash[w]));
    }
    return both;
  }
  TILEFOLD_HD static void note_missing(bool missing) {
#if defined(__CUDA_ARCH__)
    if (missing) atomicAdd(&missing_operands, 1u);
#else
    (void)missing;
#endif
  }
};

/// The same, but commutative: for what takes operands as they come.
struct join_either_way {
  template <int Words>
  TILEFOLD_HD piece<Words> operator()(const piece<Words>& a, const piece<Words>& b) const {
    return a.first < b.first ? join_pieces{}(a, b) : join_pieces{}(b, a);
  }
};

/// The neighbour tree over items [first, first + count): the left half has the largest power of two
/// below `count`.
template <int Words, class Op = join_pieces>
piece<Words> tree_of_pieces(std::int64_t first, std::int64_t count, Op op = {}) {
  if (count == 1) return piece<Words>(static_cast<std::uint32_t>(first));
  std::int64_t left = 1;
  while (2 * left < count) left *= 2;
  return op(tree_of_pieces<Words>(first, left, op),
            tree_of_pieces<Words>(first + left, count - left, op));
}

/// How often an operator met a missing operand since the last call.
inline unsigned taken_missing_operands() {
  unsigned count = 0;
  const unsigned none = 0;
  must(cudaMemcpyFromSymbol(&count, missing_operands, sizeof count));
  must(cudaMemcpyToSymbol(missing_operands, &none, sizeof none));
  return count;
}

}  // namespace tilefold::test

template <int Words>
struct tilefold::op_traits<tilefold::test::join_either_way, tilefold::test::piece<Words>> {
  static constexpr bool commutative = true;
  static constexpr bool order_free = false;
  static constexpr bool separately_rounded = true;
};
