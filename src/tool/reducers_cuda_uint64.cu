// SPDX-License-Identifier: Apache-2.0
//
// The named reducers on a GPU: unsigned integers and bools.
#include "reducers_cuda.cuh"

namespace tilefold::tool {

template fold_result reduce_on_gpu<std::uint64_t>(cuda_executor&, const fold_job&, const void*);
template fold_result reduce_chunks_on_gpu<std::uint64_t>(cuda_executor&, const fold_job&);

}  // namespace tilefold::tool
