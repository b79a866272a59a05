// SPDX-License-Identifier: Apache-2.0
//
// Smallest values.
#include "kernels.hpp"

namespace tilefold::capi {

void add_minima(table& all) {
  all.add_typed<op::min, plain<r::min<>>, itself, std::int8_t, std::int16_t, std::int32_t,
                std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, half,
                bfloat16, float, double>();
  // Of bool as bytes: 0 and 1 are in order, and the result of nothing is the other one.
  all.add<op::min, const std::uint8_t*, bool, plain<r::min<>>>(dtype::boolean, true);
}

}  // namespace tilefold::capi
