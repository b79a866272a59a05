// SPDX-License-Identifier: Apache-2.0
//
// The policies that `tilefold tune` tries for int8.
#include "tune_candidates.cuh"

namespace tilefold::tool {

candidates int8_candidates(op_kind op) { return make_candidates<std::int8_t>(op); }

}  // namespace tilefold::tool
