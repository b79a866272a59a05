// SPDX-License-Identifier: Apache-2.0
//
// Items by index on a GPU: sorted, and copied into segments.
#pragma once

#include <cstdint>
#include <functional>

#include <tilefold/cuda.cuh>

#include "../by_index.hpp"

namespace tilefold::capi {

/// Folds the items in the order of the stream; fold(job) folds segments, with accumulators of
/// `accumulator_bytes` bytes, in workspace alone.
void fold_by_index(cuda_executor& exec, const by_index_call& call, std::int64_t accumulator_bytes,
                   const std::function<void(const job&)>& fold);

std::int64_t by_index_workspace_bytes(cuda_executor& exec, op which, dtype type, std::int64_t rows,
                                      std::int64_t columns, std::int64_t num_results,
                                      std::int64_t accumulator_bytes);

}  // namespace tilefold::capi
