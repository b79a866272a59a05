// SPDX-License-Identifier: Apache-2.0
//
// Sums of 1- and 2-byte types in 4-byte accumulators.
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

void add_narrow_sums(shapes& all, cudaStream_t stream) {
  using tilefold::bfloat16;
  using tilefold::half;
  all.push_back(reduction<floating_sum<half, float>, mixed<half>, float>("half_to_float_sum",
                                                                         stream, tilefold::plus{}));
  all.back().modes = {mode::graph, mode::stream};
  all.push_back(reduction<integer_sum<std::int8_t, std::int32_t>, mixed<std::int8_t>, std::int32_t>(
      "int8_to_int32_sum", stream, tilefold::plus{}));
  all.back().modes = {mode::graph, mode::stream};
  all.push_back(large_reduction<floating_sum<bfloat16, float>, mixed<bfloat16>, float>(
      "bfloat16_to_float_sum", stream, tilefold::plus{}));
}

}  // namespace bench
