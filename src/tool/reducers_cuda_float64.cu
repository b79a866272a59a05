// SPDX-License-Identifier: Apache-2.0
//
// The named reducers on a GPU: floating values.
#include "reducers_cuda.cuh"

namespace tilefold::tool {

template fold_result reduce_on_gpu<double>(cuda_executor&, const fold_job&, const void*);
template fold_result reduce_chunks_on_gpu<double>(cuda_executor&, const fold_job&);

}  // namespace tilefold::tool
