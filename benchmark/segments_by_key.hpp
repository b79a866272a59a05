// SPDX-License-Identifier: Apache-2.0
//
// The part of the segments benchmark in which keys say where segments are.
#pragma once

#include <memory>

#include "support/device_array.hpp"
#include "support/roster.hpp"
#include "support/session.hpp"

namespace bench {

/// Enters the contests. `gpu` must outlive their runs; `items` are as many as segment_items()
/// makes.
void enter_by_key_contests(roster& all, session& gpu, std::shared_ptr<device_array<float>> items);

}  // namespace bench
