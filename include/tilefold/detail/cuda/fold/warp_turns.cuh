// SPDX-License-Identifier: Apache-2.0
//
// Which groups of neighbouring trees a warp takes, so that all warps end at about the same time
// however long their trees are:
//
//     groups    0  1  2  3 | 4  5 | 6  7 | 8  9 | 10 11 | 12 13 | ...     4 warps
//               one each     turn 0 turn 1 turn 2 turn 3  turn 4          whoever asks next
//
// Turns are counted at several places, of which warp w asks one, w % 16: one counter hands out only
// some 1.5 turns in a nanosecond. Where there is little to do in a group, turns do not pay, and
// warp w takes groups w, w + warps... Device code.
#pragma once

#include <cstdint>

#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/extremes.hpp>

namespace tilefold::detail::cuda {

/// Counters of turns; all are 0 before the first warp asks.
struct turn_counters {
  unsigned taken[num_turn_counters * turn_counter_words];

  __device__ void reset() {
    for (unsigned c = 0; c < num_turn_counters; ++c) taken[c * turn_counter_words] = 0;
  }
};

/// The groups of warp `warp` of `warps`, two or more; warp is less than groups. Every lane of the
/// warp makes every call.
class warp_turns {
 public:
  __device__ __forceinline__ warp_turns(turn_counters& counters, std::int64_t warp,
                                        std::int64_t warps, std::int64_t groups, bool in_turns)
      : counters_(counters),
        groups_(groups),
        step_(in_turns ? 1 : warps),
        left_(in_turns ? 1 : groups),
        turns_begin_(warps),
        turn_(detail::larger((groups - warps) / (warps * turns_of_warp), std::int64_t{1})),
        counters_used_(static_cast<unsigned>(
            detail::smaller(warps, static_cast<std::int64_t>(num_turn_counters)))),
        counter_(static_cast<unsigned>(warp % counters_used_)),
        next_turn_(take()) {}

  /// Moves on to the warp's next group; the first one is group `warp`. False if there are no more.
  __device__ __forceinline__ bool advance(std::int64_t& group) {
    if (--left_ > 0) {
      group += step_;
    } else {
      group = turns_begin_ + __shfl_sync(full_warp, next_turn_, 0) * turn_;
      left_ = turn_;
      next_turn_ = take();
    }
    return group < groups_;
  }

 private:
  // The number of a turn that is the warp's from now on, in lane 0. It is asked for a turn ahead,
  // so that nobody waits for the answer.
  __device__ __forceinline__ unsigned take() const {
    if (threadIdx.x % warp_size != 0) return 0;
    return atomicAdd(&counters_.taken[counter_ * turn_counter_words], 1u) * counters_used_ +
           counter_;
  }

  turn_counters& counters_;
  std::int64_t groups_;
  std::int64_t step_;
  std::int64_t left_;  // groups before the next turn
  std::int64_t turns_begin_;
  std::int64_t turn_;  // groups of a turn
  unsigned counters_used_;
  unsigned counter_;
  unsigned next_turn_;
};

}  // namespace tilefold::detail::cuda
