// SPDX-License-Identifier: Apache-2.0
//
// Trees of 2^k items, one after the other, are the nodes of level k of the neighbour tree over all
// items. So the kernel folds all items, stops at level k, and writes the nodes:
//
//     items      0 1 2 3   4 5 6 7   8 9 ..          trees of 2^2 items
//     level 1     a   b     c   d     ..
//     level 2      ab        cd                      the results: out[0], out[1]...
//     chunk      | stripe 0 | stripe 1 | ... |       stripes of 32 packets, as in tile_fold.cuh;
//                                                    warp w takes chunks w, w + warps...
//     small k    a packet holds whole trees: each lane folds and writes the trees of its packets
//     large k    a tree is packets of several lanes: stripe_fold merges them up to level k, and one
//                lane writes each node
//
// Trees that are staged come in chunks of stripes of cells (staged_stripes.cuh): a lane has a node
// of each stripe, and stripe_fold merges nodes as for large k.
#pragma once

#include <tilefold/detail/cuda/fold/staged_stripes.cuh>
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>
#include <tilefold/detail/cuda/fold/tile_fold.cuh>
#include <tilefold/detail/cuda/fold/tree_by_warp.cuh>

namespace tilefold::detail::cuda {

/// The nodes on the way to that of all stripes (stripe_merge.cuh); all lanes of a warp together.
template <int Stripes, int Width, bool Full, class Reducer>
class stripe_nodes : stripe_fold<Stripes, Width, Full, Reducer> {
  using base = stripe_fold<Stripes, Width, Full, Reducer>;
  using acc = typename base::acc;
  using base::count_, base::first_, base::lane_, base::reducer_;
  using base::is_upper, base::lane_right, base::received;
  using base::lane_bits, base::stripe_bits, base::stripe_items;

 public:
  using base::base;

  /// Calls keep(node, value) for every node of 2^bits packets, 2^bits <= 32 * Stripes, in one
  /// lane each; nodes are numbered from the first item on.
  template <class Keep>
  TILEFOLD_D void nodes(const registers<acc, Stripes>& values, int bits, const Keep& keep) const {
    nodes_of_stripes<0>(values, bits, keep);
  }

 private:
  // Calls keep() for this lane's node of 2^bits packets in stripe `stripe`, if it has items.
  template <class Keep>
  TILEFOLD_D void keep_node(int stripe, int bits, const acc& value, const Keep& keep) const {
    const int node = ((stripe << lane_bits) + lane_) >> bits;
    if (Full || (node << bits) * Width < count_) keep(node, value);
  }

  // Register i of N has 2^Bit lanes' node of stripe i * 2^Bit + lane % 2^Bit.
  template <int Bit, int N, class Keep>
  TILEFOLD_D void nodes_of_stripes(const registers<acc, N>& values, int bits,
                                   const Keep& keep) const {
    if (bits == Bit) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        keep_node((i << Bit) + (lane_ & ((1 << Bit) - 1)), bits, values[i], keep);
      }
    } else if constexpr (N > 1) {
      nodes_of_stripes<Bit + 1>(this->template merge_once<Bit>(values), bits, keep);
    } else {
      nodes_of_lanes<Bit>(values[0], bits, keep);
    }
  }

  // The lane holds a node of stripe lane % Stripes.
  template <int Bit, class Keep>
  TILEFOLD_D void nodes_of_lanes(const acc& value, int bits, const Keep& keep) const {
    const int stripe = lane_ & (Stripes - 1);
    if (bits == Bit) {
      if ((lane_ & ((1 << Bit) - 1)) < Stripes) keep_node(stripe, bits, value, keep);
    } else if constexpr (Bit < lane_bits) {
      nodes_of_lanes<Bit + 1>(
          cuda::combine_lanes<Full>(reducer_, value, received(value, 1 << Bit), is_upper(Bit),
                                    lane_right(Bit, stripe), count_),
          bits, keep);
    } else {
      nodes_of_stripe_groups<0>(value, bits - lane_bits, keep);
    }
  }

  // Every lane holds the node of 2^Bit stripes, that of stripe lane % Stripes among them.
  template <int Bit, class Keep>
  TILEFOLD_D void nodes_of_stripe_groups(const acc& value, int bits, const Keep& keep) const {
    const int stripe = lane_ & (Stripes - 1);
    if (bits == Bit) {
      if (lane_ == (stripe & -(1 << Bit))) keep_node(stripe, bits + lane_bits, value, keep);
    } else if constexpr (Bit < stripe_bits) {
      const int right = first_ + tree::right_half(stripe, Bit + 1) * stripe_items;
      nodes_of_stripe_groups<Bit + 1>(
          cuda::combine_lanes<Full>(reducer_, value, received(value, 1 << Bit), is_upper(Bit),
                                    right, count_),
          bits, keep);
    }
  }
};

/// One warp's work: the subtrees of packets that a warp loads into registers.
template <class Source, class Reducer, class Init, class Out>
class subtree_work {
  using acc = typename Reducer::accumulator;
  static constexpr int vt =
      cuda::chunk_tiles(item_bytes<Source>, Reducer::lifts_packets) * warp_policy<Source>.vt;
  static constexpr tile_shape shape = shape_of<acc>(vt, static_cast<const Source*>(nullptr));
  static constexpr int stripe_items = warp_size * shape.width;
  static constexpr int width_bits = tree::floor_log2(shape.width);

 public:
  static constexpr int least_length = 1;  // of a tree
  static constexpr bool for_all_warps = false;
  // Items of a chunk, whose stripes are in registers together.
  static constexpr int chunk_items = shape.stripes * stripe_items;
  static constexpr int nt = subtree_nt;
  static constexpr int resident_blocks = min_resident_subtree_blocks(sizeof(acc));
  struct warp_memory {};

  const Source& source;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  std::int64_t n;  // items of all trees

  /// Writes the nodes of level `level`, of no more items than a chunk, of chunks `c`, `c` + step...
  TILEFOLD_D void run(std::int64_t c, std::int64_t step, int level, warp_memory&) const {
    const std::int64_t whole = detail::larger(n - overread(), std::int64_t{0}) / chunk_items;
    if constexpr (loads_ahead) {
      if (!loaded_stripes::overreads(source)) c = whole_chunks_ahead(c, step, whole, level);
    }
    for (; c < whole; c += step) {
      loaded_stripes loaded;
      loaded.load_all(source, lane_first(c));
      write_nodes<true>(loaded, c, chunk_items, level);
    }
    for (; c * chunk_items < n; c += step) fold_cut_chunk(c, level);
  }

 private:
  using loaded_stripes = lane_stripes<Source, shape.stripes, shape.width>;
  // Whether two chunks of items leave registers for the rest, and items are plain words.
  static constexpr bool loads_ahead = pays_to_load_chunks_ahead(sizeof(acc), shape.width);

  TILEFOLD_D int overread() const { return loaded_stripes::overreads(source) ? shape.width : 0; }

  TILEFOLD_D static std::int64_t lane_first(std::int64_t c) {
    return c * chunk_items + lane_of_thread() * shape.width;
  }

  // Folds whole chunks; the next one is loaded while one is folded. Returns the first cut chunk.
  TILEFOLD_D std::int64_t whole_chunks_ahead(std::int64_t c, std::int64_t step, std::int64_t whole,
                                             int level) const {
    if (c >= whole) return c;
    // Then the compiler leaves out the code for misaligned memory.
    const bool aligned = !loaded_stripes::overreads(source);
    __builtin_assume(aligned);
    return cuda::stream_ahead<loaded_stripes>(
        c,
        [&](std::int64_t& next) {
          next += step;
          return next < whole;
        },
        [&](std::int64_t at) {
          loaded_stripes stripes;
          stripes.load_all(source, lane_first(at));
          return stripes;
        },
        [&](const loaded_stripes& stripes, std::int64_t at) {
          write_nodes<true>(stripes, at, chunk_items, level);
        });
  }

  TILEFOLD_D void fold_cut_chunk(std::int64_t c, int level) const {
    const auto count =
        static_cast<int>(detail::smaller(n - c * chunk_items, std::int64_t{chunk_items}));
    loaded_stripes loaded;
#pragma unroll
    for (int r = 0; r < shape.stripes; ++r) {
      loaded.load_one(source, lane_first(c) + r * stripe_items, r,
                      count - lane_of_thread() * shape.width - r * stripe_items);
    }
    write_nodes<false>(loaded, c, count, level);
  }

  template <bool Full>
  TILEFOLD_D void write_nodes(const loaded_stripes& loaded, std::int64_t c, int count,
                              int level) const {
    const std::int64_t first = c * chunk_items;
    nodes<Full>(loaded, count, level, [&](int node, const acc& value) {
      cuda::write(out + ((first >> level) + node), detail::finish(reducer, init, value));
    });
  }

  // Calls keep(node, value) for every node of `level` among the `count` items that are loaded.
  template <bool Full, class Keep>
  TILEFOLD_D void nodes(const loaded_stripes& loaded, int count, int level,
                        const Keep& keep) const {
    if (level < width_bits) {
#pragma unroll
      for (int r = 0; r < shape.stripes; ++r) {
        packet_nodes<0, shape.width, Full>(cuda::lift_packet<Full>(reducer, loaded, r, count),
                                           cuda::packet_first<shape.width>(r), count, level, keep);
      }
      return;
    }
    const auto stripes = cuda::fold_packets<Full>(reducer, loaded, count);
    stripe_nodes<shape.stripes, shape.width, Full, Reducer>(reducer, 0, count)
        .nodes(stripes, level - width_bits, keep);
  }

  // Calls keep() for the nodes of a level below that of a packet, which starts at item `first`; its
  // items are nodes of level Level. This is a recursion, because in a loop over levels the compiler
  // would put the values into local memory.
  template <int Level, int N, bool Full, class Keep>
  TILEFOLD_D void packet_nodes(const registers<acc, N>& items, int first, int count, int level,
                               const Keep& keep) const {
    if (level == Level) {
#pragma unroll
      for (int j = 0; j < N; ++j) {
        const int item = first + (j << Level);
        if (Full || item < count) keep(item >> Level, items[j]);
      }
    } else if constexpr (N > 1) {
      registers<acc, N / 2> halves;
#pragma unroll
      for (int j = 0; j < N; j += 2) {
        halves.put(j / 2, cuda::combine<Full>(reducer, items[j], items[j + 1],
                                              first + ((j + 1) << Level), count));
      }
      packet_nodes<Level + 1, N / 2, Full>(halves, first, count, level, keep);
    }
  }
};

/// One warp's work: the subtrees of cells that a warp stages.
template <class Source, class Reducer, class Init, class Out>
class staged_subtree_work {
  using acc = typename Reducer::accumulator;

 public:
  using stripes_type = staged_stripes<Source, Reducer>;
  static constexpr staged_shape shape = staged_shape_of<Source, Reducer>;
  // Items of a tree at least and at most.
  static constexpr std::int64_t least_length =
      stages_trees<Source, Reducer>
          ? shape.cell
          : detail::larger(std::int64_t{shape.cell},
                           ceil_div(least_staged_struct_tree_bytes, staged_bytes<Source>));
  static constexpr int chunk_items = shape.stripes * stripes_type::items;
  static constexpr bool for_all_warps = true;  // only if there is a chunk for each
  static constexpr int nt = shape.nt;
  static constexpr int resident_blocks = shape.blocks;
  struct warp_memory {
    typename stripes_type::stage stages[2];
  };

  const Source& source;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  std::int64_t n;  // items of all trees

  /// Writes the nodes of level `level` of chunks `g`, `g` + step...; n is a multiple of 2^level.
  TILEFOLD_D void run(std::int64_t g, std::int64_t step, int level, warp_memory& memory) const {
    const stripes_type stripes(source, reducer, memory.stages);
    const std::int64_t whole = (n - stripes.overread_items()) / chunk_items;
    if (g < whole) {
      const among_equals<Reducer> equals{reducer};
      stripes.template chunks<shape.stripes>(
          g * chunk_items, step * chunk_items, g, whole, step,
          [&](const registers<acc, shape.stripes>& nodes, std::int64_t at) {
            stripe_nodes<shape.stripes, shape.cell, true, among_equals<Reducer>>(equals, 0, 0)
                .nodes(nodes, level - tree::floor_log2(shape.cell),
                       [&](int node, const acc& value) {
                         write_tree(((at * chunk_items) >> level) + node, value);
                       });
          });
    }
    // The rest is less than a chunk, or a little more if a last whole stripe would have overread.
    for (std::int64_t t = (whole * chunk_items >> level) + g; t < n >> level; t += step) {
      const acc value =
          cuda::fold_stretches_by_warp(source, reducer, t << level, std::int64_t{1} << level, n);
      if (threadIdx.x % warp_size == 0) write_tree(t, value);
    }
  }

 private:
  TILEFOLD_D void write_tree(std::int64_t t, const acc& value) const {
    cuda::write(out + t, detail::finish(reducer, init, value));
  }
};

/// Folds trees of 2^level items, at most what a chunk of `Work` holds; of n items in all.
template <class Build, template <class, class, class, class> class Work, class Source,
          class Reducer, class Init, class Out>
__global__ void __launch_bounds__((Work<Source, Reducer, Init, Out>::nt),
                                  (Work<Source, Reducer, Init, Out>::resident_blocks))
    subtree_kernel(Source source, Reducer reducer, Init init, Out out, std::int64_t n, int level) {
  using work_type = Work<Source, Reducer, Init, Out>;
  constexpr int num_warps = work_type::nt / warp_size;
  __shared__ typename work_type::warp_memory memory[num_warps];
  cuda::wait_for_previous_launch();
  const int warp = warp_of_thread();
  const work_type work{source, reducer, init, out, n};
  const int warps_per_block = static_cast<int>(blockDim.x) / warp_size;
  work.run(std::int64_t{blockIdx.x} * warps_per_block + warp,
           std::int64_t{gridDim.x} * warps_per_block, level, memory[warp]);
}

}  // namespace tilefold::detail::cuda
