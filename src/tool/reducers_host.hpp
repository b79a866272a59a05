// SPDX-License-Identifier: Apache-2.0
//
// Every named reducer on the host, for items of one wide type; one source for each.
#pragma once

#include "backend_host.hpp"
#include "host_fold.hpp"
#include "reducer_fold.hpp"

namespace tilefold::tool {

template <class Wide>
fold_result reduce_on_host(const host_executor& executor, const fold_job& job) {
  host_fold fold(executor, job);
  return fold.result(reducer_fold<Wide, host_fold>(job, job.data, fold).run());
}

}  // namespace tilefold::tool
