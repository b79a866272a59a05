// SPDX-License-Identifier: Apache-2.0
//
// Every named reducer on a GPU, for items of one wide type; one source for each.
#pragma once

#include "backend_cuda.cuh"
#include "cuda_chunks.cuh"
#include "cuda_fold.cuh"
#include "reducer_fold.hpp"

namespace tilefold::tool {

template <class Wide>
fold_result reduce_on_gpu(cuda_executor& executor, const fold_job& job, const void* items) {
  cuda_fold fold(executor, job.repeats);
  return fold.result(reducer_fold<Wide, cuda_fold>(job, items, fold).run());
}

template <class Wide>
fold_result reduce_chunks_on_gpu(cuda_executor& executor, const fold_job& job) {
  return timed_in_chunks([&] {
    cuda_chunk_fold fold(executor, job);
    return reducer_fold<Wide, cuda_chunk_fold>(job, job.data, fold).run();
  });
}

}  // namespace tilefold::tool
