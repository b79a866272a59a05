// SPDX-License-Identifier: Apache-2.0
//
// The named reducers on a GPU; one source for each family.
#pragma once

#include <type_traits>

#include "backend_cuda.cuh"
#include "cuda_chunks.cuh"
#include "cuda_fold.cuh"
#include "reducer_fold.hpp"

namespace tilefold::tool {

template <template <class, class> class Family>
fold_result reduce_family_on_gpu(cuda_executor& executor, const fold_job& job, const void* items) {
  return visit_wide(job.type, [&]<class Wide>(std::type_identity<Wide>) {
    if (job.pieces == nullptr) {
      cuda_fold fold(executor, job.repeats);
      return fold.result(Family<Wide, cuda_fold>(job, items, fold).run());
    }
    return timed_in_chunks([&] {
      cuda_chunk_fold fold(executor, job);
      return Family<Wide, cuda_chunk_fold>(job, job.data, fold).run();
    });
  });
}

}  // namespace tilefold::tool
