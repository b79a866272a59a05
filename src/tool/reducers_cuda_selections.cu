// SPDX-License-Identifier: Apache-2.0
//
// Reducers that answer a question about items, or select some, on a GPU.
#include "reducers_cuda.cuh"
#include "selections.hpp"

namespace tilefold::tool {

fold_result selections_on_gpu(cuda_executor& executor, const fold_job& job, const void* items) {
  return reduce_family_on_gpu<selections>(executor, job, items);
}

}  // namespace tilefold::tool
