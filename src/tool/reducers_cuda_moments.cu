// SPDX-License-Identifier: Apache-2.0
//
// Means of order 1 to 4, on a GPU.
#include "moments.hpp"
#include "reducers_cuda.cuh"

namespace tilefold::tool {

fold_result moments_on_gpu(cuda_executor& executor, const fold_job& job, const void* items) {
  return reduce_family_on_gpu<moments>(executor, job, items);
}

}  // namespace tilefold::tool
