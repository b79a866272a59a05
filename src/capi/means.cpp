// SPDX-License-Identifier: Apache-2.0
//
// Means; NaN in an empty segment.
#include <tilefold/reducers/moments.hpp>

#include "kernels.hpp"

namespace tilefold::capi {

namespace {

struct make {
  auto operator()() const { return if_empty(r::mean{}, not_a_number); }
};

}  // namespace

void add_means(table& all) { all.add_real<op::mean, make, double>(false); }

}  // namespace tilefold::capi
