// SPDX-License-Identifier: Apache-2.0
//
// The policies that `tilefold tune` tries for int32.
#include "tune_candidates.cuh"

namespace tilefold::tool {

candidates int32_candidates(op_kind op) { return make_candidates<std::int32_t>(op); }

}  // namespace tilefold::tool
