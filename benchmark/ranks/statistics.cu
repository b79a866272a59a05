// SPDX-License-Identifier: Apache-2.0
//
// Five statistics of floats at once.
#include "folds.cuh"
#include "pieces.cuh"

namespace bench {

void enter_statistics(roster& all, const std::shared_ptr<gpus>& host) {
  namespace r = tilefold::reducers;
  const auto five = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});
  enter_fold(all, host, "five_statistics", five);
  enter_piece(all, host, "piece_five_statistics", five);
}

}  // namespace bench
