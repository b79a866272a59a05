// SPDX-License-Identifier: Apache-2.0
//
// The part of the segments benchmark in which 4 GiB of floats are summed up by segment.
#pragma once

#include <memory>

#include "support/device_array.hpp"
#include "support/roster.hpp"
#include "support/session.hpp"

namespace bench {

/// Memory of floats of both signs, as many as any contest on them reads.
std::shared_ptr<device_array<float>> segment_items(session& gpu);

/// Enters the contests. `gpu` must outlive their runs.
void enter_segment_sums(roster& all, session& gpu, std::shared_ptr<device_array<float>> items);

}  // namespace bench
