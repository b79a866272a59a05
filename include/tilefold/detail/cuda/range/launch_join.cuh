// SPDX-License-Identifier: Apache-2.0
//
// The launch that puts together what ranks have sent each other in stream order. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include <tilefold/detail/cuda/base/launcher.cuh>
#include <tilefold/detail/cuda/range/join_kernel.cuh>

namespace tilefold::detail::cuda {

/// The messages of all ranks, one after the other.
struct rank_messages {
  const char* first;
  std::int64_t bytes;  // of each
  int ranks;
  int most_blocks;  // of each
  std::uint64_t signature;
  rank_status* status;
};

/// Whether the accumulators of such a fold fit the kernel's shared memory.
template <class Reducer>
inline constexpr bool joins_in_stream =
    (block_stack<Reducer>::most + warp_size) * (sizeof(typename Reducer::accumulator) + 8) <= 48000;

/// The kernel, loaded: a launch that had to load it might wait for a gather that is under way.
template <class Build, class Reducer, class Init, class Empty, class Out>
auto ready_join(const device_info& gpu) {
  static known_kernel known;
  return known.on(gpu, &join_kernel<Build, closed_reducer<Reducer>, Init, Empty, Out>,
                  "join_kernel", warp_size, starts::early);
}

template <class Build, class Messages, class Reducer, class Init, class Empty, class Out>
void launch_join(const Messages& all, const Reducer& reducer, const Init& init, const Empty& empty,
                 const Out& out, const device_info& gpu, cudaStream_t stream) {
  cuda::ready_join<Build, Reducer, Init, Empty, Out>(gpu).launch(
      1, stream, all.first, all.bytes, all.ranks, all.most_blocks, all.signature,
      closed_reducer<Reducer>{reducer, {0u}}, init, empty, out, all.status);
}

/// How a cuda_executor joins what ranks send.
template <class Build>
struct message_folds {
  /// Writes through `out` what the messages of all ranks make together (join_kernel.cuh), in the
  /// order of the stream.
  template <class Executor, class Messages, class Reducer, class Init, class Empty, class Out>
  static void write(Executor& exec, const Messages& all, const Reducer& reducer, const Init& init,
                    const Empty& empty, const Out& out) {
    exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto&) {
      cuda::launch_join<Build>(all, reducer, init, empty, out, gpu, stream);
    });
  }

  /// Loads what write() launches.
  template <class Executor, class Reducer, class Init, class Empty, class Out>
  static void load(Executor& exec, const Reducer&, const Init&, const Empty&, const Out&) {
    exec.in_context([&](const device_info& gpu, cudaStream_t, const auto&) {
      (void)cuda::ready_join<Build, Reducer, Init, Empty, Out>(gpu);
    });
  }
};

}  // namespace tilefold::detail::cuda
