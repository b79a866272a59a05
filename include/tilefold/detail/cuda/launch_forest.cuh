// SPDX-License-Identifier: Apache-2.0
//
// From a forest to its launches: how long is long, how much scratch, which kernels. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/cuda/array_kernel.cuh>
#include <tilefold/detail/cuda/forest_kernel.cuh>
#include <tilefold/detail/cuda/launch.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>

namespace tilefold::detail::cuda {

template <class Kernel, class... Arguments>
void launch_kernel(Kernel kernel, std::int64_t blocks, int nt, cudaStream_t stream,
                   const char* what, const Arguments&... arguments) {
  void* addresses[] = {const_cast<Arguments*>(&arguments)...};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(blocks)),
                         dim3(static_cast<unsigned>(nt)), addresses, 0, stream),
        what);
}

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

/// The first launch's kernel.
template <class Build, class Job>
auto batches_kernel() {
  if constexpr (in_one_range<decltype(Job::forest)>) {
    return &forest_kernel<Build, decltype(Job::forest), decltype(Job::reducer), decltype(Job::init),
                          decltype(Job::out)>;
  } else {
    return &array_kernel<Build, decltype(Job::forest), decltype(Job::reducer), decltype(Job::init),
                         decltype(Job::out)>;
  }
}

template <class Build, class Job>
void launch_batches(const Job& job, std::int64_t most_trees, const forest_plan& plan,
                    const long_queue<typename Job::acc>& queue) {
  const auto kernel = cuda::batches_kernel<Build, Job>();
  static occupancy_cache occupancy;
  const std::int64_t blocks =
      detail::smaller(tree::num_blocks(most_trees, forest_nt / warp_size),
                      resident_blocks(kernel, forest_nt, job.gpu, occupancy));
  cuda::launch_kernel(kernel, blocks, forest_nt, job.stream, "launch of the forest kernel",
                      job.forest, job.reducer, job.init, job.empty, job.out, plan, queue);
}

template <class Build, tile_policy Policy, class Units, class Job>
struct unit_launch {
  static auto kernel() {
    return &unit_kernel<Build, Policy.nt, Policy.vt, Units, decltype(Job::forest),
                        decltype(Job::reducer), decltype(Job::init), decltype(Job::out)>;
  }
  static std::int64_t resident(const Job& job) {
    static occupancy_cache occupancy;
    return resident_blocks(kernel(), Policy.nt, job.gpu, occupancy);
  }
  static void run(const Job& job, const Units& units, std::int64_t most_units,
                  typename Job::acc* slots, unsigned* arrivals) {
    cuda::launch_kernel(kernel(), detail::smaller(most_units, resident(job)), Policy.nt, job.stream,
                        "launch of the unit kernel", units, job.forest, job.reducer, job.init,
                        job.out, slots, arrivals);
  }
};

// Below this number of trees there are too few warps to fill a GPU with one tree each.
inline constexpr std::int64_t many_trees = 4096;

// Longer trees are for blocks.
constexpr std::int64_t warp_items_for(std::int64_t trees) {
  return trees >= many_trees ? 8192 : 1024;
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
  using launch_units = unit_launch<Build, Policy, queued_units<acc>, Job>;
  const std::int64_t unit_blocks = launch_units::resident(job);
  const std::int64_t unit_items = most_trees >= many_trees ? 65536 : 16384;
  cuda::launch_batches<Build>(job, most_trees,
                              forest_plan{warp_items_for(most_trees),
                                          detail::larger(unit_items, std::int64_t{Policy.tile()})},
                              queue);
  try {
    launch_units::run(job, queued_units<acc>{queue}, unit_blocks, queue.slots, queue.arrivals);
  } catch (...) {
    // Nobody will take from the queue what the first launch puts there.
    (void)cudaMemsetAsync(state, 0, sizeof(counters), job.stream);
    throw;
  }
}

/// A forest of trees of one length.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Provide>
void launch_forest(const forest_job<equal_forest<Source>, Reducer, Init, Out>& job,
                   std::int64_t trees, const Provide& provide) {
  using job_type = forest_job<equal_forest<Source>, Reducer, Init, Out>;
  using acc = typename job_type::acc;
  const std::int64_t length = job.forest.length;
  const forest_plan plan{warp_items_for(trees), 0};
  if (length <= plan.warp_items) {
    cuda::launch_batches<Build>(job, trees, plan, long_queue<acc>{});
    return;
  }
  using launch_units = unit_launch<Build, Policy, equal_units, job_type>;
  // A few units for every block that is resident, if there are not trees enough.
  std::int64_t unit_items = cuda::unit_size(length, Policy.tile());
  const std::int64_t wanted = 4 * launch_units::resident(job);
  while (unit_items < length && trees * tree::num_blocks(length, unit_items) > wanted) {
    unit_items *= 2;
  }
  const std::int64_t units = trees * tree::num_blocks(length, unit_items);
  const bool split = unit_items < length;
  const workspace& space =
      provide(split ? workspace_demand{units * static_cast<std::int64_t>(sizeof(acc)),
                                       units * static_cast<std::int64_t>(sizeof(unsigned))}
                    : workspace_demand{0, 0});
  launch_units::run(job, equal_units{trees, unit_items}, units,
                    reinterpret_cast<acc*>(space.partials()),
                    reinterpret_cast<unsigned*>(space.arrivals()));
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
  static_assert(staged_bytes<source_type> <= stage_bytes,
                "tilefold: items of segments on a GPU may have 4096 bytes at most");
  if constexpr (std::is_same_v<Policy, default_policy>) {
    cuda::launch_forest<Build, policy_for(item_bytes<source_type>)>(job, most_trees, provide);
  } else {
    cuda::launch_forest<Build, Policy::value>(job, most_trees, provide);
  }
}

}  // namespace tilefold::detail::cuda
