// SPDX-License-Identifier: Apache-2.0
//
// How often items fall into each of some ranges of equal width.
#pragma once

#include <cstdint>
#include <vector>

#include <tilefold/host.hpp>

#include "scalar.hpp"
#include "summary.hpp"

namespace tilefold::tool {

struct histogram {
  /// Of floating values: from <= x < to; x <= to in the last bin. Of integers: from <= x <= to.
  struct bin {
    scalar from;  // int64, uint64 or double
    scalar to;
    std::int64_t count;
  };

  std::vector<bin> bins;  // none if no item is finite
  std::int64_t minus_infinity = 0;
  std::int64_t plus_infinity = 0;
};

/// Of the job's items that are numbers, in `bins` >= 1 ranges between the least and the greatest
/// finite one; fewer where that many numbers do not lie between them. Reads the items once, and
/// twice if an infinity is among them.
histogram count_bins(const host_executor& executor, const summary_job& job,
                     const number_summary& numbers, int bins);

}  // namespace tilefold::tool
