// SPDX-License-Identifier: Apache-2.0
#include "sums.cuh"

namespace bench {

void enter_sums(roster& all, const shared_floats& items) {
  using contest = sums_contest<float>;
  contest::enter(all,
                 std::make_shared<contest>(all.gpu(), items, "float", segment_shapes(all.quick())));
}

}  // namespace bench
