// SPDX-License-Identifier: Apache-2.0
//
// The check of indices for tilefold_reduce_by_index(). In a header of its own, since it needs that
// of the C++ verb, which includes CUB where nvcc compiles it.
#pragma once

#include <cstdint>
#include <string>

#include <tilefold/detail/verbs/forest_verb.hpp>
#include <tilefold/reduce_by_index.hpp>

#include "by_index.hpp"

namespace tilefold::capi {

/// Throws index_error for the first row whose index has no result, if the call asks for that.
template <class Exec>
void require_indices(Exec& exec, const by_index_call& call) {
  if (!call.checked || call.n == 0) return;
  const detail::tree_fault fault = detail::find_fault(
      exec, detail::index_judge{{}, call.num_results}, call.n, call.indices, call.indices);
  if (fault.tree == detail::tree_fault::none) return;
  const std::string index = call.indices.type == dtype::uint64
                                ? std::to_string(static_cast<std::uint64_t>(fault.first))
                                : std::to_string(fault.first);
  throw index_error("tilefold_reduce_by_index: item " + std::to_string(fault.tree) +
                        " has the index " + index + ", but there are " +
                        std::to_string(call.num_results) + " results",
                    fault.tree);
}

}  // namespace tilefold::capi
