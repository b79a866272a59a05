// SPDX-License-Identifier: Apache-2.0
//
// Operators other than plus on numbers: extremes, a user's struct, and one that is not commutative,
// for which the peers have no fold.
#include "support/tilefold.cuh"

namespace bench {

namespace {

/// The later of two readings, NaN being none.
struct later_reading {
  TILEFOLD_HD float operator()(float a, float b) const { return b == b ? b : a; }
};

struct mixed_quads {
  using item = quad;
  TILEFOLD_HD static quad at(index i) {
    using part = mixed<float>;
    return {part::at(4 * i), part::at(4 * i + 1), part::at(4 * i + 2), part::at(4 * i + 3)};
  }
};

}  // namespace

void add_operators(shapes& all, cudaStream_t stream) {
  all.push_back(reduction<extreme<float, false>, mixed<float>, float>("float_min", stream,
                                                                      tilefold::minimum{}));
  all.push_back(reduction<extreme<double, true>, mixed<double>, double>("double_max", stream,
                                                                        tilefold::maximum{}));
  all.push_back(reduction<last_present, half_missing, float>("float_noncommutative", stream,
                                                             later_reading{}));
  all.push_back(reduction<quad_sum, mixed_quads, quad>("struct16_sum", stream, quad_plus{}));
}

}  // namespace bench
