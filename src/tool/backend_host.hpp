// SPDX-License-Identifier: Apache-2.0
//
// The parts of the host backend, which are compiled apart because each takes its time.
#pragma once

#include <cstdint>

#include <tilefold/host.hpp>

#include "backend.hpp"

namespace tilefold::tool {

/// Runs the reducer job.op on items whose wide type is Wide (int64, uint64, double).
template <class Wide>
fold_result reduce_on_host(const host_executor& executor, const fold_job& job);

/// In pieces of `piece_items`, a power of two; the result does not depend on it.
summary summarize_on_host(const host_executor& executor, const summary_job& job,
                          std::int64_t piece_items = tool::piece_items);

}  // namespace tilefold::tool
