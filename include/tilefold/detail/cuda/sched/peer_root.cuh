// SPDX-License-Identifier: Apache-2.0
//
// An output of a fold that exchanges its value with all peers and puts theirs together, so that a
// sum over several GPUs is one launch on each:
//
//     GPU 0   fold its part -> value -> all inboxes | waits for all values, joins them -> out
//     GPU 1   fold its part -> value -> all inboxes | waits for all values, joins them -> out
//
// For parts of one block each. The thread that writes a fold's result does it by itself, by the
// protocol of peer_gather_kernel.cuh, and ranks that take its way are met all the same.
#pragma once

#include <cstdint>
#include <new>

#include <tilefold/config.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/sched/join_kernel.cuh>
#include <tilefold/detail/cuda/sched/peer_gather_kernel.cuh>
#include <tilefold/detail/folding.hpp>

namespace tilefold::detail::cuda {

/// As many ranks one thread serves without being slower than a launch.
inline constexpr int most_peers_of_root = 8;

template <class Reducer, class Init, class Out>
struct peer_root {
  using acc = typename Reducer::accumulator;
  using difference_type = std::int64_t;

  peer_links links;
  rank_header header;
  unfused<Reducer> reducer;
  Init init;
  Out out;
  rank_status* status;

  struct place {
    const peer_root& root;

    TILEFOLD_HD void operator=([[maybe_unused]] const acc& value) const {
#if defined(__CUDA_ARCH__)
      root.exchange(value);
#endif
    }
  };

  TILEFOLD_HD place operator*() const { return {*this}; }
  TILEFOLD_HD friend const peer_root& operator+(const peer_root& root, std::int64_t) {
    return root;
  }

  /// As join_kernel does, of messages as they come. Not inlined: it is the end of kernels that have
  /// no register to spare.
  __device__ __noinline__ void exchange(const acc& value) const {
    peer_turn turns[most_peers_of_root];
    for (int peer = 0; peer < links.ranks; ++peer) turns[peer] = peer_turn(links, peer);
    for (int peer = 0; peer < links.ranks; ++peer) {
      if (turns[peer].given_up) continue;
      char* const to = turns[peer].to(links);
      *reinterpret_cast<rank_header*>(to) = header;
      new (to + rank_blocks_at) acc(value);
    }
    __threadfence_system();
    for (int peer = 0; peer < links.ranks; ++peer) turns[peer].raise(links);

    slot<acc> stacked[most_peers_of_root];
    block_stack<unfused<Reducer>> stack{stacked};
    int other = links.ranks;
    int failed = links.ranks;
    for (int peer = 0; peer < links.ranks; ++peer) {
      if (!turns[peer].await(links)) {
        other = min(other, peer);
        continue;
      }
      const char* const from = turns[peer].from(links);
      const rank_header said = *reinterpret_cast<const rank_header*>(from);
      if (said.signature != header.signature) {
        other = min(other, peer);
      } else if (said.failed != 0) {
        failed = min(failed, peer);
      } else if (said.end > said.begin) {
        stack.push(reducer, *reinterpret_cast<const acc*>(from + rank_blocks_at),
                   said.end - said.begin);
      }
    }
    if (other < links.ranks || failed < links.ranks) {
      cuda::say(status, other < links.ranks ? rank_status::other_call : rank_status::failed,
                other < links.ranks ? other : failed);
    } else {
      cuda::write(out, detail::finish(reducer, init, stack.fold(reducer)));
    }
  }
};

}  // namespace tilefold::detail::cuda
