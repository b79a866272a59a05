// SPDX-License-Identifier: Apache-2.0
//
// The parts of the CUDA backend, which are compiled apart because each takes its time.
#pragma once

#include <tilefold/cuda.cuh>

#include "backend.hpp"

namespace tilefold::tool {

/// Runs the reducer job.op, which is of that family: the job's pieces, of which one is in GPU
/// memory at a time, or, without pieces, `items` in GPU memory.
fold_result selections_on_gpu(cuda_executor& executor, const fold_job& job, const void* items);
fold_result moments_on_gpu(cuda_executor& executor, const fold_job& job, const void* items);
fold_result norms_on_gpu(cuda_executor& executor, const fold_job& job, const void* items);

/// One part of the items is in GPU memory at a time.
summary summarize_on_gpu(cuda_executor& executor, const summary_job& job);

}  // namespace tilefold::tool
