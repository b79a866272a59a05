// SPDX-License-Identifier: Apache-2.0
//
// Norms.
#include <tilefold/reducers/norms.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

void add_norms(table& all) {
  all.add_real<op::l1, plain<r::l1>, double>(true);
  all.add_real<op::l2, plain<r::l2>, double>(true);
  all.add_typed<op::linf, plain<r::linf>, itself, float, double>();
}

}  // namespace tilefold::capi
