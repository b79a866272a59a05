// SPDX-License-Identifier: Apache-2.0
//
// What --check compares with on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include "backend.hpp"

namespace tilefold::tool {

/// Folds the job's items, which also lie at `device_items`, with cub::DeviceReduce and compares.
/// The job is not empty.
comparison check_with_cub(const fold_job& job, const void* device_items, const scalar& result,
                          cudaStream_t stream);

}  // namespace tilefold::tool
