// SPDX-License-Identifier: Apache-2.0
//
// Sums of floats.
#include "folds.cuh"
#include "pieces.cuh"

namespace bench {

void enter_sums(roster& all, const std::shared_ptr<gpus>& host) {
  enter_fold(all, host, "float_sum", tilefold::plus{});
  enter_piece(all, host, "piece_float_sum", tilefold::plus{});
}

}  // namespace bench
