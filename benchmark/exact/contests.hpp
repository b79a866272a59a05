// SPDX-License-Identifier: Apache-2.0
//
// The contests in exact sums.
#pragma once

#include "../support/roster.hpp"

namespace bench {

/// Sums, dot products and norms of one range, over distributions and n.
void enter_ranges(roster& all);
/// Sums of one range over dynamic ranges; n is the number of binades.
void enter_spreads(roster& all);
/// Sums of floats and of doubles by segment and by key; n is the items of a segment or run.
void enter_segments(roster& all);
/// Deposits from a kernel; n is the number of accumulators.
void enter_deposits(roster& all);

/// Prints what everyone makes of a few items at the edges of double and float.
void print_edges(session& gpu);

}  // namespace bench
