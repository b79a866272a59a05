// SPDX-License-Identifier: Apache-2.0
//
// A worked example: what RMSNorm and softmax need to know of each row of a matrix, in one read of
// it. Items are float, half or bfloat16; results are float. With a host executor it needs a C++
// compiler alone; with a CUDA executor include it after tilefold/tilefold.cuh.
#pragma once

#include <cmath>
#include <cstdint>

#include <tilefold/tilefold.hpp>

namespace row_stats {

/// A reducer of its own, in float whatever the items. The library keeps the product from being
/// fused with the sum that follows, so host and GPU agree to the bit.
struct sum_of_squares {
  using reducer_concept = tilefold::reducer_tag;
  static constexpr bool commutative = true;

  template <class T>
  TILEFOLD_HD float lift(const T& item) const {
    const auto x = static_cast<float>(item);
    return x * x;
  }
  TILEFOLD_HD float combine(float a, float b) const { return a + b; }
  TILEFOLD_HD float project(float total) const { return total; }
  template <class Acc>
  TILEFOLD_HD Acc identity() const {
    return 0.0f;
  }
};

/// What is known of a row.
struct row {
  float sum_of_squares;
  float max;
  float sum_of_exp;  // of exp(x - max)

  row() = default;
  /// From the results of the fused reducers, in their order.
  template <class Fused>
  TILEFOLD_HD explicit row(const Fused& results)
      : sum_of_squares(results.template get<0>()),
        max(static_cast<float>(results.template get<1>().max)),
        sum_of_exp(static_cast<float>(results.template get<1>().sum)) {}
};

/// Writes what is known of each of `rows` rows of `width` items, the first beginning at `matrix`,
/// through out[0], out[1]...; on a CUDA executor in the order of its stream.
template <tilefold::executor Exec, class Item>
void of_rows(Exec&& exec, const Item* matrix, std::int64_t rows, std::int64_t width, row* out) {
  tilefold::segmented_reduce_into(
      exec, matrix, rows, width, out,
      tilefold::reducers::fuse(sum_of_squares{}, tilefold::reducers::softmax_pair{}));
}

/// RMSNorm: each item of the row is multiplied by this, and by a weight.
TILEFOLD_HD inline float rms_scale(const row& r, std::int64_t width, float epsilon) {
  return 1.0f / sqrtf(r.sum_of_squares / static_cast<float>(width) + epsilon);
}

/// The softmax of item x of the row.
TILEFOLD_HD inline float softmax(const row& r, float x) { return expf(x - r.max) / r.sum_of_exp; }

}  // namespace row_stats
