// SPDX-License-Identifier: Apache-2.0
//
// Sums of items that begin anywhere: at each place that 1-, 2- and 4-byte items can have within 16
// bytes.
#include "../support/tilefold.cuh"
#include "shapes.hpp"

namespace bench {

namespace {

template <class Rule, class Content, class Acc>
void add_offsets(shapes& all, const std::string& base, cudaStream_t stream) {
  constexpr int item_bytes = sizeof(typename Content::item);
  for (int items = 1; items * item_bytes < 16; ++items) {
    all.push_back(large_reduction<Rule, Content, Acc>(base + "_off_by_" + std::to_string(items),
                                                      stream, tilefold::plus{}));
    all.back().offset_bytes = items * item_bytes;
    add_peers(all.back(), base);
  }
}

}  // namespace

void add_misaligned(shapes& all, cudaStream_t stream) {
  using std::int8_t;
  using tilefold::half;
  add_offsets<floating_sum<float, float>, mixed<float>, float>(all, "float_sum", stream);
  add_offsets<floating_sum<half, float>, mixed<half>, float>(all, "half_to_float_sum", stream);
  add_offsets<integer_sum<int8_t, std::int32_t>, mixed<int8_t>, std::int32_t>(
      all, "int8_to_int32_sum", stream);
}

}  // namespace bench
