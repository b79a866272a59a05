// SPDX-License-Identifier: Apache-2.0
//
// Norms of order 2, apart from the others (norms.cpp): nvcc takes its time for each.
#include <tilefold/reducers/norms.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

void add_l2_norms(table& all) { all.add_real<op::l2, plain<r::l2>, double>(true); }

}  // namespace tilefold::capi
