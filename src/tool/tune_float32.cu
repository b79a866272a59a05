// SPDX-License-Identifier: Apache-2.0
//
// The policies that `tilefold tune` tries for float32.
#include "tune_candidates.cuh"

namespace tilefold::tool {

candidates float32_candidates(op_kind op) { return make_candidates<float>(op); }

}  // namespace tilefold::tool
