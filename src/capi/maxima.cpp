// SPDX-License-Identifier: Apache-2.0
//
// Greatest values.
#include "kernels.hpp"

namespace tilefold::capi {

void add_maxima(table& all) {
  all.add_typed<op::max, plain<r::max<>>, itself, std::int8_t, std::int16_t, std::int32_t,
                std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, half,
                bfloat16, float, double>();
  // Of bool as bytes: 0 and 1 are in order, and the result of nothing is the other one.
  all.add<op::max, const std::uint8_t*, bool, plain<r::max<>>>(dtype::boolean, true);
}

}  // namespace tilefold::capi
