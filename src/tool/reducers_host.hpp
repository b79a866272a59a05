// SPDX-License-Identifier: Apache-2.0
//
// The named reducers on the host; one source for each family.
#pragma once

#include <type_traits>

#include "backend_host.hpp"
#include "host_fold.hpp"
#include "reducer_fold.hpp"

namespace tilefold::tool {

template <template <class, class> class Family>
fold_result reduce_family_on_host(const host_executor& executor, const fold_job& job) {
  return visit_wide(job.type, [&]<class Wide>(std::type_identity<Wide>) {
    host_fold fold(executor, job);
    return fold.result(Family<Wide, host_fold>(job, job.data, fold).run());
  });
}

}  // namespace tilefold::tool
