// SPDX-License-Identifier: Apache-2.0
//
// Logarithms of sums of exponentials.
#include "folds.cuh"
#include "pieces.cuh"

namespace bench {

void enter_logsumexp(roster& all, const std::shared_ptr<gpus>& host) {
  enter_fold(all, host, "logsumexp", tilefold::reducers::logsumexp{});
  enter_piece(all, host, "piece_logsumexp", tilefold::reducers::logsumexp{});
}

}  // namespace bench
