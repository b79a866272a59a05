// SPDX-License-Identifier: Apache-2.0
//
// What tilefold_reduce_by_index() is told. Its items are sorted into segments, which the kernels of
// segments fold: so every operation is there, and none is compiled again.
#pragma once

#include <cstdint>
#include <functional>

#include <tilefold/config.hpp>
#include <tilefold/host.hpp>

#include "job.hpp"
#include "types.hpp"

namespace tilefold::capi {

/// Rows of items, each with an index. `items` has the items and where the results go, one for each
/// index and column.
struct by_index_call {
  op which;
  any_items<std::int64_t> indices;  // integers
  std::int64_t n;                   // of rows
  std::int64_t columns;
  std::int64_t num_results;
  bool checked;  // an index without a result is an error
  job items;

  std::int64_t segments() const { return num_results * columns; }
};

/// The segments that a call's items are sorted into. Those of a row of results are its columns:
///
///     indices  1 0 1     gathered  c d | a e, b f     the result of index 0 has 1 row
///     items    a b                                    that of index 1 has 2
///              c d
///              e f
struct sorted_rows {
  std::int64_t begin;   // of the row of results among all rows
  std::int64_t length;  // of each of its segments

  /// Where the item of the sorted row `k` and of a column lies among the gathered items.
  TILEFOLD_HD std::int64_t place(std::int64_t k, std::int64_t column, std::int64_t columns) const {
    return begin * columns + column * length + (k - begin);
  }
};

constexpr bool is_place(op which) { return which == op::arg_min || which == op::arg_max; }

/// Folds the items on the host; fold(job) folds segments.
void fold_by_index(host_executor& exec, const by_index_call& call,
                   const std::function<void(const job&)>& fold);

}  // namespace tilefold::capi
