// SPDX-License-Identifier: Apache-2.0
//
// The part of the segments benchmark in which the whole call is small or the items are narrow: rows
// of halves into floats, many and few, and a thousand segments of a thousand floats.
#pragma once

#include "support/roster.hpp"
#include "support/session.hpp"

namespace bench {

/// Enters the contests. `gpu` must outlive their runs.
void enter_segment_rows(roster& all, session& gpu);

}  // namespace bench
