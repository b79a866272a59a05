// SPDX-License-Identifier: Apache-2.0
//
// A gather of short messages between GPUs that write each other's memory, as one launch on each:
//
//     rank 0   block 0   its message -> own inbox         block p: copies to rank p's inbox, raises
//              block 1   its message -> inbox of rank 1   a flag there, waits for rank p's message
//     rank 1   block 0   its message -> inbox of rank 0   in its own inbox, and copies that to
//              block 1   its message -> own inbox         where the caller wants it
//
// An inbox has two places for each rank, which turns take alternately. A rank that is at its next
// turn cannot be at the one after it before all are at the next, so nothing is overwritten that
// somebody still reads. Turns are counted on the GPU, so that launches can be replayed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tilefold::detail::cuda {

/// Where a rank's inbox is: 2 * ranks places of `capacity` bytes; flags and counts of turns, one a
/// rank.
struct peer_inbox {
  char* places;
  unsigned* flags;
  unsigned* turns;
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

__device__ __forceinline__ void copy_message(char* to, const char* from, std::int64_t bytes) {
  constexpr auto step = static_cast<std::int64_t>(sizeof(uint4));
  for (std::int64_t i = threadIdx.x; i < bytes / step; i += peer_gather_nt) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
}

/// Block p exchanges messages with rank p, `bytes` bytes each, a multiple of 16. If that rank has
/// left (`left[p]` is not 0) before its message is there, zeros stand in its place.
template <class Build>
__global__ void __launch_bounds__(peer_gather_nt)
    peer_gather_kernel(const char* send, char* receive, std::int64_t bytes, int rank,
                       const peer_inbox* inboxes, std::int64_t capacity,
                       const volatile unsigned* left) {
  const auto peer = static_cast<int>(blockIdx.x);
  const auto ranks = static_cast<int>(gridDim.x);
  const peer_inbox own = inboxes[rank];
  const peer_inbox other = inboxes[peer];
  const unsigned turn = own.turns[peer] + 1;
  const int first_place = static_cast<int>(turn % 2) * ranks;
  cuda::copy_message(other.places + (first_place + rank) * capacity, send, bytes);
  __threadfence_system();
  __syncthreads();
  __shared__ bool is_there;
  if (threadIdx.x == 0) {
    cuda::raise_flag(other.flags + rank, turn);
    own.turns[peer] = turn;
    const auto came = [&] {
      return static_cast<int>(cuda::read_flag(own.flags + peer) - turn) >= 0;
    };
    is_there = came();
    for (int looks = 1; !is_there; ++looks) {
      // Reading the host's memory takes a microsecond. The message may have come before its rank
      // left.
      const bool gone = looks % 256 == 0 && left[peer] != 0;
      is_there = came();
      if (gone) break;
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
