// SPDX-License-Identifier: Apache-2.0
//
// A gather of short messages between GPUs that write each other's memory, as one launch on each:
//
//     rank 0   block 0   its message -> own inbox         block p: copies to rank p's inbox, raises
//              block 1   its message -> inbox of rank 1   a flag there, waits for rank p's message
//     rank 1   block 0   its message -> inbox of rank 0   in its own inbox, and copies that to
//              block 1   its message -> own inbox         where the caller wants it
//
// The protocol, of any two ranks a and b by themselves:
//
//     a   place 1 of b, flag 1 | waits for own flag 1 | place 0 of b, flag 2 | waits for 2 | ...
//     b   place 1 of a, flag 1 | waits for own flag 1 | place 0 of a, flag 2 | waits for 2 | ...
//
//  1. Each has two places for messages, a flag that the other raises, and a count of its turns.
//     All lie on its GPU and begin at 0: launches can be replayed.
//  2. In turn t a rank writes the other's place t % 2, and raises the other's flag to t (release).
//  3. Then it waits until its own flag is t or more (acquire), and reads its own place t % 2.
//  4. Its turns come in the order of one stream: in turn t + 1 it has read what came in turn t.
//  5. It is in turn t + 2 only when the other has raised t + 1, thus has read what came in turn t.
//     So nothing is overwritten that is still read, and a flag is at most one turn ahead.
//  6. A rank that leaves sets its word in the host's memory, for good. Its turns go on all the
//     same: messages of a rank that has left may still come.
//  7. A rank that waits looks at both words: at its own, for it may be destroyed meanwhile. If
//     one is set it looks at its flag a last time, and if that is not raised gives the other up.
//  8. A rank that has given up writes nothing to the other and reads nothing of it, ever again: it
//     no longer waits, so by rule 5 it could overwrite what the other still reads.
//  9. The other rank gives up as well, in a turn for which no message comes: it sees these words.
// 10. Zeros stand where a message would be that has been given up. No call's message begins so.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <tilefold/detail/cuda/base/words.cuh>

namespace tilefold::detail::cuda {

/// Where a rank's inbox is: 2 * ranks places of `capacity` bytes; and one word a rank each: flags,
/// counts of turns, and whether it has been given up.
struct peer_inbox {
  char* places;
  unsigned* flags;
  unsigned* turns;
  unsigned* given_up;
};

inline constexpr int peer_gather_nt = 64;

TILEFOLD_D unsigned read_flag(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

/// Waits until `flag` is at `turn`, or one of two ranks has left; whether the flag is there.
TILEFOLD_D bool await_turn(const unsigned* flag, unsigned turn, const unsigned* left_own,
                           const unsigned* left_other) {
  const auto came = [&] { return static_cast<int>(cuda::read_flag(flag) - turn) >= 0; };
  for (int looks = 1; !came(); ++looks) {
    // Reading the host's memory takes a microsecond.
    if (looks % 256 != 0) continue;
    // The message may have come before its rank left.
    if (cuda::read_flag(left_other) != 0 || cuda::read_flag(left_own) != 0) return came();
  }
  return true;
}

TILEFOLD_D void copy_message(char* to, const char* from, std::int64_t bytes) {
  constexpr auto step = static_cast<std::int64_t>(sizeof(uint4));
  for (std::int64_t i = threadIdx.x; i < bytes / step; i += peer_gather_nt) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
}

/// Block p exchanges messages with rank p, `bytes` bytes each, a multiple of 16. `left`: a word a
/// rank, not 0 if it has left.
template <class Build>
__global__ void __launch_bounds__(peer_gather_nt)
    peer_gather_kernel(const char* send, char* receive, std::int64_t bytes, int rank,
                       const peer_inbox* inboxes, std::int64_t capacity, const unsigned* left) {
  const auto peer = static_cast<int>(blockIdx.x);
  const auto ranks = static_cast<int>(gridDim.x);
  const peer_inbox own = inboxes[rank];
  const peer_inbox other = inboxes[peer];
  const unsigned turn = own.turns[peer] + 1;
  const bool given_up = own.given_up[peer] != 0;
  const int first_place = static_cast<int>(turn % 2) * ranks;
  if (!given_up) {
    cuda::copy_message(other.places + (first_place + rank) * capacity, send, bytes);
    __threadfence_system();
  }
  __syncthreads();
  __shared__ bool is_there;
  if (threadIdx.x == 0) {
    is_there = false;
    if (!given_up) {
      cuda::store_behind_all(other.flags + rank, turn);
      own.turns[peer] = turn;
      is_there = cuda::await_turn(own.flags + peer, turn, left + rank, left + peer);
      if (!is_there) own.given_up[peer] = 1;
    }
  }
  __syncthreads();
  char* const to = receive + peer * bytes;
  if (is_there) {
    cuda::copy_message(to, own.places + (first_place + peer) * capacity, bytes);
  } else {
    for (std::int64_t i = threadIdx.x; i < bytes; i += peer_gather_nt) to[i] = 0;
  }
}

}  // namespace tilefold::detail::cuda
