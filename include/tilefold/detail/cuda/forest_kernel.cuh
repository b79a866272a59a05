// SPDX-License-Identifier: Apache-2.0
//
// A forest in at most two launches. The first gives every warp batches of neighbouring trees, which
// it stages in shared memory, as many as fit, and folds side by side; long trees are put into a
// queue, cut into units that are aligned blocks. The second launch folds the units, a block each;
// whoever completes the units of a tree folds their values. All of it is the neighbour tree of each
// tree by itself.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/cuda/block_fold.cuh>
#include <tilefold/detail/cuda/tile_kernel.cuh>
#include <tilefold/detail/cuda/warp_tree.cuh>
#include <tilefold/detail/forest.hpp>
#include <tilefold/tree.hpp>

namespace tilefold::detail::cuda {

/// How long is long, and how it is cut.
struct forest_plan {
  std::int64_t warp_items;  // trees of more are for blocks
  std::int64_t unit_items;  // a power of two
};

// Units that one tree is cut into at most, so that one block can fold their values.
inline constexpr int max_units = 1024;

TILEFOLD_HD inline std::int64_t unit_size(std::int64_t count, std::int64_t least) {
  std::int64_t size = least;
  while (tree::num_blocks(count, size) > max_units) size *= 2;
  return size;
}

/// A tree that is too long for a warp.
struct long_tree {
  std::int64_t tree;
  std::int64_t first_unit;  // among the units of all long trees
  std::int64_t unit_items;
  unsigned first_slot;  // for the values of its units, if there are several
};

/// What the first launch leaves to the second. Counters are zero before the first and after the
/// second.
template <class Acc>
struct long_queue {
  struct counters {
    unsigned long long tail;  // trees << unit_bits | units
    unsigned slots;
    unsigned blocks_done;
  };
  static constexpr int unit_bits = 40;
  static constexpr unsigned long long unit_mask = (1ull << unit_bits) - 1;

  counters* state;
  unsigned* arrivals;  // a counter per slot; a tree uses that of its first
  Acc* slots;
  long_tree* trees;
  unsigned max_slots;
  unsigned max_trees;

  __device__ unsigned num_trees() const {
    return detail::smaller(static_cast<unsigned>(state->tail >> unit_bits), max_trees);
  }
};

/// Puts a tree into the queue; false if that is full. One thread.
template <class Acc>
__device__ bool enqueue(const long_queue<Acc>& queue, const forest_plan& plan, std::int64_t tree,
                        std::int64_t count) {
  // Looked at before they are raised: so the counters pass their limits by no more than the warps
  // in flight can ask for, and cannot wrap.
  const volatile auto* state = queue.state;
  if (state->tail >> long_queue<Acc>::unit_bits >= queue.max_trees) return false;
  std::int64_t unit_items = cuda::unit_size(count, plan.unit_items);
  auto units = static_cast<unsigned>(tree::num_blocks(count, unit_items));
  unsigned slot = 0;
  if (units > 1) {
    const bool room = state->slots < queue.max_slots;
    if (room) slot = atomicAdd(&queue.state->slots, units);
    if (!room || slot + units > queue.max_slots) {
      unit_items = cuda::unit_size(count, count);
      units = 1;
    }
  }
  const auto place = atomicAdd(&queue.state->tail, (1ull << long_queue<Acc>::unit_bits) | units);
  const auto index = static_cast<unsigned>(place >> long_queue<Acc>::unit_bits);
  if (index >= queue.max_trees) return false;
  queue.trees[index] = {tree, static_cast<std::int64_t>(place & long_queue<Acc>::unit_mask),
                        unit_items, slot};
  return true;
}

// Trees that a warp looks at together at most.
inline constexpr int stretch_trees = 256;

/// One warp's work in the first launch: stretch by stretch, neighbouring trees whose items lie in a
/// row and fit the stage.
template <class Forest, class Reducer, class Init, class Out>
class batch_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Forest::source_type;
  using stage_type = warp_stage<source_type, stage_capacity<source_type>()>;
  using fold_type = staged_fold<stage_type, source_type, Reducer>;

  // Where trees end in the stage, for those that are not of one length.
  struct tree_ends {
    unsigned short end[stretch_trees];
  };
  struct nothing {};

 public:
  struct warp_memory {
    stage_type stage[2];
    std::conditional_t<Forest::equal_lengths, nothing, tree_ends> ends[2];
  };

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const acc& empty;
  const Out& out;
  const forest_plan& plan;
  const long_queue<acc>& queue;
  warp_memory& memory;

  /// Trees [begin, end).
  __device__ __forceinline__ void run(std::int64_t begin, std::int64_t end) const {
    int turn = 0;
    stretch now = fetch(begin, end, turn);
    while (begin < end) {
      if (now.trees == 0) {
        fold_alone(begin++);
        now = fetch(begin, end, turn);
        continue;
      }
      const stretch next = fetch(begin + now.trees, end, turn ^ 1);
      cuda::finish_stage<1>();
      fold_stretch(begin, now, turn);
      begin += now.trees;
      now = next;
      turn ^= 1;
    }
  }

 private:
  struct stretch {
    int trees;
    int longest;
    int items;
  };

  __device__ __forceinline__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }

  // Finds the stretch from tree `begin` on and has its items fetched.
  __device__ __forceinline__ stretch fetch(std::int64_t begin, std::int64_t end, int turn) const {
    stretch found{0, 0, 0};
    if (begin < end) found = find_stretch(begin, end, turn);
    if (found.items > 0) {
      memory.stage[turn].fill(forest.tree(begin), found.items);
    } else {
      cuda::commit_stage();
    }
    return found;
  }

  // As many trees from `begin` on as lie in a row and fit the stage. None if the first is too long.
  __device__ __forceinline__ stretch find_stretch(std::int64_t begin, std::int64_t end,
                                                  int turn) const {
    if constexpr (Forest::equal_lengths) {
      return equal_stretch(end - begin);
    } else {
      return stretch_of_ends(begin, end, turn);
    }
  }

  __device__ __forceinline__ stretch equal_stretch(std::int64_t trees) const {
    if (forest.length > stage_type::capacity || forest.length == 0) return {0, 0, 0};
    const auto length = static_cast<int>(forest.length);
    const auto there = static_cast<int>(detail::smaller(trees, std::int64_t{stretch_trees}));
    const int fitting = detail::smaller(there, stage_type::capacity / length);
    return {fitting, length, fitting * length};
  }

  __device__ __forceinline__ stretch stretch_of_ends(std::int64_t begin, std::int64_t end,
                                                     int turn) const {
    stretch found{0, 0, 0};
    const std::int64_t origin = forest.first(begin);
    __syncwarp();  // everyone has read what was here
    for (int q = 0; q < stretch_trees; q += warp_size) {
      const std::int64_t t = begin + q + lane();
      // Whatever is out of range becomes a number that does not fit.
      int first = -1;
      int last = -1;
      if (t < end) {
        first = offset_in_stage(forest.first(t) - origin);
        last = offset_in_stage(forest.first(t) - origin + forest.count(t));
      }
      int expected = __shfl_up_sync(full_warp, last, 1);
      if (lane() == 0) expected = found.items;
      const bool fits = first == expected && last >= first;
      const unsigned misfits = ~__ballot_sync(full_warp, fits);
      const int good = misfits == 0 ? warp_size : __ffs(static_cast<int>(misfits)) - 1;
      if (lane() < good) {
        memory.ends[turn].end[q + lane()] = static_cast<unsigned short>(last);
        found.longest = detail::larger(found.longest, last - first);
      }
      found.trees += good;
      if (good > 0) found.items = __shfl_sync(full_warp, last, good - 1);
      if (good < warp_size) break;
    }
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      found.longest =
          detail::larger(found.longest, __shfl_xor_sync(full_warp, found.longest, mask));
    }
    return found;
  }

  __device__ __forceinline__ static int offset_in_stage(std::int64_t offset) {
    return offset < 0 || offset > stage_type::capacity ? -1 : static_cast<int>(offset);
  }

  __device__ __forceinline__ void fold_stretch(std::int64_t begin, const stretch& s,
                                               int turn) const {
    const source_type source = forest.tree(begin);
    const fold_type fold{memory.stage[turn], source, reducer, 0};
    const int bits = lane_bits_for(s.trees, s.longest);
    const int lane_of_tree = lane() & ((1 << bits) - 1);
    const int trees_per_round = warp_size >> bits;
    for (int round = 0; round < s.trees; round += trees_per_round) {
      const int t = round + (lane() >> bits);
      const bool exists = t < s.trees;
      const int first = exists ? start_of(t, s, turn) : 0;
      const int count = exists ? start_of(t + 1, s, turn) - first : 0;
      const acc value = fold(first, count, lane_of_tree, bits);
      if (exists && lane_of_tree == 0) keep(begin + t, count, value);
    }
  }

  // First item of tree t of a stretch.
  __device__ __forceinline__ int start_of(int t, const stretch& s, int turn) const {
    if constexpr (Forest::equal_lengths) {
      return t * s.longest;
    } else {
      return t == 0 ? 0 : memory.ends[turn].end[t - 1];
    }
  }

  // The binary logarithm of the lanes per tree that take the fewest steps: about one per item of
  // the longest run, and some for each round of trees.
  __device__ __forceinline__ static int lane_bits_for(int trees, int longest) {
    int best = 0;
    int fewest = 1 << 30;
#pragma unroll
    for (int bits = 0; bits <= 5; ++bits) {
      const int rounds = ((trees << bits) + warp_size - 1) / warp_size;
      const int steps = rounds * ((longest >> bits) + 8 + bits);
      best = steps < fewest ? bits : best;
      fewest = detail::smaller(fewest, steps);
    }
    return best;
  }

  __device__ __forceinline__ void fold_alone(std::int64_t t) const {
    const std::int64_t count = forest.count(t);
    if (count > plan.warp_items) {
      bool queued = false;
      if (lane() == 0) queued = cuda::enqueue(queue, plan, t, count);
      if (__any_sync(full_warp, queued)) return;
    }
    slot<acc> value;
    if (count > 0) value.put(fold_long(forest.tree(t), count));
    if (lane() == 0) keep(t, count, value.value);
  }

  // A tree of any length >= 1, a stage's worth at a time, the next on its way while one is folded;
  // the result is in every lane.
  __device__ acc fold_long(const source_type& tree, std::int64_t count) const {
    warp_stack<Reducer> stack(reducer);
    int turn = 0;
    fetch_chunk(tree, count, 0, turn);
    for (std::int64_t done = 0; done < count; done += chunk) {
      fetch_chunk(tree, count, done + chunk, turn ^ 1);
      cuda::finish_stage<1>();
      const source_type part = detail::starting_at(tree, done);
      stack.push(fold_type{memory.stage[turn], part, reducer, done}(0, chunk_items(count, done),
                                                                    lane(), 5));
      turn ^= 1;
    }
    cuda::finish_stage<0>();
    return stack.value();
  }

  static constexpr int chunk = 1 << tree::floor_log2(stage_type::capacity);

  __device__ __forceinline__ static int chunk_items(std::int64_t count, std::int64_t done) {
    return static_cast<int>(detail::smaller(count - done, std::int64_t{chunk}));
  }

  __device__ __forceinline__ void fetch_chunk(const source_type& tree, std::int64_t count,
                                              std::int64_t done, int turn) const {
    if (done < count) {
      memory.stage[turn].fill(detail::starting_at(tree, done), chunk_items(count, done));
    } else {
      cuda::commit_stage();
    }
  }

  __device__ __forceinline__ void keep(std::int64_t i, std::int64_t count, const acc& value) const {
    if (count > 0) {
      cuda::write(out + i, detail::finish(reducer, init, value));
    } else {
      cuda::write(out + i, reducer.project(empty));
    }
  }
};

inline constexpr int forest_nt = 128;

// Trees that a warp takes at a time: several turns for each, so that no warp is the last for long.
__device__ __forceinline__ std::int64_t batch_size(std::int64_t trees, std::int64_t warps) {
  return detail::bounded(trees / (warps * 8), std::int64_t{1}, std::int64_t{4096});
}

template <class Build, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(forest_nt, sizeof(typename Reducer::accumulator) > 8 ? 4 : 5)
    forest_kernel(Forest forest, Reducer reducer, Init init, typename Reducer::accumulator empty,
                  Out out, forest_plan plan, long_queue<typename Reducer::accumulator> queue) {
  using work_type = batch_work<Forest, Reducer, Init, Out>;
  constexpr int warps_per_block = forest_nt / warp_size;
  __shared__ slot<typename work_type::warp_memory> memory[warps_per_block];
  const work_type work{
      forest, reducer, init,  empty,
      out,    plan,    queue, memory[static_cast<int>(threadIdx.x) / warp_size].value};
  const std::int64_t size = forest.size();
  const std::int64_t warps = std::int64_t{gridDim.x} * warps_per_block;
  const std::int64_t batch = cuda::batch_size(size, warps);
  const std::int64_t warp =
      std::int64_t{blockIdx.x} * warps_per_block + static_cast<int>(threadIdx.x) / warp_size;
  for (std::int64_t begin = warp * batch; begin < size; begin += warps * batch) {
    work.run(begin, detail::smaller(begin + batch, size));
  }
}

/// A unit of a long tree: items [unit * size, (unit + 1) * size) of it, as far as they exist.
struct long_unit {
  std::int64_t tree;
  std::int64_t count;  // of the whole tree
  std::int64_t size;
  int unit;
  int units;
  unsigned slot;  // of the tree's first unit
};

/// Where units come from when the first launch has queued them.
template <class Acc>
struct queued_units {
  long_queue<Acc> queue;

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    const unsigned trees = queue.num_trees();
    if (trees == 0) return 0;
    const long_tree& last = queue.trees[trees - 1];
    return last.first_unit + tree::num_blocks(forest.count(last.tree), last.unit_items);
  }

  template <class Forest>
  __device__ long_unit find(const Forest& forest, std::int64_t u) const {
    unsigned low = 0;
    for (unsigned high = queue.num_trees(); high - low > 1;) {
      const unsigned middle = low + (high - low) / 2;
      (queue.trees[middle].first_unit <= u ? low : high) = middle;
    }
    const long_tree& entry = queue.trees[low];
    const std::int64_t count = forest.count(entry.tree);
    return {entry.tree,
            count,
            entry.unit_items,
            static_cast<int>(u - entry.first_unit),
            static_cast<int>(tree::num_blocks(count, entry.unit_items)),
            entry.first_slot};
  }

  /// Called by every block when it is done; the last one leaves the counters as they were. (Warps
  /// of a block without units may still read the tail then: zero tells them the same.)
  __device__ void finish() const {
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicAdd(&queue.state->blocks_done, 1u) + 1 == gridDim.x) {
      queue.state->tail = 0;
      queue.state->slots = 0;
      queue.state->blocks_done = 0;
    }
  }
};

/// Where units come from when all trees are long and of one length.
struct equal_units {
  std::int64_t trees;
  std::int64_t unit_items;

  template <class Forest>
  __device__ std::int64_t size(const Forest& forest) const {
    return trees * tree::num_blocks(forest.length, unit_items);
  }
  template <class Forest>
  __device__ long_unit find(const Forest& forest, std::int64_t u) const {
    const auto units = tree::num_blocks(forest.length, unit_items);
    const std::int64_t t = u / units;
    return {t,
            forest.length,
            unit_items,
            static_cast<int>(u - t * units),
            static_cast<int>(units),
            static_cast<unsigned>(t * units)};
  }
  __device__ void finish() const {}
};

/// One block's work in the second launch.
template <tile_policy Policy, class Forest, class Reducer, class Init, class Out>
class unit_work {
  using acc = typename Reducer::accumulator;
  using source_type = typename Forest::source_type;
  using full_tile = tile_fold<Policy, true, source_type, Reducer>;
  using cut_tile = tile_fold<Policy, false, source_type, Reducer>;
  using partials_source = detail::source<const acc*>;
  using group_reducer = partials_reducer<Reducer>;
  using units_fold = tile_fold<tile_policy{Policy.nt, max_units / Policy.nt}, false,
                               partials_source, group_reducer>;

 public:
  struct shared_memory {
    slot<acc> warp_values[2][Policy.nt / warp_size];
    bool completed;
  };

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  acc* slots;
  unsigned* arrivals;
  shared_memory& shared;

  __device__ __forceinline__ void run(const long_unit& unit) {
    slot<acc> value;
    fold_unit(unit, value);
    if (unit.units == 1) {
      if (threadIdx.x == 0) keep(unit.tree, value.value);
      return;
    }
    acc* const first_slot = slots + unit.slot;
    if (threadIdx.x == 0) new (first_slot + unit.unit) acc(value.value);
    const auto units = static_cast<unsigned>(unit.units);
    const bool completed = cuda::arrive(arrivals + unit.slot, 1u, units, shared.completed);
    __syncthreads();  // read by all before the next arrival writes it
    if (!completed) return;
    const acc all = units_fold::fold(partials_source{{first_slot}}, group_reducer{reducer}, 0,
                                     unit.units, &shared.warp_values[0][0].value);
    if (threadIdx.x == 0) keep(unit.tree, all);
    __syncthreads();  // warp_values are free again
  }

 private:
  // In the first warp, `result` becomes the value of the unit.
  __device__ __forceinline__ void fold_unit(const long_unit& unit, slot<acc>& result) {
    const std::int64_t first = unit.unit * unit.size;
    const std::int64_t left = unit.count - first;
    const std::int64_t items = left < unit.size ? left : unit.size;
    const source_type source = forest.tree(unit.tree);
    // A full tile may overread into what follows it in the tree.
    const std::int64_t full_items = left - full_tile::overread_items(source);
    warp_stack<Reducer> stack(reducer);
    unsigned turn = 0;
    for (std::int64_t done = 0; done < items; done += Policy.tile()) {
      acc* const warp_values = &shared.warp_values[turn++ % 2][0].value;
      const std::int64_t left_in_unit = items - done;
      const auto count =
          static_cast<int>(left_in_unit < Policy.tile() ? left_in_unit : Policy.tile());
      const bool is_full = count == Policy.tile() && done + Policy.tile() <= full_items;
      const acc value = is_full ? full_tile::fold(source, reducer, first + done, count, warp_values)
                                : cut_tile::fold(source, reducer, first + done, count, warp_values);
      if (threadIdx.x < warp_size) stack.push(value);
    }
    if (threadIdx.x < warp_size) result.put(stack.value());
    __syncthreads();  // warp_values are free again
  }

  __device__ __forceinline__ void keep(std::int64_t i, const acc& value) const {
    cuda::write(out + i, detail::finish(reducer, init, value));
  }
};

template <class Build, int Nt, int Vt, class Units, class Forest, class Reducer, class Init,
          class Out>
__global__ void __launch_bounds__(Nt,
                                  min_resident_blocks(Nt, sizeof(typename Reducer::accumulator)))
    unit_kernel(Units units, Forest forest, Reducer reducer, Init init, Out out,
                typename Reducer::accumulator* slots, unsigned* arrivals) {
  using work_type = unit_work<tile_policy{Nt, Vt}, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  work_type work{forest, reducer, init, out, slots, arrivals, shared};
  const std::int64_t size = units.size(forest);
  for (std::int64_t u = blockIdx.x; u < size; u += gridDim.x) work.run(units.find(forest, u));
  units.finish();
}

}  // namespace tilefold::detail::cuda
