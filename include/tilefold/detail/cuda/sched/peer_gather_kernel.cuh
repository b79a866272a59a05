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
//  7. Who waits looks at both words: at its own, lest a rank that is destroyed wait in vain. If
//     one is set it looks at its flag a last time, and if that is not raised gives the other up.
//  8. Who has given up writes nothing to the other and reads nothing of it, ever again: it no
//     longer waits, so by rule 5 it could overwrite what the other still reads.
//  9. The other gives up as well, in a turn for which no message comes: it sees the same words.
// 10. Zeros stand where a message would be that has been given up. No call's message begins so.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tilefold::detail::cuda {

/// Where a rank's inbox is: 2 * ranks places of `capacity` bytes; and one word a rank each: flags,
/// counts of turns, and whether it has been given up.
struct peer_inbox {
  char* places;
  unsigned* flags;
  unsigned* turns;
  unsigned* given_up;
};

/// A rank's way to the inboxes of its group.
struct peer_links {
  int rank;
  int ranks;
  peer_inbox own;
  const peer_inbox* inboxes;  // of all ranks, in memory of this one's GPU
  std::int64_t capacity;      // bytes of a place
  const unsigned* left;       // a word a rank in memory of the host: not 0 if it has left
};

inline constexpr int peer_gather_nt = 64;

__device__ __forceinline__ unsigned read_flag(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ __forceinline__ void raise_flag(unsigned* flag, unsigned value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

/// Waits until `flag` is at `turn`, or one of two ranks has left; returns whether the flag is
/// there.
__device__ __forceinline__ bool await_turn(const unsigned* flag, unsigned turn,
                                           const unsigned* left_own, const unsigned* left_other) {
  const auto came = [&] { return static_cast<int>(cuda::read_flag(flag) - turn) >= 0; };
  for (int looks = 1; !came(); ++looks) {
    // Reading the host's memory takes a microsecond.
    if (looks % 256 != 0) continue;
    // The message may have come before its rank left.
    if (cuda::read_flag(left_other) != 0 || cuda::read_flag(left_own) != 0) return came();
  }
  return true;
}

__device__ __forceinline__ void copy_message(char* to, const char* from, std::int64_t bytes) {
  constexpr auto step = static_cast<std::int64_t>(sizeof(uint4));
  for (std::int64_t i = threadIdx.x; i < bytes / step; i += peer_gather_nt) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
}

/// One rank's side of a turn with another one (rules above).
struct peer_turn {
  int peer;
  unsigned number;
  bool given_up;
  char* places;    // of the other's inbox
  unsigned* flag;  // that this rank raises there

  __device__ __forceinline__ peer_turn() {}
  __device__ __forceinline__ peer_turn(const peer_links& links, int with)
      : peer(with),
        number(links.own.turns[with] + 1),
        given_up(links.own.given_up[with] != 0),
        places(links.inboxes[with].places),
        flag(links.inboxes[with].flags + links.rank) {}

  /// Where this rank's message goes, and where the other's comes.
  __device__ __forceinline__ char* to(const peer_links& links) const {
    return places + place(links, links.rank);
  }
  __device__ __forceinline__ const char* from(const peer_links& links) const {
    return links.own.places + place(links, peer);
  }

  /// Says that the message is there, which a fence has made visible. One thread.
  __device__ __forceinline__ void raise(const peer_links& links) const {
    if (given_up) return;
    cuda::raise_flag(flag, number);
    links.own.turns[peer] = number;
  }

  /// Waits for the other's message; whether it is there. One thread.
  __device__ __forceinline__ bool await(const peer_links& links) const {
    if (given_up) return false;
    const bool came = cuda::await_turn(links.own.flags + peer, number, links.left + links.rank,
                                       links.left + peer);
    if (!came) links.own.given_up[peer] = 1;
    return came;
  }

 private:
  __device__ __forceinline__ std::int64_t place(const peer_links& links, int rank) const {
    return (static_cast<std::int64_t>(number % 2) * links.ranks + rank) * links.capacity;
  }
};

/// Block p exchanges messages with rank p, `bytes` bytes each, a multiple of 16. As many blocks as
/// ranks.
template <class Build>
__global__ void __launch_bounds__(peer_gather_nt)
    peer_gather_kernel(const char* send, char* receive, std::int64_t bytes, peer_links links) {
  const peer_turn turn(links, static_cast<int>(blockIdx.x));
  if (!turn.given_up) {
    cuda::copy_message(turn.to(links), send, bytes);
    __threadfence_system();
  }
  __syncthreads();
  __shared__ bool is_there;
  if (threadIdx.x == 0) {
    turn.raise(links);
    is_there = turn.await(links);
  }
  __syncthreads();
  char* const to = receive + turn.peer * bytes;
  if (is_there) {
    cuda::copy_message(to, turn.from(links), bytes);
  } else {
    for (std::int64_t i = threadIdx.x; i < bytes; i += peer_gather_nt) to[i] = 0;
  }
}

}  // namespace tilefold::detail::cuda
