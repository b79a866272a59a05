// SPDX-License-Identifier: Apache-2.0
//
// Means of order 1 to 4, on the host.
#include "moments.hpp"
#include "reducers_host.hpp"

namespace tilefold::tool {

fold_result moments_on_host(const host_executor& executor, const fold_job& job) {
  return reduce_family_on_host<moments>(executor, job);
}

}  // namespace tilefold::tool
