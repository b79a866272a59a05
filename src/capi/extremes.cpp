// SPDX-License-Identifier: Apache-2.0
//
// Smallest and greatest values at once.
#include "kernels.hpp"

namespace tilefold::capi {

void add_extremes(table& all) {
  all.add_typed<op::minmax, plain<r::minmax<>>, r::extremes, std::int8_t, std::int16_t,
                std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                std::uint64_t, half, bfloat16, float, double>();
}

}  // namespace tilefold::capi
