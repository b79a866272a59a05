// SPDX-License-Identifier: Apache-2.0
//
// Norms, means of other kinds, exponentials, and sums of more precision, on the host.
#include "norms.hpp"
#include "reducers_host.hpp"

namespace tilefold::tool {

fold_result norms_on_host(const host_executor& executor, const fold_job& job) {
  return reduce_family_on_host<norms>(executor, job);
}

}  // namespace tilefold::tool
