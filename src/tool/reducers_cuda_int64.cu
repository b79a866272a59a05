// SPDX-License-Identifier: Apache-2.0
//
// The named reducers on a GPU: signed integers.
#include "reducers_cuda.cuh"

namespace tilefold::tool {

template fold_result reduce_on_gpu<std::int64_t>(cuda_executor&, const fold_job&, const void*);
template fold_result reduce_chunks_on_gpu<std::int64_t>(cuda_executor&, const fold_job&);

}  // namespace tilefold::tool
