// SPDX-License-Identifier: Apache-2.0
//
// The parts of the CUDA backend, which are compiled apart because each takes its time.
#pragma once

#include <tilefold/cuda.cuh>

#include "backend.hpp"

namespace tilefold::tool {

/// Runs the reducer job.op on items in GPU memory whose wide type is Wide (int64, uint64, double).
template <class Wide>
fold_result reduce_on_gpu(cuda_executor& executor, const fold_job& job, const void* items);

/// A piece is in GPU memory at a time.
/// The job's pieces.
template <class Wide>
fold_result reduce_chunks_on_gpu(cuda_executor& executor, const fold_job& job);

summary summarize_on_gpu(cuda_executor& executor, const summary_job& job);

}  // namespace tilefold::tool
