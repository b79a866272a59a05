// SPDX-License-Identifier: Apache-2.0
//
// The fold of a reducer whose value depends on no order (order.md, "What may deviate"). Every
// thread keeps one accumulator over all its tiles, here with 3 blocks:
//
//     tiles     0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | rest        of nt * vt items
//     block     0   1   2   0   1   2   0   1   2   all
//     thread    its vt items of tiles b, b + 3, b + 6; then single items of the rest
//                  |
//     block     the threads' values: by shuffles in a warp, the warps' through shared memory
//     launch    a partial a block, folded as in grid_tree.cuh
//
// So shuffles, shared memory and partials cost once a block, not once a tile. Where an accumulator
// can settle (any, all, none), a flag in the workspace tells all blocks to stop. A warp looks at it
// every 4 tiles. The thread that writes the result clears it again. Long rows are folded in the
// same way, each by a block or some; there the threads of a block vote every 4 tiles.
#pragma once

#include <tilefold/detail/core/forest.hpp>
#include <tilefold/detail/cuda/base/forest_job.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/load/elements.cuh>
#include <tilefold/detail/cuda/load/packets.cuh>
#include <tilefold/detail/cuda/range/launch_range.cuh>

namespace tilefold::detail::cuda {

/// Registers that a kept accumulator counts for, in bytes: places are hardly ever touched.
template <class Reducer>
constexpr std::size_t kept_bytes() {
  constexpr std::size_t bytes = sizeof(typename Reducer::accumulator);
  return Reducer::finds_places && bytes <= 32 ? 16 : bytes;
}

/// Blocks that one SM shall hold at least: fewer than of tiles, for a thread keeps an accumulator.
constexpr int min_resident_any_order_blocks(int nt, std::size_t acc_bytes) {
  return detail::larger((acc_bytes > 32 ? 512 : acc_bytes > 16 ? 768 : 1024) / nt, 1);
}

/// Tiles between two looks at the flag that says a value is settled, of which each costs.
inline constexpr int tiles_between_looks = 4;

/// A lane's items of a tile, of which the first is number `first`.
template <int Vt, int Width, class Stripes, class Source>
struct place_search {
  const Source& source;
  const Stripes& loaded;
  std::int64_t first;

  /// Brings what the warp has found before this tile up to date; `value` is the best of my items.
  template <class Place, class T>
  TILEFOLD_D void operator()(Place& found, const T& value) const {
    using ranking = typename Place::ranking;
    const auto key = ranking::of(value);
    const bool better = found.gives_way_to(key);
    if (!__any_sync(full_warp, better)) return;
    const int place = place_of<ranking, T>(key);
    if (better) found = {key, cuda::index_of(source, first + place)};
#pragma unroll
    for (int mask = 1; mask < warp_size; mask *= 2) {
      const Place other = cuda::shuffle_xor(found, mask);
      const bool same = !ranking::before(found.key, other.key);
      bool wins_tie;
      if constexpr (ranking::first_counts) {
        wins_tie = same & (other.index < found.index);
      } else {
        wins_tie = same & (found.index < other.index);
      }
      if (ranking::before(other.key, found.key) | wins_tie) {
        found = other;
      }
    }
  }

 private:
  // The place of the item that has the key, counted from the lane's first item. Of several, the
  // first or the last, as the ranking says.
  template <class Ranking, class T>
  TILEFOLD_D int place_of(const typename Ranking::key& key) const {
    if constexpr (sizeof(T) >= 4) {
      return place_of<Ranking>(loaded, key);
    } else {
      // Unpacked packets would need too many registers, so the items are read again.
      asm volatile("" ::: "memory");
      Stripes again;
      again.load_all(source, first);
      return place_of<Ranking>(again, key);
    }
  }
  template <class Ranking>
  TILEFOLD_D static int place_of(const Stripes& stripes, const typename Ranking::key& key) {
    int place = 0;
#pragma unroll
    for (int i = Vt - 1; i >= 0; --i) {
      const int k = Ranking::first_counts ? i : Vt - 1 - i;
      // The elements' indices come before them.
      const auto item = stripes.template item<1>(k / Width, k % Width);
      const bool same = !Ranking::before(key, Ranking::of(item));  // as none comes before it
      place = same ? k / Width * (warp_size * Width) + k % Width : place;
    }
    return place;
  }
};

/// One thread's part: the items of its place in each of the tiles it is given.
template <tile_policy Policy, class Source, class Reducer>
class running_fold {
  using acc = typename Reducer::accumulator;
  static constexpr int width = packet_width_of<Policy.vt>(static_cast<const Source*>(nullptr));
  static constexpr int stripes = Policy.vt / width;
  using stripes_type = lane_stripes<Source, stripes, width>;

 public:
  __device__ static int overread_items(const Source& source) {
    return stripes_type::overreads(source) ? width : 0;
  }

  TILEFOLD_D running_fold(const Source& source, const Reducer& reducer)
      : source_(source), reducer_(reducer) {}

  TILEFOLD_D const acc& value() const { return value_.value; }

  /// Adds a tile, all of whose items exist; the first one (`First` = 1) begins the accumulator.
  template <int First>
  TILEFOLD_D void add_tile(std::int64_t tile_first) {
    const std::int64_t first = lane_first(tile_first);
    stripes_type loaded;
    loaded.load_all(source_, first);
    if constexpr (First == 1) value_.put(loaded.lift(reducer_, 0, 0));
    absorb<First>(loaded, first);
  }

  TILEFOLD_D void add_item(std::int64_t i) {
    value_.put(reducer_.combine(value_.value, source_.lift(reducer_, i)));
  }

 private:
  __device__ static std::int64_t lane_first(std::int64_t tile_first) {
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    return tile_first + warp * (warp_size * Policy.vt) + lane * width;
  }

  // A thread meets its items, of which the first is number `first`, in the order of their indices.
  template <int First>
  TILEFOLD_D void absorb(const stripes_type& loaded, std::int64_t first) {
    if constexpr (Reducer::counts) {
      // Counted in a float, which is exact for a tile. Integer additions would use the same pipe
      // that unpacks and compares bytes, and that pipe is full.
      float count = 0;
#pragma unroll
      for (int i = First; i < Policy.vt; ++i) {
        if (loaded.lift(reducer_, i / width, i % width) != 0) count += 1.0f;
      }
      value_.put(value_.value + static_cast<unsigned>(count));
    } else if constexpr (Reducer::finds_places) {
      Reducer::visit_places(
          value_.value, best_of(loaded),
          place_search<Policy.vt, width, stripes_type, Source>{source_, loaded, first});
    } else {
#pragma unroll
      for (int i = First; i < Policy.vt; ++i) {
        loaded.absorb(reducer_, value_.value, i / width, i % width);
      }
    }
  }

  TILEFOLD_D auto best_of(const stripes_type& loaded) const {
    const auto values = reducer_.of_values();
    auto best = loaded.lift(values, 0, 0);
#pragma unroll
    for (int i = 1; i < Policy.vt; ++i) {
      best = values.combine(best, loaded.lift(values, i / width, i % width));
    }
    return best;
  }

  const Source& source_;
  const Reducer& reducer_;
  slot<acc> value_;
};

/// The fold of what the threads of a block hold, in its first warp.
template <int Nt, class Reducer, class Acc>
TILEFOLD_D Acc fold_threads(const Reducer& reducer, const Acc& mine, Acc* warp_values) {
  registers<Acc, 1> node;
  node.put(0, mine);
  const Acc of_warp = stripe_fold<1, 1, true, Reducer>(reducer, 0, 0).fold(node);
  return block_tree<Nt / warp_size, 1, true, Reducer>::fold(reducer, of_warp, warp_values, 0);
}

/// Tells those who fold a row that its value is settled.
struct settled_flag {
  volatile unsigned* raised;  // of all blocks of a range; nullptr: each block by itself

  /// The answer is the same for all lanes of a warp. Only a warp that settles by its own items
  /// writes the flag. If every warp that saw the flag wrote it again, thousands of warps would read
  /// and write one word in turn, and all would wait. Without a flag the threads of a block vote.
  TILEFOLD_D bool is_settled(bool mine, unsigned look) const {
    const bool looks = look % tiles_between_looks == 0;
    if (raised == nullptr) return looks && __syncthreads_or(mine);
    if (__any_sync(full_warp, mine)) {
      *raised = 1;
      return true;
    }
    return looks && __any_sync(full_warp, *raised != 0);
  }
};

/// Folds the tiles of one of `blocks` blocks in turn, until `settled` says that the value is.
template <tile_policy Policy, class Source, class Reducer>
TILEFOLD_D typename Reducer::accumulator fold_any_order(const Source& source,
                                                        const Reducer& reducer, std::int64_t n,
                                                        const settled_flag& settled, unsigned block,
                                                        unsigned blocks) {
  using running = running_fold<Policy, Source, Reducer>;
  running mine(source, reducer);
  const std::int64_t tiles = (n - running::overread_items(source)) / Policy.tile();
  mine.template add_tile<1>(std::int64_t{block} * Policy.tile());
  unsigned looks = 0;
#pragma unroll 1
  for (std::int64_t t = std::int64_t{block} + blocks; t < tiles; t += blocks) {
    if constexpr (Reducer::settles) {
      if (settled.is_settled(reducer.settled(mine.value()), looks++)) return mine.value();
    }
    mine.template add_tile<0>(t * Policy.tile());
  }
  const std::int64_t step = std::int64_t{blocks} * Policy.nt;
  for (std::int64_t i = tiles * Policy.tile() + std::int64_t{block} * Policy.nt + threadIdx.x;
       i < n; i += step) {
    mine.add_item(i);
  }
  return mine.value();
}

/// The fold of every row of a forest of one length, a tile and a packet at least for each block. A
/// range is one row. x of the grid is the row; of several blocks along y the last to arrive folds
/// the partials. `settled` is for one row whose accumulators settle: zero, or nullptr. The thread
/// that writes through `out` makes it zero again: all others have arrived then, and look no more.
template <class Build, int Nt, int Vt, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(Nt, min_resident_any_order_blocks(Nt, kept_bytes<Reducer>()))
    any_order_kernel(Forest forest, Reducer reducer, Init init, Out out, unsigned* settled,
                     scratch<typename Reducer::accumulator> memory) {
  using place = cleared_before<std::remove_cvref_t<decltype(out + std::int64_t{})>>;
  using blocks_fold = partials_fold<Nt, Reducer, Init, place>;
  __shared__ typename blocks_fold::shared_memory shared;
  cuda::refuse_flush_to_zero();
  const std::int64_t row = blockIdx.x;
  const unsigned block = blockIdx.y;
  const unsigned blocks = gridDim.y;
  const auto source = forest.tree(row);
  const auto mine = cuda::fold_any_order<tile_policy{Nt, Vt}>(source, reducer, forest.length,
                                                              settled_flag{settled}, block, blocks);
  const auto value =
      cuda::fold_threads<Nt>(reducer, mine, __builtin_addressof(shared.warp_values[0][0].value));
  const place to{out + row, Reducer::settles ? settled : nullptr};
  const blocks_fold of_row{reducer, init, to, shared};
  const scratch<typename Reducer::accumulator> partials{memory.partials + row * blocks,
                                                        memory.arrivals + row};
  of_row.write_node(value, partials.partials + block, blocks);
  of_row.climb_from(partials, block, block + 1, blocks);
}

/// A range as a forest of one row, used as it is: a `+` of the source's, which a range never
/// needed, may be for the host alone.
template <class Source>
struct one_row {
  using source_type = Source;

  Source source;
  std::int64_t length;

  TILEFOLD_HD const Source& tree(std::int64_t) const { return source; }
};

template <class Reducer>
struct any_order_launch {
  template <class Policy, int ItemBytes>
  static constexpr tile_policy policy =
      policy_or<Policy>(any_order_policy_for(ItemBytes, kept_bytes<Reducer>()));

  template <class Build, tile_policy Policy, class Forest, class Init, class Out>
  static auto ready(const Forest&, const Init&, const Out&, const device_info& gpu) {
    static known_kernel known;
    return known.on(
        gpu,
        &any_order_kernel<Build, Policy.nt, Policy.vt, Forest, closed_reducer<Reducer>, Init, Out>,
        "any_order_kernel", Policy.nt, starts::in_turn);
  }

  /// Launches the fold in any order of at least two tiles.
  template <class Build, tile_policy Policy, class Source, class Init, class Out,
            class WorkspaceFor>
  static void run(const range_job<Source, Reducer, Init, Out>& job,
                  const WorkspaceFor& workspace_for) {
    using acc = typename Reducer::accumulator;
    const one_output<Out> out{job.out};
    const one_row<Source> range{job.source, job.n};
    const auto kernel = ready<Build, Policy>(range, job.init, out, job.gpu);
    // A whole tile for each; loads that are shifted into place take a packet more, at most vt
    // items. And no more blocks than reduce() has tiles by default, for which there is workspace.
    constexpr tile_policy tiles = policy_for(item_bytes<Source>, static_cast<int>(sizeof(acc)));
    const std::int64_t blocks = kernel.most(detail::smaller(
        most_any_order_blocks, detail::smaller((job.n - Policy.vt) / Policy.tile(),
                                               tree::num_blocks(job.n, tiles.tile()))));
    const workspace_demand of_blocks = cuda::partials_demand(Policy, blocks, sizeof(acc));
    const workspace& space = workspace_for(
        Reducer::settles ? cuda::any_order_demand(Policy, blocks, sizeof(acc)) : of_blocks);
    const scratch<acc> memory = scratch_in<acc>(space);
    unsigned* const settled = memory.arrivals + of_blocks.arrival_bytes / arrival_bytes;
    kernel.launch(grid_shape{blocks, Policy.nt, false, 1}, job.stream, range, job.reducer, job.init,
                  out, settled, memory);
  }
};

}  // namespace tilefold::detail::cuda
