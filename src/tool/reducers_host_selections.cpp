// SPDX-License-Identifier: Apache-2.0
//
// Reducers that answer a question about items, or select some, on the host.
#include "reducers_host.hpp"
#include "selections.hpp"

namespace tilefold::tool {

fold_result selections_on_host(const host_executor& executor, const fold_job& job) {
  return reduce_family_on_host<selections>(executor, job);
}

}  // namespace tilefold::tool
