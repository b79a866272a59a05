// SPDX-License-Identifier: Apache-2.0
//
// From a source and a policy to one launch: which policy by default, how much scratch, and the
// launch itself. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>

#include <tilefold/detail/cuda/free_kernel.cuh>
#include <tilefold/detail/cuda/runtime.cuh>
#include <tilefold/detail/cuda/staged_kernel.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/workspace.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/error.hpp>
#include <tilefold/policy.hpp>
#include <tilefold/reducer.hpp>

namespace tilefold::detail::cuda {

/// What the library knows of a GPU.
struct device_info {
  int device;
  int num_sms;
  bool pageable_access;
};

template <class Source>
inline constexpr int item_bytes = 0;
template <std::size_t... Index, class... Its>
inline constexpr int item_bytes<source_of<std::index_sequence<Index...>, Its...>> =
    detail::larger((item_bytes_of<Its> + ...), 1);

constexpr int floor_power_of_two(int x) { return x < 1 ? 1 : 1 << tree::floor_log2(x); }

/// The policy for items of `bytes` bytes: 64 bytes in flight per thread at 1024 threads per SM hide
/// the memory's latency, and a tile of 32 KiB makes the work between tiles small (docs/tuning.md).
constexpr tile_policy policy_for(int bytes) {
  // Accumulators of more than 16 bytes want more registers than 512 threads leave them.
  if (bytes > 16) return {128, detail::bounded(floor_power_of_two(512 / bytes), 1, 16)};
  return {512, detail::bounded(floor_power_of_two(64 / bytes), 1, 64)};
}

/// The one tile that short ranges are folded in, by as many warps of it as they need: what its
/// launch saves, the partials and arrivals of several tiles, is more than more threads would.
constexpr tile_policy short_policy_for(int bytes) {
  if (bytes > 16) return {256, policy_for(bytes).vt};
  return {1024, policy_for(bytes).vt};
}

/// The policy of free_kernel.cuh: large accumulators leave room for half as many threads, which
/// then have twice as much in flight.
constexpr tile_policy free_policy_for(int bytes, std::size_t acc_bytes) {
  const tile_policy policy = policy_for(bytes);
  return acc_bytes > 16 && policy.nt > 256 ? tile_policy{256, 2 * policy.vt} : policy;
}

inline constexpr std::int64_t max_tiles = std::numeric_limits<int>::max();

/// Scratch for `count` partials under a policy.
constexpr workspace_demand partials_demand(tile_policy policy, std::int64_t count,
                                           std::int64_t acc_bytes) {
  const std::int64_t group = group_size(policy);
  std::int64_t partials = 0;
  std::int64_t arrivals = 0;
  while (count > 1) {
    const std::int64_t groups = tree::num_blocks(count, group);
    partials += count;
    arrivals += groups;
    count = groups;
  }
  return {partials * acc_bytes, arrivals * static_cast<std::int64_t>(sizeof(unsigned))};
}

/// Scratch for n items under a policy.
constexpr workspace_demand demand(tile_policy policy, std::int64_t n, std::int64_t acc_bytes) {
  return cuda::partials_demand(policy, tree::num_blocks(n, policy.tile()), acc_bytes);
}

// Devices whose occupancy is remembered; more than a machine has.
inline constexpr int known_devices = 64;
using occupancy_cache = std::atomic<int>[known_devices];

/// Blocks of `kernel` that the GPU holds at once; asked once per device.
template <class Kernel>
std::int64_t resident_blocks(Kernel kernel, int nt, const device_info& gpu,
                             occupancy_cache& known) {
  std::atomic<int>& cached = known[gpu.device % known_devices];
  int per_sm = cached.load(std::memory_order_relaxed);
  if (per_sm == 0) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, nt, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    per_sm = detail::larger(per_sm, 1);
    cached.store(per_sm, std::memory_order_relaxed);
  }
  return std::int64_t{per_sm} * gpu.num_sms;
}

/// Launches `kernel`, which folds n >= 1 items in tiles of `Policy`. `provide(demand)` returns the
/// workspace.
template <tile_policy Policy, class Kernel, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_by(Kernel kernel, occupancy_cache& occupancy, const Source& source,
               const Reducer& reducer, const Init& init, std::int64_t n, Out out,
               const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  using acc = typename Reducer::accumulator;
  static_assert(std::is_trivially_copyable_v<acc>,
                "tilefold: on a GPU the accumulator must be trivially copyable");
  const std::int64_t tiles = tree::num_blocks(n, Policy.tile());
  if (tiles > max_tiles) {
    throw invalid_range_error("tilefold: " + std::to_string(n) + " items are " +
                              std::to_string(tiles) + " tiles of " + std::to_string(Policy.tile()) +
                              ", more than one launch can cover");
  }
  const workspace& space = provide(demand(Policy, n, sizeof(acc)));
  scratch<acc> memory{reinterpret_cast<acc*>(space.partials()),
                      reinterpret_cast<unsigned*>(space.arrivals())};
  unfused<Reducer> device_reducer{reducer, 0u};
  const auto blocks = detail::smaller(tiles, resident_blocks(kernel, Policy.nt, gpu, occupancy));
  tile_shares shares{static_cast<unsigned>(tiles / blocks), static_cast<unsigned>(tiles % blocks)};
  // The arguments by address, as the runtime's C interface takes them: its return value is this
  // launch's own, where <<<>>> leaves it mixed with earlier errors.
  void* arguments[] = {const_cast<Source*>(&source),
                       &device_reducer,
                       const_cast<Init*>(&init),
                       &out,
                       &n,
                       &shares,
                       &memory};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                         dim3(Policy.nt), arguments, 0, stream),
        "launch of the tile kernel");
}

/// Launches the fold of n >= 1 items under `Policy`. `provide` as for launch_by().
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n, Out out,
            const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  const auto kernel =
      &tile_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, Init, Out>;
  static occupancy_cache occupancy;
  cuda::launch_by<Policy>(kernel, occupancy, source, reducer, init, n, out, gpu, stream, provide);
}

/// The same in staged tiles.
template <class Build, class Source, class Reducer, class Init, class Out, class Provide>
void launch_staged(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                   Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  const auto kernel = &staged_kernel<Build, Source, unfused<Reducer>, Init, Out>;
  static occupancy_cache occupancy;
  cuda::launch_by<staged_policy<Source>>(kernel, occupancy, source, reducer, init, n, out, gpu,
                                         stream, provide);
}

/// Launches the fold of 1 <= n <= Policy.tile() items by one block. No workspace.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out>
void launch_one_tile(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                     Out out, cudaStream_t stream) {
  unfused<Reducer> device_reducer{reducer, 0u};
  int count = static_cast<int>(n);
  const auto kernel =
      &one_tile_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, Init, Out>;
  const auto warps = tree::num_blocks(n, warp_size * Policy.vt);
  void* arguments[] = {const_cast<Source*>(&source), &device_reducer, const_cast<Init*>(&init),
                       &out, &count};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1),
                         dim3(static_cast<unsigned>(warps * warp_size)), arguments, 0, stream),
        "launch of the one-tile kernel");
}

/// Launches the fold in any order of n >= 2 Policy.tile() items. `provide` as for launch().
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_free(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  using acc = typename Reducer::accumulator;
  static_assert(std::is_trivially_copyable_v<acc>,
                "tilefold: on a GPU the accumulator must be trivially copyable");
  const auto kernel =
      &free_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, Init, Out>;
  static occupancy_cache occupancy;
  // A whole tile for each; loads that are shifted into place take a packet more, at most vt items.
  const auto blocks = detail::smaller((n - Policy.vt) / Policy.tile(),
                                      resident_blocks(kernel, Policy.nt, gpu, occupancy));
  workspace_demand need = partials_demand(Policy, blocks, sizeof(acc));
  const std::int64_t flag = need.arrival_bytes / static_cast<std::int64_t>(sizeof(unsigned));
  if constexpr (Reducer::settles) {
    need.partial_bytes = detail::larger(need.partial_bytes, static_cast<std::int64_t>(sizeof(acc)));
    need.arrival_bytes += sizeof(unsigned);
  }
  const workspace& space = provide(need);
  scratch<acc> memory{reinterpret_cast<acc*>(space.partials()),
                      reinterpret_cast<unsigned*>(space.arrivals())};
  unsigned* settled = memory.arrivals + flag;
  unfused<Reducer> device_reducer{reducer, 0u};
  void* arguments[] = {const_cast<Source*>(&source),
                       &device_reducer,
                       const_cast<Init*>(&init),
                       &out,
                       &n,
                       &settled,
                       &memory};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                         dim3(Policy.nt), arguments, 0, stream),
        "launch of the kernel of any order");
}

/// The same under the policy that the caller chose or, by default, that fits the items and n.
template <class Build, class Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_fold(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  if constexpr (std::is_same_v<Policy, default_policy>) {
    constexpr int bytes = item_bytes<Source>;
    constexpr tile_policy one_tile = short_policy_for(bytes);
    if (n <= one_tile.tile()) {
      cuda::launch_one_tile<Build, one_tile>(source, reducer, init, n, out, stream);
    } else if constexpr (folds_in_any_order<Reducer>) {
      constexpr auto policy = free_policy_for(bytes, sizeof(typename Reducer::accumulator));
      static_assert(2 * policy.tile() <= one_tile.tile());
      cuda::launch_free<Build, policy>(source, reducer, init, n, out, gpu, stream, provide);
    } else if constexpr (folds_staged<Source, Reducer>) {
      // A tile for every SM at least.
      if (n >= gpu.num_sms * std::int64_t{staged_policy<Source>.tile()}) {
        cuda::launch_staged<Build>(source, reducer, init, n, out, gpu, stream, provide);
      } else {
        cuda::launch<Build, policy_for(bytes)>(source, reducer, init, n, out, gpu, stream, provide);
      }
    } else {
      cuda::launch<Build, policy_for(bytes)>(source, reducer, init, n, out, gpu, stream, provide);
    }
  } else if constexpr (folds_in_any_order<Reducer>) {
    if (n < 2 * Policy::value.tile()) {
      cuda::launch<Build, Policy::value>(source, reducer, init, n, out, gpu, stream, provide);
    } else {
      cuda::launch_free<Build, Policy::value>(source, reducer, init, n, out, gpu, stream, provide);
    }
  } else {
    cuda::launch<Build, Policy::value>(source, reducer, init, n, out, gpu, stream, provide);
  }
}

/// Writes one value in the order of a stream.
template <class Build, class T, class Out>
__global__ void store_kernel(T value, Out out) {
  cuda::write(out, value);
}

template <class Build, class T, class Out>
void launch_store(T value, Out out, cudaStream_t stream) {
  void* arguments[] = {&value, &out};
  const auto kernel = &store_kernel<Build, T, Out>;
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0,
                         stream),
        "launch of the store kernel");
}

}  // namespace tilefold::detail::cuda
