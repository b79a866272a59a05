// SPDX-License-Identifier: Apache-2.0
//
// Sums with more than the accumulator of a plain one.
#include <tilefold/reducers/compensated.hpp>
#include <tilefold/reducers/exact.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

void add_precise_sums(table& all) {
  all.add_typed<op::compensated_sum, plain<r::compensated_sum>, itself, float, double>();
  all.add_typed<op::exact_sum, plain<r::exact_sum<>>, itself, float, double>();
}

}  // namespace tilefold::capi
