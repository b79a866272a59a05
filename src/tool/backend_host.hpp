// SPDX-License-Identifier: Apache-2.0
//
// The parts of the host backend, which are compiled apart because each takes its time.
#pragma once

#include <cstdint>

#include <tilefold/host.hpp>

#include "backend.hpp"

namespace tilefold::tool {

/// Runs the reducer job.op, which is of that family.
fold_result selections_on_host(const host_executor& executor, const fold_job& job);
fold_result moments_on_host(const host_executor& executor, const fold_job& job);
fold_result norms_on_host(const host_executor& executor, const fold_job& job);

/// Runs any reducer.
inline fold_result reduce_on_host(const host_executor& executor, const fold_job& job) {
  return of_family(job.op, selections_on_host, moments_on_host, norms_on_host)(executor, job);
}

/// In pieces of `piece_items`, a power of two; the result does not depend on it.
summary summarize_on_host(const host_executor& executor, const summary_job& job,
                          std::int64_t piece_items = tool::piece_items);

}  // namespace tilefold::tool
