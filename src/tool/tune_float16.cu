// SPDX-License-Identifier: Apache-2.0
//
// The policies that `tilefold tune` tries for float16.
#include "tune_candidates.cuh"

namespace tilefold::tool {

candidates float16_candidates(op_kind op) { return make_candidates<half>(op); }

}  // namespace tilefold::tool
