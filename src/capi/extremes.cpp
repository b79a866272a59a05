// SPDX-License-Identifier: Apache-2.0
//
// Smallest and greatest values at once.
#include "kernels.hpp"

namespace tilefold::capi {

namespace {

/// Of bytes that are 0 or 1.
struct extremes_of_bool {
  bool min;
  bool max;

  extremes_of_bool() = default;
  TILEFOLD_HD extremes_of_bool(const r::extremes<std::uint8_t>& found)
      : min(found.min != 0), max(found.max != 0) {}
};

}  // namespace

template <>
struct result_traits<extremes_of_bool> {
  static constexpr dtype type = dtype::boolean;
  static constexpr int count = 2;
};

void add_extremes(table& all) {
  all.add_typed<op::minmax, plain<r::minmax<>>, r::extremes, std::int8_t, std::int16_t,
                std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                std::uint64_t, half, bfloat16, float, double>();
  all.add<op::minmax, const std::uint8_t*, extremes_of_bool, plain<r::minmax<>>>(dtype::boolean,
                                                                                 true);
}

}  // namespace tilefold::capi
