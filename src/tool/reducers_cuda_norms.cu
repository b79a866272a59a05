// SPDX-License-Identifier: Apache-2.0
//
// Norms, means of other kinds, exponentials, and sums of more precision, on a GPU.
#include "norms.hpp"
#include "reducers_cuda.cuh"

namespace tilefold::tool {

fold_result norms_on_gpu(cuda_executor& executor, const fold_job& job, const void* items) {
  return reduce_family_on_gpu<norms>(executor, job, items);
}

}  // namespace tilefold::tool
