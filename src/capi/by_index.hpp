// SPDX-License-Identifier: Apache-2.0
//
// What tilefold_reduce_by_index() is told. Its items are sorted into segments, which the kernels of
// segments fold: so every operation is there, and none is compiled again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tilefold/detail/verbs/forest_checks.hpp>
#include <tilefold/reduce_by_index.hpp>

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

/// Throws index_error for the first row whose index has no result, if the call asks for that.
template <class Exec>
void require_indices(Exec& exec, const by_index_call& call) {
  if (!call.checked || call.n == 0) return;
  const detail::tree_fault fault = detail::find_fault(exec, detail::index_judge{call.num_results},
                                                      call.n, call.indices, call.indices);
  if (fault.tree == detail::tree_fault::none) return;
  const std::string index = call.indices.type == dtype::uint64
                                ? std::to_string(static_cast<std::uint64_t>(fault.first))
                                : std::to_string(fault.first);
  throw index_error("tilefold_reduce_by_index: item " + std::to_string(fault.tree) +
                        " has the index " + index + ", but there are " +
                        std::to_string(call.num_results) + " results",
                    fault.tree);
}

constexpr bool is_place(op which) { return which == op::arg_min || which == op::arg_max; }

/// Folds the items on the host; fold(job) folds segments.
void fold_by_index(host_executor& exec, const by_index_call& call,
                   const std::function<void(const job&)>& fold);

}  // namespace tilefold::capi
