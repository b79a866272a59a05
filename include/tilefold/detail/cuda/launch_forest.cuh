// SPDX-License-Identifier: Apache-2.0
//
// From a forest to its launches: how long is long, how much scratch, which kernels. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/cuda/dealt_kernel.cuh>
#include <tilefold/detail/cuda/launch.cuh>
#include <tilefold/detail/cuda/level_kernel.cuh>
#include <tilefold/detail/cuda/long_kernel.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>

namespace tilefold::detail::cuda {

/// What every launch of a forest is given.
template <class Forest, class Reducer, class Init, class Out>
struct forest_job {
  using acc = typename Reducer::accumulator;

  Forest forest;
  unfused<Reducer> reducer;
  Init init;
  acc empty;
  Out out;
  const device_info& gpu;
  cudaStream_t stream;
};

// Slots for the values of units, and places for long trees. Where they do not suffice, a block
// folds a tree alone, or a warp does.
inline constexpr unsigned max_queued_slots = 16384;
inline constexpr std::int64_t max_queued_trees = 65536;

/// Launches the first kernel.
template <class Build, class Job>
void launch_dealt(const Job& job, std::int64_t most_trees, const forest_plan& plan,
                  const long_queue<typename Job::acc>& queue) {
  const auto kernel = &dealt_kernel<Build, decltype(job.forest), decltype(job.reducer),
                                    decltype(job.init), decltype(job.out)>;
  static occupancy_cache occupancy;
  constexpr int warps_per_block = forest_nt / warp_size;
  const std::int64_t blocks =
      detail::smaller(tree::num_blocks(most_trees, warps_per_block),
                      resident_blocks(kernel, forest_nt, job.gpu, occupancy));
  cuda::launch_kernel(kernel, launch_config(blocks, forest_nt, job.stream),
                      "launch of the dealt kernel", job.forest, job.reducer, job.init, job.empty,
                      job.out, plan, queue);
}

template <class Build, tile_policy Policy, class Units, class Job>
struct long_launch {
  static constexpr int warps_per_block = Policy.nt / warp_size;

  static auto kernel() {
    return &long_kernel<Build, Policy.nt, Policy.vt, Units, decltype(Job::forest),
                        decltype(Job::reducer), decltype(Job::init), decltype(Job::out)>;
  }
  static std::int64_t resident(const Job& job) {
    static occupancy_cache occupancy;
    return resident_blocks(kernel(), Policy.nt, job.gpu, occupancy);
  }
  static void run(const Job& job, const Units& units, std::int64_t most_blocks,
                  typename Job::acc* slots, unsigned* arrivals, std::int64_t warp_items) {
    cuda::launch_kernel(
        kernel(), launch_config(detail::smaller(most_blocks, resident(job)), Policy.nt, job.stream),
        "launch of the kernel for long trees", units, job.forest, job.reducer, job.init, job.out,
        slots, arrivals, warp_items);
  }
};

// Below this number of trees there are too few warps to fill a GPU with one tree each.
inline constexpr std::int64_t many_trees = 4096;

// Longer trees are for blocks.
constexpr std::int64_t warp_items_for(std::int64_t trees) {
  return trees >= many_trees ? 16384 : 1024;
}

constexpr std::int64_t queued_slot_bytes(std::int64_t acc_bytes) {
  return align_up(std::int64_t{max_queued_slots} * acc_bytes);
}

/// Scratch for a forest whose lengths only the GPU knows.
constexpr workspace_demand queue_demand(std::int64_t most_trees, std::int64_t acc_bytes) {
  const std::int64_t trees = detail::smaller(most_trees, max_queued_trees);
  return {queued_slot_bytes(acc_bytes) + trees * static_cast<std::int64_t>(sizeof(long_tree)),
          static_cast<std::int64_t>(sizeof(long_queue<char>::counters) +
                                    max_queued_slots * sizeof(unsigned))};
}

/// A forest whose lengths only the GPU knows.
template <class Build, tile_policy Policy, class Job, class Provide>
void launch_forest(const Job& job, std::int64_t most_trees, const Provide& provide) {
  using acc = typename Job::acc;
  using queue_type = long_queue<acc>;
  using counters = typename queue_type::counters;
  const auto trees = static_cast<unsigned>(detail::smaller(most_trees, max_queued_trees));
  const std::int64_t slot_bytes = queued_slot_bytes(sizeof(acc));
  const workspace& space = provide(cuda::queue_demand(most_trees, sizeof(acc)));
  auto* const state = reinterpret_cast<counters*>(space.arrivals());
  const queue_type queue{state,
                         reinterpret_cast<unsigned*>(state + 1),
                         reinterpret_cast<acc*>(space.partials()),
                         reinterpret_cast<long_tree*>(space.partials() + slot_bytes),
                         max_queued_slots,
                         trees};
  using launch_long = long_launch<Build, Policy, queued_units<acc>, Job>;
  const std::int64_t long_blocks = launch_long::resident(job);
  const std::int64_t unit_items = most_trees >= many_trees ? 65536 : 16384;
  const forest_plan plan{warp_items_for(most_trees),
                         detail::larger(unit_items, std::int64_t{Policy.tile()})};
  cuda::launch_dealt<Build>(job, most_trees, plan, queue);
  try {
    launch_long::run(job, queued_units<acc>{queue}, long_blocks, queue.slots, queue.arrivals,
                     plan.warp_items);
  } catch (...) {
    // Nobody will take from the queue what the first launch puts there.
    (void)cudaMemsetAsync(state, 0, sizeof(counters), job.stream);
    throw;
  }
}

// Whether elements come with their indices, which count from the start of their tree.
template <class Source>
inline constexpr bool has_indices = false;
template <std::size_t... Index, class... Its>
inline constexpr bool has_indices<source_of<std::index_sequence<Index...>, Its...>> =
    (std::is_same_v<Its, index_iterator> || ...);

/// Trees of 2^k items that a warp's rows cover; false if they are not. Rows know one sequence, and
/// no indices but its own.
template <class Build, class Source, class Reducer, class Init, class Out>
bool launch_levels(const forest_job<equal_forest<Source>, Reducer, Init, Out>& job) {
  using reducer_type = unfused<Reducer>;
  using work_type = level_work<Source, reducer_type, Init, Out>;
  const std::int64_t length = job.forest.length;
  if (!tree::is_power_of_two(length) || length > work_type::chunk_items) return false;
  const auto kernel = &level_kernel<Build, Source, reducer_type, Init, Out>;
  static occupancy_cache occupancy;
  const std::int64_t n = job.forest.num_trees * length;
  const std::int64_t chunks = tree::num_blocks(n, work_type::chunk_items);
  const std::int64_t blocks =
      detail::smaller(tree::num_blocks(chunks, level_nt / warp_size),
                      resident_blocks(kernel, level_nt, job.gpu, occupancy));
  cuda::launch_kernel(kernel, launch_config(blocks, level_nt, job.stream),
                      "launch of the level kernel", job.forest.source, job.reducer, job.init,
                      job.out, n, tree::floor_log2(length));
  return true;
}

/// A forest of trees of one length.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_forest(const forest_job<equal_forest<Source>, Reducer, Init, Out>& job,
                   std::int64_t trees, const Provide& provide) {
  using job_type = forest_job<equal_forest<Source>, Reducer, Init, Out>;
  using acc = typename job_type::acc;
  const std::int64_t length = job.forest.length;
  if constexpr (!has_indices<Source> && !folds_runs<Source, Reducer>) {
    if (cuda::launch_levels<Build>(job)) return;
  }
  const std::int64_t warp_items = warp_items_for(trees);
  if (length <= deal<run_items<Source>>::most_items) {
    cuda::launch_dealt<Build>(job, trees, forest_plan{warp_items, 0}, long_queue<acc>{});
    return;
  }
  using launch_long = long_launch<Build, Policy, equal_units, job_type>;
  if (length <= warp_items) {
    const std::int64_t blocks = detail::smaller(
        tree::num_blocks(trees, launch_long::warps_per_block), launch_long::resident(job));
    launch_long::run(job, equal_units{0, 1}, blocks, nullptr, nullptr, warp_items);
    return;
  }
  // A few units for every block that is resident, if there are not trees enough.
  std::int64_t unit_items = cuda::unit_size(length, Policy.tile());
  const std::int64_t wanted = 4 * launch_long::resident(job);
  while (unit_items < length && trees * tree::num_blocks(length, unit_items) > wanted) {
    unit_items *= 2;
  }
  const std::int64_t units = trees * tree::num_blocks(length, unit_items);
  const bool split = unit_items < length;
  const workspace& space =
      provide(split ? workspace_demand{units * static_cast<std::int64_t>(sizeof(acc)),
                                       units * static_cast<std::int64_t>(sizeof(unsigned))}
                    : workspace_demand{0, 0});
  launch_long::run(job, equal_units{trees, unit_items}, units,
                   reinterpret_cast<acc*>(space.partials()),
                   reinterpret_cast<unsigned*>(space.arrivals()), warp_items);
}

template <class Source>
inline constexpr bool trivial_items = false;
template <std::size_t... Index, class... Its>
inline constexpr bool trivial_items<source_of<std::index_sequence<Index...>, Its...>> =
    (std::is_trivially_copyable_v<std::iter_value_t<Its>> && ...);

template <class Build, class Policy, class Job, class Provide>
void launch_forest_by(const Job& job, std::int64_t most_trees, const Provide& provide) {
  using source_type = typename decltype(Job::forest)::source_type;
  static_assert(trivial_items<source_type>,
                "tilefold: on a GPU the items of segments must be trivially copyable");
  static_assert(std::is_trivially_copyable_v<typename Job::acc>,
                "tilefold: on a GPU the accumulator must be trivially copyable");
  if constexpr (std::is_same_v<Policy, default_policy>) {
    cuda::launch_forest<Build, policy_for(item_bytes<source_type>)>(job, most_trees, provide);
  } else {
    cuda::launch_forest<Build, Policy::value>(job, most_trees, provide);
  }
}

}  // namespace tilefold::detail::cuda
