// SPDX-License-Identifier: Apache-2.0
//
// From a forest to its launches: how long is long, how much scratch, which kernels. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <tilefold/detail/cuda/chunk_kernel.cuh>
#include <tilefold/detail/cuda/dealt_kernel.cuh>
#include <tilefold/detail/cuda/equal_kernel.cuh>
#include <tilefold/detail/cuda/few_kernel.cuh>
#include <tilefold/detail/cuda/launch.cuh>
#include <tilefold/detail/cuda/level_kernel.cuh>
#include <tilefold/detail/cuda/long_kernel.cuh>
#include <tilefold/detail/cuda/size_queries.cuh>
#include <tilefold/detail/extremes.hpp>
#include <tilefold/detail/forest.hpp>

namespace tilefold::detail::cuda {

/// What every launch of a forest is given.
template <class Forest, class Reducer, class Init, class Out,
          class Empty = typename Reducer::accumulator>
struct forest_job {
  using acc = typename Reducer::accumulator;

  Forest forest;
  unfused<Reducer> reducer;
  Init init;
  Empty empty;
  Out out;
  const device_info& gpu;
  cudaStream_t stream;
};

/// What is remembered of a kernel.
struct kernel_facts {
  occupancy_cache resident;
  occupancy_cache abilities;
};

/// A kernel and everything about its launch that can be asked for ahead, and so can fail ahead:
/// where a call takes several launches, all of them are ready before the first one writes anything.
template <class Kernel>
struct ready_launch {
  Kernel kernel;
  std::int64_t blocks;
  int nt;
  launch_abilities abilities;
  const char* what;

  /// The kernel calls wait_for_previous_launch().
  template <class... Arguments>
  void run(cudaStream_t stream, const Arguments&... arguments) const {
    cuda::launch_early(kernel, launch_config(blocks, nt, stream), abilities, false, what,
                       arguments...);
  }
};

/// Of as many blocks of `kernel` as the GPU holds at once, or `most_blocks`.
template <class Kernel>
ready_launch<Kernel> ready(Kernel kernel, std::int64_t most_blocks, int nt, const device_info& gpu,
                           kernel_facts& facts, const char* what) {
  return {kernel, detail::smaller(most_blocks, resident_blocks(kernel, nt, gpu, facts.resident)),
          nt, abilities_of(kernel, nt, gpu, facts.abilities), what};
}

/// Launches it at once.
template <class Kernel, class Job, class... Arguments>
void launch_forest_kernel(Kernel kernel, std::int64_t most_blocks, int nt, const Job& job,
                          kernel_facts& facts, const char* what, const Arguments&... arguments) {
  cuda::ready(kernel, most_blocks, nt, job.gpu, facts, what).run(job.stream, arguments...);
}

inline constexpr std::int64_t all_resident = std::numeric_limits<std::int64_t>::max();

/// Deals trees to lanes: all of them, or as many as are short enough.
template <class Build, class Job>
auto ready_dealt(const Job& job, std::int64_t most_trees) {
  const auto kernel = &dealt_kernel<Build, decltype(job.forest), decltype(job.reducer),
                                    decltype(job.init), decltype(job.empty), decltype(job.out)>;
  static kernel_facts facts;
  return cuda::ready(kernel, tree::num_blocks(most_trees, forest_nt / warp_size), forest_nt,
                     job.gpu, facts, "launch of the dealt kernel");
}

template <class Build, class Job>
void launch_dealt(const Job& job, std::int64_t most_trees, const forest_plan& plan,
                  const long_queue<typename Job::acc>& queue) {
  cuda::ready_dealt<Build>(job, most_trees)
      .run(job.stream, job.forest, job.reducer, job.init, job.empty, job.out, plan, queue);
}

/// Folds the others, in two launches.
template <class Build, class Job>
auto ready_middle(const Job& job) {
  const auto kernel = &middle_kernel<Build, decltype(job.forest), decltype(job.reducer),
                                     decltype(job.init), decltype(job.out)>;
  static kernel_facts facts;
  return cuda::ready(kernel, all_resident, middle_nt, job.gpu, facts,
                     "launch of the kernel for trees by warps");
}
template <class Build, tile_policy Policy, class Job>
auto ready_long(const Job& job) {
  const auto kernel = &long_kernel<Build, Policy.nt, Policy.vt, decltype(job.forest),
                                   decltype(job.reducer), decltype(job.init), decltype(job.out)>;
  static kernel_facts facts;
  return cuda::ready(kernel, all_resident, Policy.nt, job.gpu, facts,
                     "launch of the kernel for long trees");
}

// Larger ones leave no shared memory for the plan.
inline constexpr std::size_t most_few_acc_bytes = 512;

/// Folds few trees, all in one launch.
template <class Build, tile_policy Policy, class Job>
auto ready_few(const Job& job) {
  const auto kernel =
      &few_kernel<Build, Policy.nt, Policy.vt, decltype(job.forest), decltype(job.reducer),
                  decltype(job.init), decltype(job.empty), decltype(job.out)>;
  static kernel_facts facts;
  return cuda::ready(kernel, all_resident, Policy.nt, job.gpu, facts,
                     "launch of the kernel for few trees");
}

// Below these numbers of trees there are too few warps to fill a GPU with one tree each; the longer
// the trees, the more the last ones are waited for.
inline constexpr std::int64_t many_trees = 4096;
inline constexpr std::int64_t some_trees = 512;

// Longer trees are for blocks.
constexpr std::int64_t warp_items_for(std::int64_t trees) {
  return trees >= many_trees ? 16384 : trees >= some_trees ? 4096 : 1024;
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

template <class Job>
constexpr bool takes_few(std::int64_t most_trees) {
  return sizeof(typename Job::acc) <= most_few_acc_bytes && most_trees <= most_few_trees;
}

/// Makes a forest's launches ready, of which as many are remembered: those of launch_forest()
/// cannot fail then before they are on their way.
template <class Build, tile_policy Policy, class Job>
void ready_forest(const Job& job, std::int64_t most_trees) {
  if constexpr (sizeof(typename Job::acc) <= most_few_acc_bytes) {
    if (takes_few<Job>(most_trees)) {
      (void)cuda::ready_few<Build, Policy>(job);
      return;
    }
  }
  (void)cuda::ready_dealt<Build>(job, most_trees);
  (void)cuda::ready_middle<Build>(job);
  (void)cuda::ready_long<Build, Policy>(job);
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
  const std::int64_t warp_items = warp_items_for(most_trees);
  if constexpr (sizeof(acc) <= most_few_acc_bytes) {
    if (takes_few<Job>(most_trees)) {
      cuda::ready_few<Build, Policy>(job).run(
          job.stream, job.forest, job.reducer, job.init, job.empty, job.out,
          forest_plan{warp_items, Policy.tile()}, queue.slots, queue.arrivals);
      return;
    }
  }
  const std::int64_t unit_items = most_trees >= many_trees ? 65536 : 16384;
  const forest_plan plan{warp_items, detail::larger(unit_items, std::int64_t{Policy.tile()})};
  const auto dealt = cuda::ready_dealt<Build>(job, most_trees);
  const auto by_warps = cuda::ready_middle<Build>(job);
  const auto by_blocks = cuda::ready_long<Build, Policy>(job);
  dealt.run(job.stream, job.forest, job.reducer, job.init, job.empty, job.out, plan, queue);
  try {
    by_warps.run(job.stream, queue, job.forest, job.reducer, job.init, job.out, plan.warp_items);
    by_blocks.run(job.stream, queue, job.forest, job.reducer, job.init, job.out);
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
template <class Build, class Source, class Reducer, class Init, class Out, class Empty>
bool launch_levels(const forest_job<equal_forest<Source>, Reducer, Init, Out, Empty>& job) {
  using reducer_type = unfused<Reducer>;
  using work_type = level_work<Source, reducer_type, Init, Out>;
  const std::int64_t length = job.forest.length;
  if (!tree::is_power_of_two(length) || length > work_type::chunk_items) return false;
  const auto kernel = &level_kernel<Build, Source, reducer_type, Init, Out>;
  static kernel_facts facts;
  const std::int64_t n = job.forest.num_trees * length;
  const std::int64_t chunks = tree::num_blocks(n, work_type::chunk_items);
  cuda::launch_forest_kernel(kernel, tree::num_blocks(chunks, level_nt / warp_size), level_nt, job,
                             facts, "launch of the level kernel", job.forest.source, job.reducer,
                             job.init, job.out, n, tree::floor_log2(length));
  return true;
}

/// Trees of one length, each by a warp.
template <class Build, class Job>
void launch_equal_trees(const Job& job, std::int64_t trees) {
  const auto kernel = &equal_trees_kernel<Build, decltype(job.forest), decltype(job.reducer),
                                          decltype(job.init), decltype(job.out)>;
  static occupancy_cache occupancy;
  const std::int64_t blocks =
      detail::smaller(tree::num_blocks(trees, equal_trees_nt / warp_size),
                      resident_blocks(kernel, equal_trees_nt, job.gpu, occupancy));
  // Not early: if there are few blocks, they would crowd on those SMs that are free first.
  cuda::launch_kernel(kernel, launch_config(blocks, equal_trees_nt, job.stream),
                      "launch of the kernel for trees of one length", job.forest, job.reducer,
                      job.init, job.out);
}

/// The same for trees of whole chunks; false if they are not.
template <class Build, class Job>
bool launch_chunks(const Job& job, std::int64_t trees) {
  using forest_type = decltype(job.forest);
  using work_type =
      chunk_work<forest_type, decltype(job.reducer), decltype(job.init), decltype(job.out)>;
  if constexpr (!work_type::pays || has_indices<typename forest_type::source_type>) {
    return false;
  } else {
    if (job.forest.length % work_type::chunk_items != 0) return false;
    const auto kernel = &chunk_kernel<Build, forest_type, decltype(job.reducer), decltype(job.init),
                                      decltype(job.out)>;
    static kernel_facts facts;
    cuda::launch_forest_kernel(kernel, tree::num_blocks(trees, chunk_nt / warp_size), chunk_nt, job,
                               facts, "launch of the chunk kernel", job.forest, job.reducer,
                               job.init, job.out);
    return true;
  }
}

// Units that trees of one length are cut into at most, so that what they need can be asked for
// without a GPU: more than four times the blocks of any.
inline constexpr std::int64_t most_split_units = 16384;

/// Units of `trees` trees of `length` items, or of fewer and shorter ones, that have to meet; 0 if
/// no tree is cut.
constexpr std::int64_t most_equal_units(std::int64_t trees, std::int64_t length,
                                        std::int64_t tile) {
  if (trees == 0 || length <= tile) return 0;
  const auto of_tree = detail::smaller(tree::num_blocks(length, tile), std::int64_t{max_units});
  return trees > most_split_units / of_tree ? most_split_units : trees * of_tree;
}

constexpr workspace_demand equal_units_demand(std::int64_t units, std::int64_t acc_bytes) {
  return {units * acc_bytes, units * static_cast<std::int64_t>(sizeof(unsigned))};
}

/// Trees of one length, by blocks.
template <class Build, tile_policy Policy, class Job, class Provide>
void launch_equal_units(const Job& job, std::int64_t trees, const Provide& provide) {
  using acc = typename Job::acc;
  const auto kernel =
      &equal_units_kernel<Build, Policy.nt, Policy.vt, decltype(job.forest), decltype(job.reducer),
                          decltype(job.init), decltype(job.out)>;
  static kernel_facts facts;
  const std::int64_t length = job.forest.length;
  const std::int64_t resident = resident_blocks(kernel, Policy.nt, job.gpu, facts.resident);
  // A few units for every block that is resident, if there are not trees enough.
  std::int64_t unit_items = cuda::unit_size(length, Policy.tile());
  const std::int64_t wanted = detail::smaller(4 * resident, most_split_units);
  while (unit_items < length && trees * tree::num_blocks(length, unit_items) > wanted) {
    unit_items *= 2;
  }
  const std::int64_t units = trees * tree::num_blocks(length, unit_items);
  const bool split = unit_items < length;
  const workspace& space = provide(cuda::equal_units_demand(split ? units : 0, sizeof(acc)));
  cuda::launch_forest_kernel(
      kernel, units, Policy.nt, job, facts, "launch of the kernel for long trees of one length",
      equal_units{unit_items}, job.forest, job.reducer, job.init, job.out,
      reinterpret_cast<acc*>(space.partials()), reinterpret_cast<unsigned*>(space.arrivals()));
}

/// A forest of trees of one length.
template <class Build, tile_policy Policy, class Source, class Reducer, class Init, class Out,
          class Empty, class Provide>
void launch_forest(const forest_job<equal_forest<Source>, Reducer, Init, Out, Empty>& job,
                   std::int64_t trees, const Provide& provide) {
  using job_type = forest_job<equal_forest<Source>, Reducer, Init, Out, Empty>;
  using acc = typename job_type::acc;
  const std::int64_t length = job.forest.length;
  if constexpr (!has_indices<Source> && !folds_runs<Source, Reducer>) {
    if (cuda::launch_levels<Build>(job)) return;
  }
  const std::int64_t warp_items = warp_items_for(trees);
  if (length <= deal<run_items<Source>>::most_items) {
    cuda::launch_dealt<Build>(job, trees, forest_plan{warp_items, 0}, long_queue<acc>{});
  } else if (length <= warp_items) {
    if (cuda::launch_chunks<Build>(job, trees)) return;
    cuda::launch_equal_trees<Build>(job, trees);
  } else {
    cuda::launch_equal_units<Build, Policy>(job, trees, provide);
  }
}

template <class Source>
inline constexpr bool trivial_items = false;
template <std::size_t... Index, class... Its>
inline constexpr bool trivial_items<source_of<std::index_sequence<Index...>, Its...>> =
    (std::is_trivially_copyable_v<std::iter_value_t<Its>> && ...);

// The policy that was chosen for a forest, or the default one.
template <class Policy, class Source>
constexpr tile_policy forest_policy() {
  if constexpr (std::is_same_v<Policy, default_policy>) {
    return policy_for(item_bytes<Source>);
  } else {
    return Policy::value;
  }
}

template <class Build, class Policy, class Job>
void ready_forest_by(const Job& job, std::int64_t most_trees) {
  using source_type = typename decltype(Job::forest)::source_type;
  cuda::ready_forest<Build, forest_policy<Policy, source_type>()>(job, most_trees);
}

template <class Build, class Policy, class Job, class Provide>
void launch_forest_by(const Job& job, std::int64_t most_trees, const Provide& provide) {
  using source_type = typename decltype(Job::forest)::source_type;
  static_assert(trivial_items<source_type>,
                "tilefold: on a GPU the items of segments must be trivially copyable");
  static_assert(std::is_trivially_copyable_v<typename Job::acc>,
                "tilefold: on a GPU the accumulator must be trivially copyable");
  cuda::launch_forest<Build, forest_policy<Policy, source_type>()>(job, most_trees, provide);
}

/// What workspace forests can need.
template <class Build>
struct forest_sizes {
  /// Of a forest of `trees` trees whose lengths only the GPU knows, and any of fewer.
  static std::int64_t of_any_lengths(std::int64_t trees, std::int64_t acc_bytes) {
    const char* const query = "segments_workspace_bytes";
    cuda::require_size(query, "num_segments", trees, 0);
    cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
    cuda::require_answer(query, max_queued_slots, acc_bytes);
    return trees == 0 ? 0 : queue_demand(trees, acc_bytes).bytes();
  }

  /// Of `trees` trees of `length` items each, and any of fewer and of shorter ones, under the
  /// default policy.
  static std::int64_t of_equal_lengths(std::int64_t trees, std::int64_t length,
                                       std::int64_t item_bytes, std::int64_t acc_bytes) {
    const char* const query = "equal_segments_workspace_bytes";
    cuda::require_size(query, "num_segments", trees, 0);
    cuda::require_size(query, "segment_size", length, 0);
    cuda::require_size(query, "item_bytes", item_bytes, 1);
    cuda::require_size(query, "accumulator_bytes", acc_bytes, 1);
    const std::int64_t units =
        cuda::most_equal_units(trees, length, policy_for(cuda::policy_bytes(item_bytes)).tile());
    cuda::require_answer(query, detail::larger(units, std::int64_t{1}), acc_bytes);
    return cuda::equal_units_demand(units, acc_bytes).bytes();
  }
};

}  // namespace tilefold::detail::cuda
