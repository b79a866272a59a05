// SPDX-License-Identifier: Apache-2.0
//
// A fold of ranks that write each other's memory, of which this one has a short part, in one launch
// of one block:
//
//     fold        the blocks of the part, into the message, in shared memory
//     exchange    warp w with one other rank each, by the rules of peer_gather_kernel.cuh
//     join        the first warp, as join_kernel
//
// A rank with a longer part, or none, takes three launches for the same; their messages meet.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <new>
#include <type_traits>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/fold/piece_tree.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/sched/join_kernel.cuh>
#include <tilefold/detail/cuda/sched/peer_gather_kernel.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/folding.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// The most items of a part that is folded so.
inline constexpr std::int64_t peer_fold_items = peer_fold_tile.tile();
/// A warp for each of the others.
inline constexpr int most_linked_ranks = peer_fold_tile.nt / warp_size + 1;

/// What a rank exchanges messages by with all others.
struct peer_links {
  peer_inbox inboxes[most_linked_ranks];
  int rank;
  int ranks;
  std::int64_t capacity;
  const unsigned* left;
};

/// Whether such a fold has a kernel.
template <class Reducer>
inline constexpr bool folds_with_peers =
    sizeof(typename Reducer::accumulator) <= most_peer_fold_bytes;

/// The blocks of a short part, by a block.
template <class Source, class Reducer>
struct short_part {
  using acc = typename Reducer::accumulator;
  using blocks_type = blocks_of<Reducer>;
  static constexpr int nt = peer_fold_tile.nt;
  static constexpr int vt = peer_fold_tile.vt;
  static constexpr int tile_bits = tree::floor_log2(peer_fold_items);
  // They grow up to a place in the part and shrink from there on, each time by a half at least.
  static constexpr int most_blocks = blocks_type::one ? 1 : 2 * tile_bits + 1;

  const Source& source;
  const Reducer& reducer;
  blocks_type blocks;
  acc* values;  // of the blocks, in shared memory

  /// Ends with a barrier.
  __device__ __forceinline__ void fold(acc* warp_values) const {
    if constexpr (blocks_type::one) {
      const acc value = tile_fold<peer_fold_tile, false, Source, Reducer>::fold(
          source, reducer, 0, static_cast<int>(blocks.end - blocks.begin), warp_values);
      if (threadIdx.x == 0) new (values) acc(value);
    } else {
#pragma unroll 1
      for (std::int64_t t = blocks.begin >> tile_bits; t <= (blocks.end - 1) >> tile_bits; ++t) {
        fold_in_tile(t << tile_bits, warp_values);
      }
    }
    __syncthreads();
  }

 private:
  struct block_writer {
    const short_part& of;
    std::int64_t position;

    __device__ __forceinline__ void operator()(const acc& value, int at) const {
      new (of.values + of.blocks.number_of(position + at)) acc(value);
    }
  };

  __device__ __forceinline__ void fold_in_tile(std::int64_t position, acc* warp_values) const {
    constexpr int run = detail::smaller(stretch_items<Source>, vt);
    using runs_type = item_runs<Source, Reducer, run>;
    const block_writer keep{*this, position};
    const runs_type runs{source, reducer, position - blocks.begin, blocks.end - blocks.begin};
    const unit_fold<nt, vt, runs_type, Reducer, block_writer> unit{
        runs, reducer, keep,
        static_cast<int>(detail::larger(blocks.begin - position, std::int64_t{0})),
        static_cast<int>(detail::smaller(blocks.end - position, peer_fold_items))};
    slot<acc> node;
    if (unit.fold(node, warp_values) && threadIdx.x == 0) keep(node.value, 0);
  }
};

/// `header` says which items of the whole those of `source` are. Else as join_kernel.
template <class Build, class Source, class Reducer, class Init, class Empty, class Out>
__global__ void __launch_bounds__(peer_fold_tile.nt)
    peer_fold_kernel(Source source, Reducer reducer, rank_header header, peer_links links, int most,
                     Init init, Empty empty, Out out, rank_status* status) {
  using acc = typename Reducer::accumulator;
  using part = short_part<Source, Reducer>;
  constexpr auto most_bytes =
      rank_blocks_at + part::most_blocks * static_cast<std::int64_t>(sizeof(acc));
  __shared__ slot<acc> warp_values[peer_fold_tile.nt / warp_size];
  __shared__ uint4 message_words[(most_bytes + 15) / 16];
  __shared__ uint4 nothing[sizeof(rank_header) / 16];  // where a rank has been given up
  __shared__ const char* messages[most_linked_ranks];
  __shared__ join_memory<Reducer> join;
  char* const message = reinterpret_cast<char*>(message_words);
  cuda::wait_for_previous_launch();

  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int other = warp + (warp >= links.rank ? 1 : 0);
  const bool exchanges = other < links.ranks;
  const int peer = exchanges ? other : links.rank;
  // What it reads is on its way while the items are folded.
  const peer_turn turn(links.inboxes[links.rank], links.inboxes[peer], links.rank, peer,
                       links.ranks, links.capacity);
  if (threadIdx.x == 0) {
    *reinterpret_cast<rank_header*>(message) = header;
    nothing[0] = nothing[1] = uint4{};
    messages[links.rank] = message;
  }
  const blocks_of<Reducer> blocks{{header.begin, header.end}};
  part{source, reducer, blocks, reinterpret_cast<acc*>(message + rank_blocks_at)}.fold(
      &warp_values[0].value);

  if (exchanges) {
    const std::int64_t bytes =
        rank_blocks_at + blocks.count() * static_cast<std::int64_t>(sizeof(acc));
    const bool came = turn.exchange<warp_size>(message, (bytes + 15) / 16 * 16, links.left, lane);
    if (lane == 0) {
      messages[peer] = came ? turn.place_here() : reinterpret_cast<const char*>(nothing);
    }
  }
  __syncthreads();
  if (warp > 0) return;
  cuda::join_messages([&](int rank) { return messages[rank]; }, links.ranks, most, header.signature,
                      reducer, init, empty, out, status, join);
}

template <class Build, class Source, class Reducer, class Init, class Empty, class Out,
          class Header, class Links, class Status>
void launch_peer_fold(const Source& source, const Reducer& reducer, const Header& header,
                      const Links& links, int most, const Init& init, const Empty& empty,
                      const Out& out, Status* status, const device_info& gpu, cudaStream_t stream) {
  static known_kernel known;
  known
      .on(gpu, &peer_fold_kernel<Build, Source, unfused<Reducer>, Init, Empty, Out>,
          "peer_fold_kernel", peer_fold_tile.nt, starts::early)
      .launch(1, stream, source, unfused<Reducer>{reducer, {0u}}, header, links, most, init, empty,
              out, status);
}

}  // namespace tilefold::detail::cuda
