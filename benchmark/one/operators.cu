// SPDX-License-Identifier: Apache-2.0
//
// Operators and reducers other than sums: several results in one pass, a question to every item,
// operators that are not commutative, for which the peers have no fold, and sums in PyTorch's
// order, whose blocks are joined one after the other.
#include <tilefold/sequential_blocks.hpp>

#include "../support/functions.hpp"
#include "../support/structs.hpp"
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

/// A user's reducer. The square of a float is exact in double, so nothing can be fused wrongly.
struct moments_reducer {
  using reducer_concept = tilefold::reducer_tag;
  static constexpr bool commutative = true;
  static constexpr bool separately_rounded = true;

  TILEFOLD_HD moments lift(float x) const { return moments_of_item{}(x); }
  TILEFOLD_HD moments combine(const moments& a, const moments& b) const {
    return moments_plus{}(a, b);
  }
  TILEFOLD_HD moments project(const moments& m) const { return m; }
};

namespace {

/// The later of two readings, NaN being none.
struct later_reading {
  template <class T>
  TILEFOLD_HD T operator()(T a, T b) const {
    return b == b ? b : a;
  }
};

contestant count_of_large(cudaStream_t stream) {
  return ours(stream, [](auto& executor, const fold_call& c) {
    const auto* first = c.items<std::uint8_t>();
    tilefold::count_if_into(executor, first, first + c.n, c.result<index>(), is_large{});
  });
}

contestant all_moments(cudaStream_t stream) {
  return ours(stream, [](auto& executor, const fold_call& c) {
    const auto* first = c.items<float>();
    tilefold::reduce_into(executor, first, first + c.n, c.result<moments>(), moments_reducer{});
  });
}

}  // namespace

void add_operators(shapes& all, cudaStream_t stream) {
  all.push_back(large_shape<count_of<std::uint8_t, is_large>, mixed<std::uint8_t>, index>(
      "uint8_count_if", count_of_large(stream)));
  all.push_back(
      large_shape<moments_of_all, mixed<float>, moments>("float_moments", all_moments(stream)));
  all.push_back(large_reduction<last_present<float>, half_missing<float>, float>(
      "float_noncommutative", stream, later_reading{}));
  all.push_back(large_reduction<last_present<double>, half_missing<double>, double>(
      "double_noncommutative", stream, later_reading{}));
  all.push_back(reduction<floating_sum<float, float>, mixed<float>, float>(
      "float_sum_sequential_blocks", stream, tilefold::sequential_blocks<8192>(tilefold::plus{})));
  all.back().modes = {mode::graph};
  all.push_back(reduction<floating_sum<double, double>, mixed<double>, double>(
      "double_sum_sequential_blocks", stream, tilefold::sequential_blocks<8192>(tilefold::plus{})));
  all.back().modes = {mode::graph};
  all.push_back(large_reduction<rotation_product, rotations, matrix<float>>(
      "matrix_noncommutative", stream, matrix_product{}));
}

}  // namespace bench
