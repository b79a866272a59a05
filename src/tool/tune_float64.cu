// SPDX-License-Identifier: Apache-2.0
//
// The policies that `tilefold tune` tries for float64.
#include "tune_candidates.cuh"

namespace tilefold::tool {

candidates float64_candidates(op_kind op) { return make_candidates<double>(op); }

}  // namespace tilefold::tool
