// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal keys on a GPU.
#include <string>

#include "../executor.hpp"
#include "by_key.cuh"

namespace tilefold::capi {

void fold_by_key(const by_key_job& job) {
  if (!job.of<2>() && !job.of<4>() && !job.of<8>()) {
    throw unsupported(
        "tilefold_reduce_by_key: on a GPU there are sum, min, max and mean of int32, "
        "int64, float16, bfloat16, float32 and float64, but no " +
        std::string(name_of(job.which)) + " of " + std::string(name_of(job.call.type)));
  }
}

}  // namespace tilefold::capi
