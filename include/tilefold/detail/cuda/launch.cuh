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
#include <tilefold/detail/cuda/sched/exact_kernel.cuh>
#include <tilefold/detail/cuda/select_kernel.cuh>
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
  bool early_launches;   // can begin a launch before the one before has ended; has clusters
  bool host_runs_along;  // may use managed memory while a kernel runs
};

constexpr int floor_power_of_two(int x) { return x < 1 ? 1 : 1 << tree::floor_log2(x); }

/// The policy for items of `bytes` bytes: 64 bytes in flight per thread at 1024 threads per SM hide
/// the memory's latency, and a tile of 32 KiB makes the work between tiles small. Structs that are
/// folded as they are have accumulators of `acc_bytes` > 8, as large as the items: shuffling them
/// takes time that only more bytes in flight cover (docs/tuning.md).
constexpr tile_policy policy_for(int bytes, int acc_bytes = 4) {
  if (bytes > 8 && bytes <= 12) return {512, 8};
  if (bytes > 8 && bytes <= 64 && acc_bytes > 8 && acc_bytes <= bytes) {
    if (bytes <= 16) return {512, 16};
    return bytes <= 32 ? tile_policy{1024, 4} : tile_policy{512, 8};
  }
  // Accumulators of more than 16 bytes want more registers than 512 threads leave them.
  if (bytes > 16) return {128, detail::bounded(floor_power_of_two(512 / bytes), 1, 16)};
  return {512, detail::bounded(floor_power_of_two(64 / bytes), 1, 64)};
}

/// The size of an item or accumulator, as policies use it: above this limit all sizes have the same
/// policy.
constexpr int policy_bytes(std::int64_t bytes) {
  return static_cast<int>(detail::smaller(bytes, std::int64_t{65536}));
}

/// The largest tile of short ranges; blocks may have fewer threads and so smaller tiles.
constexpr tile_policy short_policy_for(int bytes) {
  if (bytes > 16) return {256, policy_for(bytes).vt};
  return {1024, detail::bounded(floor_power_of_two(64 / bytes), 1, 64)};
}

/// Threads of a block where many share a short range, and how many of them at most: a warp folds
/// their values.
inline constexpr int short_nt = 256;
inline constexpr std::int64_t most_short_blocks = 256;
/// Blocks of all threads for the longest short ranges: about one for every SM of a large GPU.
inline constexpr std::int64_t most_whole_blocks = 128;

/// Items that count as a short range.
constexpr std::int64_t most_short_items(tile_policy short_tile, std::int64_t acc_bytes) {
  return short_tile.tile() * (acc_bytes > most_shared_bytes ? 1 : most_whole_blocks);
}

/// Blocks and threads for a short range.
struct short_shape {
  std::int64_t blocks;
  int nt;
  bool cluster;
};

/// The least power of two of warps, whose threads fold vt items each, for n items in all.
constexpr int threads_for(std::int64_t n, int vt) {
  return warp_size << tree::ceil_log2(tree::num_blocks(n, warp_size * vt));
}

/// One tile while few threads are enough, because exchange between blocks would cost more than
/// further threads gain. For longer ranges a cluster; then small tiles, to spread over the GPU.
constexpr short_shape short_shape_for(tile_policy short_tile, std::int64_t n, bool clusters) {
  if (n <= short_tile.tile() / (clusters ? 2 : 1)) {
    return {1, threads_for(n, short_tile.vt), false};
  }
  if (clusters && n <= std::int64_t{cluster_blocks} * short_tile.tile()) {
    return {cluster_blocks, threads_for(tree::num_blocks(n, cluster_blocks), short_tile.vt), true};
  }
  const bool small = n <= most_short_blocks * short_nt * short_tile.vt;
  const int nt = small ? detail::smaller(short_nt, short_tile.nt) : short_tile.nt;
  return {tree::num_blocks(n, nt * short_tile.vt), nt, false};
}

/// The policy of free_kernel.cuh: large accumulators leave room for half as many threads, which
/// then have twice as much in flight. What is longer than a short tile has two tiles at least.
constexpr tile_policy free_policy_for(int bytes, std::size_t acc_bytes) {
  tile_policy policy = policy_for(bytes);
  if (acc_bytes > 16 && policy.nt > 256) policy = {256, 2 * policy.vt};
  while (2 * policy.tile() > short_policy_for(bytes).tile()) policy.nt /= 2;
  return policy;
}

/// The policy of select_kernel.cuh: few large blocks, for the last one merges the lists of all.
constexpr tile_policy select_policy_for(int bytes) {
  return {1024, detail::bounded(floor_power_of_two(64 / bytes), 1, 64)};
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

/// Scratch for a short range of that shape.
constexpr workspace_demand demand(short_shape shape, std::int64_t acc_bytes) {
  if (shape.blocks == 1 || shape.cluster) return {0, 0};
  return {most_short_blocks * acc_bytes, sizeof(unsigned)};
}

/// Blocks of free_kernel.cuh in one launch: several times what a GPU holds at once (4224 on an
/// H200), so that workspace for them can be told without a GPU.
inline constexpr std::int64_t most_free_blocks = 16384;

/// Scratch for up to `blocks` blocks of free_kernel.cuh, and the flag behind their counters.
constexpr workspace_demand free_demand(tile_policy policy, std::int64_t blocks,
                                       std::int64_t acc_bytes) {
  const workspace_demand of_blocks = cuda::partials_demand(policy, blocks, acc_bytes);
  return {detail::larger(of_blocks.partial_bytes, acc_bytes),
          of_blocks.arrival_bytes + static_cast<std::int64_t>(sizeof(unsigned))};
}

/// Bytes of scratch for n items or fewer under the default policy.
constexpr std::int64_t default_workspace_bytes(std::int64_t n, int item_bytes,
                                               std::int64_t acc_bytes) {
  const tile_policy short_tile = short_policy_for(item_bytes);
  const std::int64_t most_short = most_short_items(short_tile, acc_bytes);
  const std::int64_t of_short =
      demand(short_shape_for(short_tile, detail::smaller(n, most_short), false), acc_bytes).bytes();
  if (n <= most_short) return of_short;
  const tile_policy tiles = policy_for(item_bytes, cuda::policy_bytes(acc_bytes));
  const std::int64_t of_tiles = demand(tiles, n, acc_bytes).bytes();
  // No more blocks than tiles, but perhaps in smaller groups.
  const tile_policy free = free_policy_for(item_bytes, static_cast<std::size_t>(acc_bytes));
  const std::int64_t of_free =
      free_demand(free, detail::smaller(tree::num_blocks(n, tiles.tile()), most_free_blocks),
                  acc_bytes)
          .bytes();
  const std::int64_t most = detail::larger(of_short, of_tiles, of_free);
  if (!pays_to_stage(item_bytes, acc_bytes)) return most;
  const tile_policy staged = staged_policy_for(staged_run(item_bytes));
  return detail::larger(most, demand(staged, n, acc_bytes).bytes());
}

// Devices of which something is remembered; more than a machine has.
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

inline cudaLaunchConfig_t launch_config(std::int64_t blocks, int nt, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(nt));
  config.stream = stream;
  return config;
}

inline cudaLaunchAttribute in_clusters() {
  cudaLaunchAttribute result{};
  result.id = cudaLaunchAttributeClusterDimension;
  result.val.clusterDim = {cluster_blocks, 1, 1};
  return result;
}

/// Whether the current GPU can run a cluster of blocks of nt threads.
template <class Kernel>
bool fits_cluster(Kernel kernel, int nt) {
  cudaLaunchAttribute attribute = in_clusters();
  cudaLaunchConfig_t config = launch_config(cluster_blocks, nt, nullptr);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config),
        "cudaOccupancyMaxActiveClusters");
  return clusters > 0;
}

/// What a launch may ask for.
struct launch_abilities {
  bool early;     // to begin before the one before has ended
  bool clusters;  // of cluster_blocks blocks
};

/// What launches of `kernel` may ask for, in blocks of up to most_nt threads. The code that this
/// GPU runs must have been compiled for a GPU that has these features. Asked once per device.
template <class Kernel>
launch_abilities abilities_of(Kernel kernel, int most_nt, const device_info& gpu,
                              occupancy_cache& known) {
  std::atomic<int>& cached = known[gpu.device % known_devices];
  int answer = cached.load(std::memory_order_relaxed);
  if (answer == 0) {
    // Loads the kernel as well, which fails here rather than at a launch behind others.
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    const bool early = gpu.early_launches && attributes.ptxVersion >= 90;
    answer = 1 + (early ? 2 : 0) + (early && cuda::fits_cluster(kernel, most_nt) ? 4 : 0);
    cached.store(answer, std::memory_order_relaxed);
  }
  return {(answer & 2) != 0, (answer & 4) != 0};
}

/// Launches `kernel`. By the runtime's C interface: its return value is this launch's own, where
/// <<<>>> leaves it mixed with earlier errors.
template <class Kernel, class... Arguments>
void launch_kernel(Kernel kernel, const cudaLaunchConfig_t& config, const char* what,
                   const Arguments&... arguments) {
  void* addresses[] = {const_cast<Arguments*>(&arguments)...};
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), addresses), what);
}

/// Launches `kernel`, which calls wait_for_previous_launch().
template <class Kernel, class... Arguments>
void launch_early(Kernel kernel, cudaLaunchConfig_t config, launch_abilities abilities,
                  bool cluster, const char* what, const Arguments&... arguments) {
  cudaLaunchAttribute attributes[2]{};
  config.attrs = attributes;
  if (abilities.early) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (cluster) attributes[config.numAttrs++] = cuda::in_clusters();
  cuda::launch_kernel(kernel, config, what, arguments...);
}

/// Launches `kernel`, which folds n >= 1 items in tiles of `Policy`. `provide(demand)` returns the
/// workspace.
template <tile_policy Policy, class Kernel, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_by(Kernel kernel, occupancy_cache& occupancy, launch_abilities abilities,
               const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
               Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
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
  cuda::launch_early(kernel, launch_config(blocks, Policy.nt, stream), abilities, false,
                     "launch of the tile kernel", source, device_reducer, init, out, n, shares,
                     memory);
}

/// Launches the fold of n >= 1 items under `Policy`. `provide` as for launch_by().
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n, Out out,
            const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  const auto kernel =
      &tile_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, Init, Out>;
  static occupancy_cache occupancy;
  static occupancy_cache known;
  cuda::launch_by<Policy>(kernel, occupancy, abilities_of(kernel, Policy.nt, gpu, known), source,
                          reducer, init, n, out, gpu, stream, provide);
}

/// The same in staged tiles.
template <class Build, class Source, class Reducer, class Init, class Out, class Provide>
void launch_staged(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                   Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  const auto kernel = &staged_kernel<Build, Source, unfused<Reducer>, Init, Out>;
  static occupancy_cache occupancy;
  cuda::launch_by<staged_policy<Source>>(kernel, occupancy, launch_abilities{false, false}, source,
                                         reducer, init, n, out, gpu, stream, provide);
}

/// Launches the fold of 1 <= n <= most_short_items() items.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_short(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                  Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  using acc = typename Reducer::accumulator;
  static_assert(short_partials<unfused<Reducer>>::most == most_short_blocks);
  const auto kernel =
      &short_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, Init, Out>;
  static occupancy_cache known;
  const launch_abilities abilities = abilities_of(kernel, Policy.nt, gpu, known);
  // What blocks of a cluster tell each other lies in shared memory.
  const bool clusters = abilities.clusters && sizeof(acc) <= most_shared_bytes;
  const short_shape shape = short_shape_for(Policy, n, clusters);
  scratch<acc> memory{};
  if (shape.blocks > 1 && !shape.cluster) {
    const workspace& space = provide(demand(shape, sizeof(acc)));
    memory = {reinterpret_cast<acc*>(space.partials()),
              reinterpret_cast<unsigned*>(space.arrivals())};
  }
  unfused<Reducer> device_reducer{reducer, 0u};
  cuda::launch_early(kernel, launch_config(shape.blocks, shape.nt, stream), abilities,
                     shape.cluster, "launch of the short kernel", source, device_reducer, init, out,
                     static_cast<int>(n), memory);
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
  // And no more blocks than reduce() has tiles by default, for which there is workspace.
  constexpr tile_policy tiles = policy_for(item_bytes<Source>, static_cast<int>(sizeof(acc)));
  const auto blocks = detail::smaller(
      detail::smaller((n - Policy.vt) / Policy.tile(), tree::num_blocks(n, tiles.tile())),
      detail::smaller(most_free_blocks, resident_blocks(kernel, Policy.nt, gpu, occupancy)));
  const workspace_demand of_blocks = partials_demand(Policy, blocks, sizeof(acc));
  const std::int64_t flag = of_blocks.arrival_bytes / static_cast<std::int64_t>(sizeof(unsigned));
  const workspace& space =
      provide(Reducer::settles ? free_demand(Policy, blocks, sizeof(acc)) : of_blocks);
  scratch<acc> memory{reinterpret_cast<acc*>(space.partials()),
                      reinterpret_cast<unsigned*>(space.arrivals())};
  unsigned* settled = memory.arrivals + flag;
  unfused<Reducer> device_reducer{reducer, 0u};
  cuda::launch_kernel(kernel, launch_config(blocks, Policy.nt, stream),
                      "launch of the kernel of any order", source, device_reducer, init, out, n,
                      settled, memory);
}

/// Launches the fold of n >= 1 items by lists, in at most `most_blocks` blocks. `provide` as for
/// launch().
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_select(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                   Out out, const device_info& gpu, cudaStream_t stream, std::int64_t most_blocks,
                   const Provide& provide) {
  using acc = typename Reducer::accumulator;
  static_assert(std::is_trivially_copyable_v<acc>,
                "tilefold: on a GPU the accumulator must be trivially copyable");
  using elements = unfused<decltype(reducer.of_one())>;
  const auto kernel =
      &select_kernel<Build, Policy.nt, Policy.vt, Source, unfused<Reducer>, elements, Init, Out>;
  static occupancy_cache occupancy;
  static occupancy_cache known;
  const auto blocks = detail::smaller(
      most_blocks, detail::smaller(tree::num_blocks(n, Policy.tile()),
                                   resident_blocks(kernel, Policy.nt, gpu, occupancy)));
  scratch<acc> memory{};
  if (blocks > 1) {
    const workspace& space = provide(workspace_demand{
        blocks * static_cast<std::int64_t>(sizeof(acc)), std::int64_t{sizeof(unsigned)}});
    memory = {reinterpret_cast<acc*>(space.partials()),
              reinterpret_cast<unsigned*>(space.arrivals())};
  }
  // No more warps than there are rows for.
  const int nt = n < Policy.nt ? threads_for(n, 1) : Policy.nt;
  cuda::launch_early(kernel, launch_config(blocks, nt, stream),
                     abilities_of(kernel, Policy.nt, gpu, known), false,
                     "launch of the kernel of lists", source, unfused<Reducer>{reducer, 0u},
                     elements{reducer.of_one(), 0u}, init, out, n, memory);
}

/// Blocks of exact_kernel.cuh that share one call's sums.
template <class Float>
constexpr workspace_demand exact_demand() {
  return {1, static_cast<std::int64_t>(sizeof(digit_sums<Float>))};
}

/// Launches the exact sum of n >= 1 elements. `provide` as for launch().
template <class Build, class Source, class Reducer, class Init, class Out, class Provide>
void launch_exact(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                  Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  using summands = unfused<decltype(reducer.of_summands())>;
  using number = typename summands::accumulator;
  constexpr tile_policy policy = exact_policy<number>;
  const auto kernel = &exact_kernel<Build, Source, unfused<Reducer>, summands, Init, Out>;
  static occupancy_cache occupancy;
  static occupancy_cache known;
  const auto blocks = detail::smaller(tree::num_blocks(n, policy.tile()),
                                      resident_blocks(kernel, policy.nt, gpu, occupancy));
  digit_sums<number>* sums = nullptr;
  if (blocks > 1) {
    sums = reinterpret_cast<digit_sums<number>*>(provide(exact_demand<number>()).arrivals());
  }
  cuda::launch_early(kernel, launch_config(blocks, policy.nt, stream),
                     abilities_of(kernel, policy.nt, gpu, known), false,
                     "launch of the exact kernel", source, unfused<Reducer>{reducer, 0u},
                     summands{reducer.of_summands(), 0u}, init, out, n, sums);
}

/// The same under the policy that the caller chose or, by default, that fits the items and n.
template <class Build, class Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_fold(const Source& source, const Reducer& reducer, const Init& init, std::int64_t n,
                 Out out, const device_info& gpu, cudaStream_t stream, const Provide& provide) {
  if constexpr (sums_exactly<Reducer>) {
    cuda::launch_exact<Build>(source, reducer, init, n, out, gpu, stream, provide);
  } else if constexpr (std::is_same_v<Policy, default_policy>) {
    constexpr int bytes = item_bytes<Source>;
    constexpr int acc_bytes = sizeof(typename Reducer::accumulator);
    constexpr tile_policy policy = policy_for(bytes, acc_bytes);
    constexpr tile_policy short_tile = short_policy_for(bytes);
    if constexpr (selects<Reducer>) {
      // No more blocks than there is workspace for by default.
      const std::int64_t most =
          n <= short_tile.tile()
              ? 1
              : detail::smaller(most_short_blocks, tree::num_blocks(n, policy.tile()));
      cuda::launch_select<Build, select_policy_for(bytes)>(source, reducer, init, n, out, gpu,
                                                           stream, most, provide);
    } else if (n <= most_short_items(short_tile, acc_bytes)) {
      cuda::launch_short<Build, short_tile>(source, reducer, init, n, out, gpu, stream, provide);
    } else if constexpr (folds_in_any_order<Reducer>) {
      constexpr tile_policy free = free_policy_for(bytes, kept_bytes<Reducer>());
      static_assert(2 * free.tile() <= short_tile.tile());
      cuda::launch_free<Build, free>(source, reducer, init, n, out, gpu, stream, provide);
    } else if constexpr (folds_staged<Source, Reducer>) {
      // A tile for every SM at least.
      if (n >= gpu.num_sms * std::int64_t{staged_policy<Source>.tile()}) {
        cuda::launch_staged<Build>(source, reducer, init, n, out, gpu, stream, provide);
      } else {
        cuda::launch<Build, policy>(source, reducer, init, n, out, gpu, stream, provide);
      }
    } else {
      cuda::launch<Build, policy>(source, reducer, init, n, out, gpu, stream, provide);
    }
  } else if constexpr (selects<Reducer>) {
    constexpr tile_policy chosen = Policy::value;
    cuda::launch_select<Build, tile_policy{chosen.nt, detail::smaller(chosen.vt, 64)}>(
        source, reducer, init, n, out, gpu, stream, n, provide);
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
  cuda::launch_kernel(&store_kernel<Build, T, Out>, launch_config(1, 1, stream),
                      "launch of the store kernel", value, out);
}

}  // namespace tilefold::detail::cuda
