// SPDX-License-Identifier: Apache-2.0
//
// From a forest to its launches. launch_forest() chooses by the type of the forest; under that, the
// first line that fits:
//
//     equal_forest     launch_any_order_rows         long rows, order-free      any_order_kernel
//     (one length)     launch_short_rows             a block or cluster a row   short_kernel
//                      launch_subtrees               2^k items, staged or not   subtree_kernel
//                      launch_by_lanes               up to 32 stretches         lanes_kernel
//                      launch_equal_trees_by_warps   a warp a tree              warps_kernel
//                      launch_equal_trees_by_blocks  a block a slice            blocks_kernel
//     bounded_forest   launch_bounded_forest         up to 16 items             short_trees_kernel
//                      launch_by_lanes               up to 32 stretches         lanes_kernel
//     others, and      launch_deferred_range         one tree                   tile_kernel
//     longer bounds    launch_unequal_forest         up to 1024 trees           blocks_kernel
//                      launch_by_lanes_warps_blocks  all else                   up to four launches
#pragma once

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/forest_job.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/forest/blocks_kernel.cuh>
#include <tilefold/detail/cuda/forest/forest_sizes.cuh>
#include <tilefold/detail/cuda/forest/lanes_kernel.cuh>
#include <tilefold/detail/cuda/forest/short_trees_kernel.cuh>
#include <tilefold/detail/cuda/forest/subtree_kernel.cuh>
#include <tilefold/detail/cuda/forest/warps_kernel.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>

namespace tilefold::detail::cuda {

/// The rows of a forest of one length as short ranges (short_kernel.cuh). x of the grid is the row,
/// y its block, of one or of a cluster of 8. The GPU gives the next row to whatever SM is free,
/// where kernels of forests take trees in a fixed order, and wait for the last ones.
template <class Forest, class Acc>
struct short_range_of_row {
  static constexpr bool only_clusters = true;

  Forest forest;

  TILEFOLD_D unsigned block() const { return blockIdx.y; }
  TILEFOLD_D unsigned blocks() const { return gridDim.y; }
  TILEFOLD_D auto source() const { return forest.tree(row()); }
  TILEFOLD_D int size() const { return static_cast<int>(forest.length); }
  TILEFOLD_D scratch<Acc> memory() const { return {}; }
  template <class Out>
  TILEFOLD_D decltype(auto) place(const Out& out) const {
    return out + row();
  }
  TILEFOLD_D static std::int64_t row() { return blockIdx.x; }
};

/// A length that stands in GPU memory (forest.hpp), and the result of no items. As many blocks as
/// the GPU holds, or as the longest range has tiles, share the tiles.
template <class Number, class Empty>
struct deferred_length {
  static constexpr bool may_be_zero = true;

  Number number;
  Empty empty;

  TILEFOLD_D std::int64_t get() const { return number.get(); }
  TILEFOLD_D tile_shares shares(std::int64_t n, int tile) const {
    const auto tiles = static_cast<unsigned>(tree::num_blocks(n, std::int64_t{tile}));
    return {tiles / gridDim.x, tiles % gridDim.x};
  }
};

/// Whether T is an instance of a template.
template <template <class...> class Template, class T>
inline constexpr bool is_instance = false;
template <template <class...> class Template, class... Types>
inline constexpr bool is_instance<Template, Template<Types...>> = true;

/// Whether short_trees_kernel may fold a forest: of segments by offsets, which are read anyway.
template <class Forest, class Reducer>
inline constexpr bool has_short_trees_kernel = false;
template <class Source, class Offsets, class Reducer>
inline constexpr bool has_short_trees_kernel<offsets_forest<Source, Offsets>, Reducer> =
    all_stretch_vectors<Source> &&
    pays_to_fold_short_trees(item_bytes<Source>, sizeof(typename Reducer::accumulator));

/// The kernel that deals trees to lanes: all trees, or those that are short enough.
template <class Build, class Forest, class Reducer, class Init, class Out, class Empty>
auto ready_lanes(const forest_job<Forest, Reducer, Init, Out, Empty>& job) {
  using before = short_trees_before<has_short_trees_kernel<Forest, Reducer>>;
  static known_kernel known;
  return known.on(job.gpu,
                  &lanes_kernel<Build, before, Forest, closed_reducer<Reducer>, Init, Empty, Out>,
                  "lanes_kernel", lanes_nt, starts::early);
}

/// The kernel in which a lane folds whole trees.
template <class Build, class Forest, class Reducer, class Init, class Out, class Empty>
auto ready_short_trees(const forest_job<Forest, Reducer, Init, Out, Empty>& job) {
  static known_kernel known;
  return known.on(job.gpu,
                  &short_trees_kernel<Build, Forest, closed_reducer<Reducer>, Init, Empty, Out>,
                  "short_trees_kernel", lanes_nt, starts::early);
}

/// Whether all trees of a forest are too long for lanes.
template <class Forest>
inline constexpr bool none_for_lanes = false;

/// The trees that warps_kernel takes: all, or those that lanes_kernel has left.
template <class Job>
using trees_of_warps =
    std::conditional_t<none_for_lanes<typename Job::forest_type>,
                       uncounted_trees<typename Job::acc>, counted_trees<typename Job::acc>>;

/// The kernels for longer trees.
template <class Build, class Trees, class Forest, class Reducer, class Init, class Out, class Empty>
auto ready_warps(const forest_job<Forest, Reducer, Init, Out, Empty>& job,
                 starts start = starts::early) {
  static known_kernel known;
  return known.on(job.gpu, &warps_kernel<Build, Trees, Forest, closed_reducer<Reducer>, Init, Out>,
                  "warps_kernel", warps_nt, start);
}
template <class Build, tile_policy Policy, class Slices, class Forest, class Reducer, class Init,
          class Out, class Empty>
auto ready_blocks(const forest_job<Forest, Reducer, Init, Out, Empty>& job) {
  static known_kernel known;
  return known.on(job.gpu,
                  &blocks_kernel<Build, Policy.nt, Policy.vt, Slices, Forest,
                                 closed_reducer<Reducer>, Init, Out>,
                  "blocks_kernel", Policy.nt, starts::early);
}

template <class Job>
inline constexpr bool job_has_short_trees_kernel =
    has_short_trees_kernel<typename Job::forest_type, typename Job::reducer_type>;

/// Whether one launch of blocks_kernel may fold a forest of few trees.
template <class Job>
inline constexpr bool may_take_one_launch = sizeof(typename Job::acc) <= most_one_launch_acc_bytes;

/// What blocks_kernel folds in that launch, and after the launches for shorter trees.
template <class Job>
using slices_of_one_launch = planned_slices<typename Job::acc, typename Job::empty_type>;
template <class Job>
using slices_of_queue = queued_slices<typename Job::acc>;

template <class Job>
constexpr bool fits_one_launch(std::int64_t most_trees) {
  return may_take_one_launch<Job> && most_trees <= most_one_launch_trees;
}

/// Whether one launch always folds the forest, so that no other kernel needs to be compiled.
template <class Job>
inline constexpr bool always_takes_one_launch =
    may_take_one_launch<Job> && is_instance<deferred_tree, typename Job::forest_type>;

/// Launches lanes_kernel. `plan` and `queue` are what later launches share with it.
template <class Build, class Job>
void launch_by_lanes(const Job& job, std::int64_t most_trees, const forest_plan& plan,
                     const long_queue<typename Job::acc>& queue, bool after_short_trees = false) {
  const auto kernel = cuda::ready_lanes<Build>(job);
  // A warp takes at least one tree at a time.
  const std::int64_t blocks = ceil_div(most_trees, lanes_nt / warp_size);
  kernel.launch(kernel.most(blocks), job.stream, job.forest, job.reducer, job.init, job.empty,
                job.out, plan, queue, {after_short_trees});
}

/// The queue of a forest's long trees, in the workspace.
template <class Acc, class WorkspaceFor>
long_queue<Acc> queue_in(std::int64_t most_trees, const WorkspaceFor& workspace_for) {
  using counters = typename long_queue<Acc>::counters;
  const auto trees = static_cast<unsigned>(detail::smaller(most_trees, max_queued_trees));
  const std::int64_t partial_bytes = queued_partial_bytes(sizeof(Acc));
  const workspace& space = workspace_for(cuda::queue_demand(most_trees, sizeof(Acc)));
  auto* const state = space.arrivals<counters>();
  return {state,
          reinterpret_cast<unsigned*>(state + 1),
          space.partials<Acc>(),
          reinterpret_cast<long_tree*>(space.partials() + partial_bytes),
          max_queued_partials,
          trees};
}

/// A launch each for trees by lanes (if there can be any), by warps and by blocks; before them a
/// launch for short trees, if there are trees enough.
template <class Build, tile_policy Policy, class Job, class WorkspaceFor>
void launch_by_lanes_warps_blocks(const Job& job, std::int64_t most_trees,
                                  const WorkspaceFor& workspace_for) {
  using acc = typename Job::acc;
  const auto queue = cuda::queue_in<acc>(most_trees, workspace_for);
  const launch_tuning& tuning = job.gpu.tuning();
  const forest_plan plan{
      tuning.longest_for_warp(most_trees),
      detail::larger(tuning.slice_items(most_trees), std::int64_t{Policy.tile()})};
  if constexpr (!none_for_lanes<typename Job::forest_type>) (void)cuda::ready_lanes<Build>(job);
  const auto by_warps = cuda::ready_warps<Build, trees_of_warps<Job>>(job);
  const auto by_blocks = cuda::ready_blocks<Build, Policy, slices_of_queue<Job>>(job);
  bool short_trees = false;
  if constexpr (job_has_short_trees_kernel<Job>) {
    short_trees = most_trees >= least_short_trees && most_trees <= most_short_trees;
    if (short_trees) {
      const auto by_lane = cuda::ready_short_trees<Build>(job);
      by_lane.launch(by_lane.resident, job.stream, job.forest, job.reducer, job.init, job.empty,
                     job.out, plan, queue);
    }
  }
  try {
    if constexpr (!none_for_lanes<typename Job::forest_type>) {
      cuda::launch_by_lanes<Build>(job, most_trees, plan, queue, short_trees);
    }
    by_warps.launch(by_warps.resident, job.stream, trees_of_warps<Job>{queue, plan}, job.forest,
                    job.reducer, job.init, job.out);
    by_blocks.launch(by_blocks.resident, job.stream, {queue}, job.forest, job.reducer, job.init,
                     job.out);
  } catch (...) {
    // No launch will take from the queue what the first launches put there.
    (void)cudaMemsetAsync(queue.state, 0, sizeof *queue.state, job.stream);
    throw;
  }
}

/// A forest whose lengths only the GPU knows.
template <class Build, tile_policy Policy, class Job, class WorkspaceFor>
void launch_unequal_forest(const Job& job, std::int64_t most_trees,
                           const WorkspaceFor& workspace_for) {
  if constexpr (may_take_one_launch<Job>) {
    if (fits_one_launch<Job>(most_trees)) {
      const auto queue = cuda::queue_in<typename Job::acc>(most_trees, workspace_for);
      const forest_plan plan{job.gpu.tuning().longest_for_warp(most_trees), Policy.tile()};
      const auto kernel = cuda::ready_blocks<Build, Policy, slices_of_one_launch<Job>>(job);
      return kernel.launch(kernel.resident, job.stream,
                           {plan, job.empty, queue.partials, queue.arrivals}, job.forest,
                           job.reducer, job.init, job.out);
    }
  }
  if constexpr (!always_takes_one_launch<Job>) {
    cuda::launch_by_lanes_warps_blocks<Build, Policy>(job, most_trees, workspace_for);
  }
}

/// Whether one tree of a deferred length is folded in tiles, as tile_kernel folds a range.
template <class Source, class Reducer>
inline constexpr bool defers_in_tiles =
    !folds_stretches<Source, Reducer> && !sums_exactly<Reducer> &&
    sizeof(typename Reducer::accumulator) <= most_deferred_range_acc_bytes;

/// Folds one tree of a deferred length in tiles. False, with nothing launched, if the longest asks
/// for more workspace than one segment: beyond some 4 * 10^9 floats or 10^9 doubles.
template <class Build, tile_policy Policy, class Source, class Number, class Reducer, class Init,
          class Out, class Empty, class WorkspaceFor>
bool launch_deferred_range(
    const forest_job<deferred_tree<Source, Number>, Reducer, Init, Out, Empty>& job,
    const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  const std::int64_t most_items = detail::larger(job.forest.num_items.most, std::int64_t{1});
  const std::int64_t most_tiles = tree::num_blocks(most_items, std::int64_t{Policy.tile()});
  const workspace_demand demand = cuda::partials_demand(Policy, most_tiles, sizeof(acc));
  if (demand.bytes() > cuda::queue_demand(1, sizeof(acc)).bytes()) return false;
  using length = deferred_length<size_in_memory<Number>, Empty>;
  static known_kernel known;
  const auto kernel = known.on(job.gpu,
                               &tile_kernel<Build, Policy.nt, Policy.vt, false, length, Source,
                                            closed_reducer<Reducer>, Init, Out>,
                               "tile_kernel", Policy.nt, starts::early);
  const workspace& space = workspace_for(demand);
  kernel.launch(kernel.most(most_tiles), job.stream, job.forest.source, job.reducer, job.init,
                job.out, length{job.forest.num_items, job.empty}, scratch_in<acc>(space));
  return true;
}

/// A forest whose caller has promised a longest tree: in one launch, if all trees can be dealt.
template <class Build, tile_policy Policy, class Job, class WorkspaceFor>
void launch_bounded_forest(const Job& job, std::int64_t most_trees,
                           const WorkspaceFor& workspace_for) {
  const typename Job::forest_type::base& segments = job.forest;
  const auto of_any_length = job.with(segments);
  const std::int64_t most_items = job.forest.most_items;
  const forest_plan plan{most_items, 0};
  const long_queue<typename Job::acc> no_queue{};
  if constexpr (job_has_short_trees_kernel<decltype(of_any_length)>) {
    if (most_items <= short_tree_items && most_trees <= most_short_trees) {
      const auto by_lane = cuda::ready_short_trees<Build>(job);
      by_lane.launch(by_lane.most(ceil_div(most_trees, lanes_nt)), job.stream, job.forest,
                     job.reducer, job.init, job.empty, job.out, plan, no_queue);
      return;
    }
  }
  constexpr int dealt =
      dealt_items<typename Job::source_type, typename Job::reducer_type, typename Job::init_type>;
  if (most_items <= lane_plan<dealt>::most_items) {
    cuda::launch_by_lanes<Build>(job, most_trees, plan, no_queue);
  } else {
    cuda::launch_unequal_forest<Build, Policy>(of_any_length, most_trees, workspace_for);
  }
}

// Whether elements come with their indices, which count from the start of their tree.
template <class Source>
inline constexpr bool has_indices = false;
template <std::size_t... Index, class... Its>
inline constexpr bool has_indices<source_of<std::index_sequence<Index...>, Its...>> =
    (std::is_same_v<Its, index_iterator> || ...);

/// Whether staged_subtree_work may fold trees: with reducers or large structs that are staged.
template <class Source, class Reducer>
inline constexpr bool stages_subtrees =
    stages_trees<Source, Reducer> ||
    (stages_structs<Source, Reducer> && staged_bytes<Source> > most_unstaged_subtree_item_bytes &&
     !sums_exactly<Reducer> && !fold_traits<Reducer>::order_free);

/// Trees of 2^k items by `Work`, if it takes trees of this length, and its chunks are many enough;
/// false, with nothing launched, if not. An element's index would be its place in all of the items,
/// not in its tree.
template <class Build, template <class, class, class, class> class Work, class Source,
          class Reducer, class Init, class Out, class Empty>
bool launch_subtrees(const forest_job<equal_forest<Source>, Reducer, Init, Out, Empty>& job) {
  using reducer_type = closed_reducer<Reducer>;
  using work_type = Work<Source, reducer_type, Init, Out>;
  const std::int64_t length = job.forest.length;
  if (!tree::is_power_of_two(length) || length < work_type::least_length ||
      length > work_type::chunk_items) {
    return false;
  }
  static known_kernel known;
  const auto kernel =
      known.on(job.gpu, &subtree_kernel<Build, Work, Source, reducer_type, Init, Out>,
               "subtree_kernel", work_type::nt, starts::early);
  constexpr int warps_of_block = work_type::nt / warp_size;
  const std::int64_t n = job.forest.num_trees * length;
  // With fewer chunks than warps that the GPU holds, some warps would have nothing to do.
  if (work_type::for_all_warps && n / work_type::chunk_items < kernel.resident * warps_of_block) {
    return false;
  }
  const std::int64_t chunks = tree::num_blocks(n, work_type::chunk_items);
  kernel.launch(kernel.most(ceil_div(chunks, warps_of_block)), job.stream, job.forest.source,
                job.reducer, job.init, job.out, n, tree::floor_log2(length));
  return true;
}

/// Trees of one length, a warp each.
template <class Build, class Job>
void launch_equal_trees_by_warps(const Job& job, std::int64_t trees) {
  // Not early: few blocks would all start on the SMs that are free first.
  const auto kernel = cuda::ready_warps<Build, equal_trees>(job, starts::in_turn);
  kernel.launch(kernel.most(ceil_div(trees, warps_nt / warp_size)), job.stream, equal_trees{},
                job.forest, job.reducer, job.init, job.out);
}

/// The size of slices with which `resident` blocks at a time fold all trees soonest: `least` items,
/// or a power of two times that. A wave of blocks takes as long as the tiles of a slice and one
/// tile more, because a block begins its next slice only when the last one has ended.
inline std::int64_t fastest_slice(std::int64_t trees, std::int64_t length, int tile,
                                  std::int64_t least, std::int64_t resident) {
  std::int64_t size = least;
  while (size < length && size <= (std::numeric_limits<std::int64_t>::max)() / 2) size *= 2;
  std::int64_t best = size;
  std::int64_t least_time = (std::numeric_limits<std::int64_t>::max)();
  for (; size >= least; size /= 2) {
    const std::int64_t slices = trees * tree::num_blocks(length, size);
    if (size < length && slices > most_split_slices) break;
    const std::int64_t tiles = tree::num_blocks(detail::smaller(size, length), tile);
    const std::int64_t time = ceil_div(slices, resident) * (tiles + 1);
    if (time < least_time) {
      best = size;
      least_time = time;
    }
  }
  return best;
}

/// Trees of one length, a slice a block.
template <class Build, tile_policy Policy, class Job, class WorkspaceFor>
void launch_equal_trees_by_blocks(const Job& job, std::int64_t trees,
                                  const WorkspaceFor& workspace_for) {
  using acc = typename Job::acc;
  using source_type = typename Job::source_type;
  const auto kernel = cuda::ready_blocks<Build, Policy, equal_slices<acc>>(job);
  const std::int64_t length = job.forest.length;
  // Not below the smallest slice that forest_sizes.cuh counts with.
  constexpr int least =
      stages_trees<source_type, typename Job::reducer_type>
          ? detail::larger(Policy.tile(), policy_for(item_bytes<source_type>).tile())
          : Policy.tile();
  const std::int64_t slice_items =
      cuda::fastest_slice(trees, length, least, cuda::slice_size(length, least), kernel.resident);
  const std::int64_t slices = trees * tree::num_blocks(length, slice_items);
  const bool split = slice_items < length;
  const workspace& space =
      workspace_for(cuda::equal_slices_demand(split ? slices : 0, sizeof(acc)));
  kernel.launch(kernel.most(slices), job.stream,
                equal_slices<acc>{slice_items, space.partials<acc>(), space.arrivals()}, job.forest,
                job.reducer, job.init, job.out);
}

/// Folds rows as short ranges. False, with nothing launched, if others are faster or rows too long.
template <class Build, class Source, class Reducer, class Init, class Out, class Empty>
bool launch_short_rows(const forest_job<equal_forest<Source>, Reducer, Init, Out, Empty>& job) {
  if constexpr (sums_exactly<Reducer> ||
                sizeof(typename Reducer::accumulator) > most_short_row_acc_bytes) {
    return false;
  } else {
    constexpr tile_policy tile = short_policy_for(item_bytes<Source>);
    const std::int64_t n = job.forest.length;
    const std::int64_t rows = job.forest.num_trees;
    if (n < 1 || n > cluster_blocks * tile.tile()) return false;
    if (rows < 1 || rows > most_short_rows) return false;
    grid_shape grid = cuda::short_shape_for(tile, n, job.gpu.early_launches, job.gpu.tuning());
    if (grid.blocks > 1 && !grid.cluster) return false;
    constexpr int bytes = item_bytes<Source>;
    // Means of items of 8 bytes are as fast as their sums; of narrower ones this was slower.
    constexpr auto acc_bytes = static_cast<int>(bytes == 8 ? folded_bytes<Reducer>
                                                           : sizeof(typename Reducer::accumulator));
    const short_rows of{rows, n, grid.blocks, grid.nt, tile.vt};
    const bool pays = acc_bytes > 8
                          ? cuda::pays_as_short_rows_of_pairs(of, bytes, acc_bytes, job.gpu.num_sms)
                          : cuda::pays_as_short_rows(of, bytes, job.gpu.num_sms, job.gpu.tuning());
    if (!pays) return false;
    using row = short_range_of_row<equal_forest<Source>, typename Reducer::accumulator>;
    static known_kernel known;
    const auto kernel = known.on(
        job.gpu, &short_kernel<Build, tile.nt, tile.vt, row, closed_reducer<Reducer>, Init, Out>,
        "short_kernel", tile.nt, starts::in_clusters);
    if (grid.cluster && !kernel.clusters) return false;
    grid.rows = rows;
    kernel.launch(grid, job.stream, row{job.forest}, job.reducer, job.init, job.out);
    return true;
  }
}

/// The most blocks that may share a long row. Each has two tiles; all are one group of partials,
/// for which there is one counter; and they are no more than slices, for which there is workspace.
constexpr std::int64_t most_blocks_of_row(tile_policy tile, std::int64_t length, int bytes) {
  const std::int64_t most =
      detail::smaller(length / (2 * tile.tile()), length / policy_for(bytes).tile());
  return detail::smaller(most, std::int64_t{detail::smaller(group_size(tile), max_slices)});
}

/// The number of blocks a row with which `resident` blocks at a time fold all rows soonest: as many
/// as fit in up to four waves. A wave takes as long as the tiles of a block and one tile more.
constexpr std::int64_t blocks_of_row(std::int64_t rows, std::int64_t length, int tile,
                                     std::int64_t most_blocks, std::int64_t resident) {
  std::int64_t best = 1;
  std::int64_t least_time = (std::numeric_limits<std::int64_t>::max)();
  for (std::int64_t waves = 1; waves <= 4; ++waves) {
    const std::int64_t fitting = detail::smaller(waves * resident, most_split_slices) / rows;
    const std::int64_t blocks =
        detail::larger(detail::smaller(fitting, most_blocks), std::int64_t{1});
    const std::int64_t tiles = tree::num_blocks(length, tile * blocks);
    const std::int64_t time = ceil_div(rows * blocks, resident) * (tiles + 1);
    if (time < least_time) {
      best = blocks;
      least_time = time;
    }
  }
  return best;
}

/// Whether long rows are folded in any order: not exact sums and lists, nor large accumulators.
template <class Reducer>
inline constexpr bool folds_rows_in_any_order =
    fold_traits<Reducer>::folds_in_any_order && !sums_exactly<Reducer> &&
    !fold_traits<Reducer>::selects && sizeof(typename Reducer::accumulator) <= 32;

/// Folds long rows in any order, if that is faster. If not, false, with nothing launched.
template <class Build, class Job, class WorkspaceFor>
bool launch_any_order_rows(const Job& job, const WorkspaceFor& workspace_for) {
  using acc = typename Job::acc;
  if constexpr (folds_rows_in_any_order<typename Job::reducer_type>) {
    using launch = any_order_launch<typename Job::reducer_type>;
    constexpr int bytes = item_bytes<typename Job::source_type>;
    constexpr tile_policy tile = launch::template policy<default_policy, bytes>;
    const std::int64_t rows = job.forest.num_trees;
    const std::int64_t length = job.forest.length;
    const std::int64_t most_blocks = cuda::most_blocks_of_row(tile, length, bytes);
    if (most_blocks < 1 || rows < 1 || rows > most_tiles) return false;
    if (rows * most_blocks < job.gpu.num_sms) return false;
    const auto kernel = launch::template ready<Build, tile>(job.forest, job.init, job.out, job.gpu);
    const std::int64_t blocks =
        cuda::blocks_of_row(rows, length, tile.tile(), most_blocks, kernel.resident);
    if (rows * blocks < job.gpu.num_sms) return false;
    scratch<acc> memory{};
    if (blocks > 1) {
      memory = scratch_in<acc>(workspace_for(workspace_demand{
          rows * blocks * static_cast<std::int64_t>(sizeof(acc)), rows * arrival_bytes}));
    }
    kernel.launch(grid_shape{blocks, tile.nt, false, rows}, job.stream, job.forest, job.reducer,
                  job.init, job.out, nullptr, memory);
    return true;
  }
  return false;
}

/// A forest of trees of one length, unless its rows are short ranges or folded in any order.
template <class Build, tile_policy Policy, class Job, class WorkspaceFor>
void launch_equal_forest(const Job& job, std::int64_t trees, const WorkspaceFor& workspace_for) {
  using source_type = typename Job::source_type;
  using reducer_type = typename Job::reducer_type;
  if constexpr (!has_indices<source_type> && stages_subtrees<source_type, reducer_type>) {
    if (cuda::launch_subtrees<Build, staged_subtree_work>(job)) return;
  }
  if constexpr (!has_indices<source_type> && !folds_stretches<source_type, reducer_type>) {
    if (cuda::launch_subtrees<Build, subtree_work>(job)) return;
  }
  const std::int64_t length = job.forest.length;
  const std::int64_t longest_for_warp = job.gpu.tuning().longest_for_warp(trees);
  if (length <= lane_plan<stretch_items<source_type>>::most_items) {
    cuda::launch_by_lanes<Build>(job, trees, {longest_for_warp, 0}, {});
  } else if (length <= longest_for_warp) {
    cuda::launch_equal_trees_by_warps<Build>(job, trees);
  } else {
    cuda::launch_equal_trees_by_blocks<Build, Policy>(job, trees, workspace_for);
  }
}

// The policy that the caller has chosen for a forest, or the default one.
template <class Policy, class Source, class Reducer>
constexpr tile_policy forest_policy() {
  if constexpr (stages_trees<Source, Reducer>) {
    return staged_shape_of<Source, Reducer>.policy();
  } else {
    return policy_or<Policy>(policy_for(item_bytes<Source>));
  }
}

/// Asks the GPU about every kernel that launch_forest() may launch for trees of any length, and
/// keeps the answers. So between two launches there is nothing to ask that could fail.
template <class Build, class Policy, class Job>
void ready_forest(const Job& job, std::int64_t most_trees) {
  constexpr tile_policy policy =
      forest_policy<Policy, typename Job::source_type, typename Job::reducer_type>();
  if constexpr (may_take_one_launch<Job>) {
    if (fits_one_launch<Job>(most_trees)) {
      (void)cuda::ready_blocks<Build, policy, slices_of_one_launch<Job>>(job);
      return;
    }
  }
  if constexpr (!always_takes_one_launch<Job>) {
    if constexpr (!none_for_lanes<typename Job::forest_type>) (void)cuda::ready_lanes<Build>(job);
    if constexpr (job_has_short_trees_kernel<Job>) (void)cuda::ready_short_trees<Build>(job);
    (void)cuda::ready_warps<Build, trees_of_warps<Job>>(job);
    (void)cuda::ready_blocks<Build, policy, slices_of_queue<Job>>(job);
  }
}

template <class Build, class Policy, class Job, class WorkspaceFor>
void launch_forest(const Job& job, std::int64_t most_trees, const WorkspaceFor& workspace_for) {
  using forest_type = typename Job::forest_type;
  using source_type = typename Job::source_type;
  using reducer_type = typename Job::reducer_type;
  constexpr tile_policy policy = forest_policy<Policy, source_type, reducer_type>();
  if constexpr (is_instance<equal_forest, forest_type>) {
    // A policy that the caller set is used as it is.
    if constexpr (std::is_same_v<Policy, default_policy>) {
      if (cuda::launch_any_order_rows<Build>(job, workspace_for)) return;
      if (cuda::launch_short_rows<Build>(job)) return;
    }
    cuda::launch_equal_forest<Build, policy>(job, most_trees, workspace_for);
  } else if constexpr (is_instance<bounded_forest, forest_type>) {
    cuda::launch_bounded_forest<Build, policy>(job, most_trees, workspace_for);
  } else {
    if constexpr (is_instance<deferred_tree, forest_type> &&
                  defers_in_tiles<source_type, reducer_type>) {
      if (cuda::launch_deferred_range<Build, policy>(job, workspace_for)) return;
    }
    cuda::launch_unequal_forest<Build, policy>(job, most_trees, workspace_for);
  }
}

/// How a cuda_executor folds forests.
template <class Build>
struct forest_folds {
  /// Writes the projected fold of every tree i of `forest` through out[i], in the order of the
  /// stream; `empty` (an accumulator, or a given_result) stands for trees without elements.
  /// `most_trees` >= 1 is the number of trees, or a bound where only the GPU knows it.
  template <class Policy, class Executor, class Forest, class Reducer, class Init, class Empty,
            class Out>
  static void write(Executor& exec, const Forest& forest, std::int64_t most_trees,
                    const Reducer& reducer, const Init& init, const Empty& empty, const Out& out) {
    exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto& workspace_for) {
      cuda::launch_forest<Build, Policy>(
          cuda::job_of(forest, reducer, init, empty, exec.accessible(out, "out"), gpu, stream),
          most_trees, workspace_for);
    });
  }
};

}  // namespace tilefold::detail::cuda
