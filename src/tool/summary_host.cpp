// SPDX-License-Identifier: Apache-2.0
//
// Summaries on the host.
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>

#include <algorithm>
#include <vector>

#include "any_items.hpp"
#include "backend_host.hpp"
#include "summary_fold.hpp"

namespace tilefold::tool {

namespace {

template <class Wide>
summary summarize_as(const host_executor& executor, const summary_job& job,
                     std::int64_t piece_items) {
  const auto reducer = summary_reducer<Wide>();
  const any_items<Wide> items{job.data, job.type};
  std::vector<summary_accumulator<Wide>> pieces;
  for (std::int64_t first = 0; first < job.count; first += piece_items) {
    const std::int64_t count = std::min(piece_items, job.count - first);
    pieces.push_back(tilefold::reduce(executor, items + first, items + (first + count),
                                      of_piece<decltype(reducer)>{reducer, first}));
    job.advance(count * row_of(job.type).bytes);
  }
  return summary_of<Wide>(job, pieces);
}

}  // namespace

summary summarize_on_host(const host_executor& executor, const summary_job& job,
                          std::int64_t piece_items) {
  if (job.count == 0) return {0, 0, std::nullopt};
  return visit_wide(job.type, [&]<class Wide>(std::type_identity<Wide>) {
    return summarize_as<Wide>(executor, job, piece_items);
  });
}

}  // namespace tilefold::tool
