// SPDX-License-Identifier: Apache-2.0
//
// The named reducers on the host: signed integers.
#include "reducers_host.hpp"

namespace tilefold::tool {

template fold_result reduce_on_host<std::int64_t>(const host_executor&, const fold_job&);

}  // namespace tilefold::tool
