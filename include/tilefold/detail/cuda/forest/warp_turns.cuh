// SPDX-License-Identifier: Apache-2.0
//
// Which batches of neighbouring trees a warp takes, so that all warps end at about the same time
// however long their trees are:
//
//     batches    0  1  2  3 | 4  5 | 6  7 | 8  9 | 10 11 | 12 13 | ...     4 warps
//               one each     turn 0 turn 1 turn 2 turn 3  turn 4          the next warp that asks
//
// Turns are counted at several places, of which warp w asks one, w % 16: one counter hands out only
// some 1.5 turns in a nanosecond. Where there is little to do in a batch, turns do not pay, and
// warp w takes batches w, w + warps... Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/cuda/base/tuning_forests.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/forest/forest_plan.cuh>

namespace tilefold::detail::cuda {

/// The batches of warp `warp` of `warps`; warp is less than batches. All counters are 0 before the
/// first warp asks. Every lane of the warp makes every call.
class warp_turns {
 public:
  __device__ __forceinline__ warp_turns(turn_counters& counters, std::int64_t warp,
                                        std::int64_t warps, std::int64_t batches, bool in_turns)
      : counters_(counters),
        batches_(batches),
        warps_(static_cast<unsigned>(warps)),
        warp_(static_cast<unsigned>(warp)),
        turn_(in_turns ? turn_of(warps, batches) : 0) {
    if (in_turns) next_turn_ = take();
  }

  /// Moves on to the warp's next batch; the first one is batch `warp`. False if there are no more.
  __device__ __forceinline__ bool advance(std::int64_t& batch) {
    if (turn_ == 0) {
      batch += warps_;
    } else if (--left_ > 0) {
      ++batch;
    } else {
      batch = warps_ + std::int64_t{__shfl_sync(full_warp, next_turn_, 0)} * turn_;
      left_ = turn_;
      next_turn_ = take();
    }
    return batch < batches_;
  }

 private:
  __device__ __forceinline__ static unsigned turn_of(std::int64_t warps, std::int64_t batches) {
    return static_cast<unsigned>(
        detail::larger((batches - warps) / (warps * turns_of_warp), std::int64_t{1}));
  }

  // The number of a turn that is the warp's from now on, in lane 0. It is asked for a turn ahead,
  // so that the warp does not wait for the answer.
  __device__ __forceinline__ unsigned take() const {
    if (threadIdx.x % warp_size != 0) return 0;
    const unsigned used = detail::smaller(warps_, num_turn_counters);
    const unsigned counter = warp_ % used;
    return atomicAdd(&counters_.taken[counter * turn_counter_words], 1u) * used + counter;
  }

  turn_counters& counters_;
  std::int64_t batches_;
  unsigned warps_;
  unsigned warp_;
  unsigned turn_;      // batches of a turn; 0 if there are no turns
  unsigned left_ = 1;  // batches before the next turn
  unsigned next_turn_ = 0;
};

}  // namespace tilefold::detail::cuda
