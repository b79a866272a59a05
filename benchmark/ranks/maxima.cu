// SPDX-License-Identifier: Apache-2.0
//
// Maxima of floats, whose order does not matter: a piece is one accumulator.
#include "folds.cuh"
#include "pieces.cuh"

namespace bench {

void enter_maxima(roster& all, const std::shared_ptr<gpus>& host) {
  enter_piece(all, host, "piece_float_max", tilefold::maximum{});
}

}  // namespace bench
