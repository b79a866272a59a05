// SPDX-License-Identifier: Apache-2.0
//
// Trees that stand side by side, as the columns of a matrix, in one launch. A bundle is the `Width`
// neighbouring columns that one load brings. Here a block takes 4 bundles side by side, a panel:
//
//     columns    bundle 0   bundle 1   bundle 2   bundle 3  |  next panel
//     stretch 0  thread 0   thread 1   thread 2   thread 3     a thread folds its bundle, down the
//     stretch 1  thread 4   thread 5   thread 6   thread 7     rows of its stretch: a set of rows
//     stretch 2  thread 8 ...                                  at a time, with a stack of nodes
//     slice      all stretches of a block: thread 0 takes the value of thread 4, and 8 that of 12;
//                then 0 takes that of 8, and so on, through shared memory
//     panel      slice 0 above slice 1 above slice 2...; several leave partials, which are rows of
//                the next level: the block that completes a group of partials folds it
//
// As many blocks as the GPU holds share the slices. Stretches, slices and groups are aligned powers
// of two of rows, so this is the neighbour tree of each column by itself.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include <tilefold/detail/core/extremes.hpp>
#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/base/tuning.cuh>
#include <tilefold/detail/cuda/base/words.cuh>
#include <tilefold/detail/cuda/columns/tuning_columns.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/load/columns.cuh>
#include <tilefold/reducer.hpp>

namespace tilefold::detail::cuda {

// Defined in exact_narrow.cuh, which reducers/exact.hpp brings. Left undefined here, so that a
// missing include is a compile error.
template <class Number, class State>
class lane_sum;

/// What is known of the rows of an aligned set, beyond their axes.
enum class row_steps {
  uneven,    // nothing
  even,      // they have one stride
  in_a_row,  // it is 1, and sets are aligned as loads are
};

/// Rows with one stride.
struct even_rows {
  std::int64_t step;

  __device__ __forceinline__ row_steps steps() const { return row_steps::even; }
  __device__ __forceinline__ std::int64_t offset(std::int64_t row) const { return row * step; }
  __device__ __forceinline__ std::int64_t inner_stride() const { return step; }
};

/// Rows of several axes.
struct any_rows {
  const strided_axes& axes;
  row_steps known;

  __device__ __forceinline__ row_steps steps() const { return known; }
  __device__ __forceinline__ std::int64_t offset(std::int64_t row) const {
    return axes.offset(row);
  }
  __device__ __forceinline__ std::int64_t inner_stride() const { return axes.inner_stride(); }
};

/// A thread's fold of stretches of up to 2^Levels sets of Rows rows. The rows of a set are loaded
/// at once, a bundle of each, and folded; the nodes of sets meet on a stack.
template <class Source, class Axes, int Rows, int Levels, int Width, class Reducer>
class column_stretch {
  using acc = typename Reducer::accumulator;
  using stack = registers<acc, (Levels + 1) * Width>;

 public:
  using node = registers<acc, Width>;

  const Source& source;
  const Axes rows;
  const Reducer& reducer;

  /// The nodes of rows [first, first + n), an aligned block of up to Rows << Levels, of the columns
  /// that start at element `origin`; n >= 1.
  __device__ __forceinline__ void operator()(node& result, std::int64_t origin, std::int64_t first,
                                             int n) const {
    if constexpr (sums_exactly<Reducer>) {
      sum_exactly(result, origin, first, n);
      return;
    }
    stack waiting;
    const int sets = n / Rows;
#pragma unroll 1
    for (int c = 0; c < sets; ++c) {
      node value;
      fold_set<Rows>(value, origin, first + c * Rows);
      push<0>(waiting, c, value);
    }
    bool any = false;
    fold_rest<1>(result, any, origin, first, n);
#pragma unroll
    for (int level = 0; level <= Levels; ++level) {
      if ((sets >> level) & 1) join(waiting, level, result, any);
    }
  }

 private:
  // operator() of exact sums, which add rows in any order.
  __device__ __forceinline__ void sum_exactly(node& result, std::int64_t origin, std::int64_t first,
                                              int n) const {
    using lifts_type = closed_reducer<decltype(reducer.of_summands())>;
    using number = typename lifts_type::accumulator;
    const lifts_type lifts{reducer.of_summands(), reducer.closing};
    slot<lane_sum<number, decltype(Reducer::no_exact_sum())>> sums[Width];
#pragma unroll
    for (int j = 0; j < Width; ++j) sums[j].put({});
    int row = 0;
#pragma unroll 1
    for (; row + Rows <= n; row += Rows) add_rows<Rows>(sums, lifts, origin, first + row);
#pragma unroll 1
    for (; row < n; ++row) add_rows<1>(sums, lifts, origin, first + row);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      result.put(j, Reducer::of_exact_sum(sums[j].value.state(), n));
    }
  }
  template <int N, class Sums, class Lifts>
  __device__ __forceinline__ void add_rows(Sums& sums, const Lifts& lifts, std::int64_t origin,
                                           std::int64_t first) const {
    bundles<N> loaded;
    load<N>(loaded, origin, first);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      registers<typename Lifts::accumulator, N> items;
#pragma unroll
      for (int r = 0; r < N; ++r) items.put(r, loaded.lift(lifts, r, j));
      sums[j].value.add(items);
    }
  }

  // The rows after the last whole set, cut into aligned blocks of smaller and smaller powers of
  // two; the last one first, since each meets what is on its right.
  template <int Block>
  __device__ __forceinline__ void fold_rest(node& result, bool& any, std::int64_t origin,
                                            std::int64_t first, int n) const {
    if constexpr (Block < Rows) {
      if (n & Block) {
        stack block;
        fold_set<Block>(block, origin, first + (n & ~(2 * Block - 1)));
        join(block, 0, result, any);
      }
      fold_rest<2 * Block>(result, any, origin, first, n);
    }
  }

  // The nodes of `level` stand to the left of `result`, if there is any yet.
  __device__ __forceinline__ void join(const stack& nodes, int level, node& result,
                                       bool& any) const {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      const acc& left = nodes[level * Width + j];
      result.put(j, any ? reducer.combine(left, result[j]) : left);
    }
    any = true;
  }

  template <int N>
  using bundles = column_bundles<Source, N, Width>;

  template <int N>
  __device__ __forceinline__ void load(bundles<N>& to, std::int64_t origin,
                                       std::int64_t first) const {
    if constexpr (Width == 1 && N == Rows) {
      if (rows.steps() == row_steps::in_a_row) {
        to.load_rows(source, origin + rows.offset(first), first);
        return;
      }
    }
    if (rows.steps() != row_steps::uneven) {
      const std::int64_t at = origin + rows.offset(first);
      const std::int64_t step = rows.inner_stride();
#pragma unroll
      for (int r = 0; r < N; ++r) to.load_part(source, at + r * step, r, first + r);
    } else {
#pragma unroll
      for (int r = 0; r < N; ++r) {
        to.load_part(source, origin + rows.offset(first + r), r, first + r);
      }
    }
  }

  template <int N, class Nodes>
  __device__ __forceinline__ void fold_set(Nodes& result, std::int64_t origin,
                                           std::int64_t first) const {
    bundles<N> loaded;
    load<N>(loaded, origin, first);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      result.put(j, lane_tree<acc>::template whole<N>(
                        0, [&](int r) { return loaded.lift(reducer, r, j); },
                        [&](const acc& a, const acc& b) { return reducer.combine(a, b); }));
    }
  }

  // Set c's nodes meet those that wait.
  template <int Level>
  __device__ __forceinline__ void push(stack& waiting, int c, node& value) const {
    if constexpr (Level < Levels) {
      if ((c >> Level) & 1) {
#pragma unroll
        for (int j = 0; j < Width; ++j) {
          value.put(j, reducer.combine(waiting[Level * Width + j], value[j]));
        }
        push<Level + 1>(waiting, c, value);
        return;
      }
    }
#pragma unroll
    for (int j = 0; j < Width; ++j) waiting.put(Level * Width + j, value[j]);
  }
};

/// How bundles and rows are dealt out. A panel is the bundles that a block takes side by side, a
/// slice those of as many rows as it takes at a time.
struct column_plan {
  std::int64_t bundles;  // of all columns
  std::int64_t panels;
  std::int64_t rows;
  std::int64_t slices;
  int bundle_bits;   // bundles of a panel, as a power of two
  int stretch_rows;  // rows of a thread
  row_steps steps;   // of aligned sets of rows
  bool stores_bundles;
};

/// Partials of one column that a block of `nt` threads folds at once.
TILEFOLD_HD inline unsigned partial_group(int nt, int bundle_bits) {
  return static_cast<unsigned>((nt >> bundle_bits) * partial_rows);
}

/// Whether the results of a bundle may be stored at once.
template <class Out, int Width>
inline constexpr bool may_store_bundles = false;
template <class T, int Width>
inline constexpr bool may_store_bundles<strided_output<T*>, Width> =
    is_one_load<T, Width> && std::is_arithmetic_v<T>;

/// One block's work.
template <int Nt, int Rows, int Width, class Forest, class Reducer, class Init, class Out>
class column_work {
  using acc = typename Reducer::accumulator;
  using row_axes = std::conditional_t<(Width > 1), even_rows, any_rows>;
  using stretch_type =
      column_stretch<typename Forest::source_type, row_axes, Rows, stretch_levels, Width, Reducer>;
  using node = typename stretch_type::node;
  using partials_source = detail::source<const acc*>;
  using group_reducer = partials_reducer<Reducer>;
  using group_stretch =
      column_stretch<partials_source, even_rows, partial_rows, 0, Width, group_reducer>;

 public:
  struct shared_memory {
    slot<acc> values[Width][Nt];
    bool completed;
  };

  const Forest& forest;
  const Reducer& reducer;
  const Init& init;
  const Out& out;
  const column_plan& plan;
  shared_memory& shared;

  /// Slices [begin, end) of all panels, counted panel by panel.
  __device__ __forceinline__ void fold_slices(unsigned begin, unsigned end,
                                              scratch<acc> memory) const {
    const auto slices = static_cast<unsigned>(plan.slices);
    unsigned panel = begin / slices;
    unsigned slice = begin - panel * slices;
    for (unsigned s = begin; s < end; ++s) {
      fold_slice(panel, slice, memory);
      if (++slice == slices) {
        slice = 0;
        ++panel;
      }
    }
    if (slices == 1) return;
    const auto group = cuda::partial_group(Nt, plan.bundle_bits);
    for (unsigned s = begin; s < end;) {
      const unsigned first = s / slices * slices;
      const unsigned g = (s - first) / group;
      const unsigned next = (min)(end, first + (min)(slices, (g + 1) * group));
      climb(s / slices, g, next - s, memory);
      s = next;
    }
  }

 private:
  // Bundles are taken where rows have one stride.
  __device__ __forceinline__ row_axes rows_of_forest() const {
    if constexpr (Width > 1) {
      return {forest.rows.stride[0]};
    } else {
      return {forest.rows, plan.steps};
    }
  }
  __device__ __forceinline__ int bundle_in_panel() const {
    return static_cast<int>(threadIdx.x) & ((1 << plan.bundle_bits) - 1);
  }
  __device__ __forceinline__ int stretch_in_block() const {
    return static_cast<int>(threadIdx.x) >> plan.bundle_bits;
  }

  __device__ __forceinline__ void fold_slice(std::int64_t panel, std::int64_t slice,
                                             const scratch<acc>& memory) const {
    const std::int64_t bundle = (panel << plan.bundle_bits) + bundle_in_panel();
    const bool exists = bundle < plan.bundles;
    const std::int64_t origin = exists ? forest.columns.offset(bundle * Width) : 0;
    const auto slice_rows = std::int64_t{(Nt >> plan.bundle_bits) * plan.stretch_rows};
    const stretch_type fold{forest.source, rows_of_forest(), reducer};
    node value;
    fold_rows(value, fold, exists, origin, slice * slice_rows,
              detail::smaller(slice_rows, plan.rows - slice * slice_rows), plan.stretch_rows);
    if (!exists || stretch_in_block() != 0) return;
    if (plan.slices == 1) {
      write_bundle(value, bundle);
    } else {
      keep_partial(memory.partials, slice, bundle, value);
    }
  }

  // In the threads of the first stretch `value` becomes the nodes of `rows` rows from `first` on.
  template <class Fold>
  __device__ __forceinline__ void fold_rows(node& value, const Fold& fold, bool exists,
                                            std::int64_t origin, std::int64_t first,
                                            std::int64_t rows, int stretch_rows) const {
    const int my_stretch = stretch_in_block();
    const std::int64_t left = rows - std::int64_t{my_stretch} * stretch_rows;
    const bool has_rows = exists && left > 0;
    if (has_rows) {
      fold(value, origin, first + std::int64_t{my_stretch} * stretch_rows,
           static_cast<int>(detail::smaller(left, std::int64_t{stretch_rows})));
    }
    for (int step = 1; std::int64_t{step} * stretch_rows < rows; step *= 2) {
      const int place = my_stretch & (2 * step - 1);
      if (has_rows && place == step) {
#pragma unroll
        for (int j = 0; j < Width; ++j) shared.values[j][threadIdx.x].put(value[j]);
      }
      __syncthreads();
      if (has_rows && place == 0 && std::int64_t{step} * stretch_rows < left) {
        const int other = static_cast<int>(threadIdx.x) + (step << plan.bundle_bits);
#pragma unroll
        for (int j = 0; j < Width; ++j) {
          value.put(j, reducer.combine(value[j], shared.values[j][other].value));
        }
      }
    }
    __syncthreads();  // the values are free again
  }

  __device__ __forceinline__ void keep_partial(acc* partials, std::int64_t slice,
                                               std::int64_t bundle, const node& value) const {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      ::new (static_cast<void*>(partials + (slice * plan.bundles + bundle) * Width + j))
          acc(value[j]);
    }
  }

  // Arrives at group `g` of a panel's partials with `arrived` of them, and climbs. Apart, because
  // the kernel's registers are for the rows.
  __device__ TILEFOLD_APART void climb(unsigned panel, unsigned g, unsigned arrived,
                                       scratch<acc> memory) const {
    const std::int64_t bundle = (std::int64_t{panel} << plan.bundle_bits) + bundle_in_panel();
    const bool exists = bundle < plan.bundles;
    const bool keeps = exists && stretch_in_block() == 0;
    const even_rows rows{plan.bundles * Width};
    const group_reducer partials{reducer};
    const grid_tree<acc> slices{{memory.partials, memory.arrivals + panel},
                                static_cast<unsigned>(plan.slices),
                                cuda::partial_group(Nt, plan.bundle_bits),
                                plan.bundles * Width,
                                static_cast<unsigned>(plan.panels)};
    __syncthreads();  // the partials are there before the first thread tells so
    slices.climb(g, arrived, shared.completed, [&](const complete_group<acc>& group) {
      node value;
      fold_rows(value, group_stretch{partials_source{{group.partials}}, rows, partials}, exists,
                bundle * Width, group.first, group.size, partial_rows);
      if (keeps) {
        if (group.neighbors == 1) {
          write_bundle(value, bundle);
        } else {
          keep_partial(group.above, group.number, bundle, value);
        }
      }
      __syncthreads();  // the partials above are there, too
    });
  }

  __device__ __forceinline__ void write_bundle(const node& value, std::int64_t bundle) const {
    if constexpr (may_store_bundles<Out, Width>) {
      if (plan.stores_bundles) {
        using item = typename Out::value_type;
        struct {
          item of[Width];
        } results;
#pragma unroll
        for (int j = 0; j < Width; ++j) {
          results.of[j] = detail::output_value<item*>(detail::finish(reducer, init, value[j]));
        }
        using stored = cuda::packet<Width* static_cast<int>(sizeof(item))>;
        reinterpret_cast<stored*>(out.first)[bundle] = __builtin_bit_cast(stored, results);
        return;
      }
    }
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      cuda::write(out + (bundle * Width + j), detail::finish(reducer, init, value[j]));
    }
  }
};

// The strides are read where the launch put them: a copy that is indexed would lie in local memory.
template <class Build, int Nt, int Rows, int Width, class Forest, class Reducer, class Init,
          class Out>
__global__ void __launch_bounds__(
    Nt, min_resident_column_blocks(Nt, Width * sizeof(typename Reducer::accumulator)))
    columns_kernel(const __grid_constant__ Forest forest, Reducer reducer, Init init,
                   const __grid_constant__ Out out, const __grid_constant__ column_plan plan,
                   tile_shares shares, scratch<typename Reducer::accumulator> memory) {
  using work_type = column_work<Nt, Rows, Width, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  cuda::refuse_flush_to_zero();
  work_type{forest, reducer, init, out, plan, shared}.fold_slices(
      shares.first(blockIdx.x), shares.first(blockIdx.x + 1), memory);
}

}  // namespace tilefold::detail::cuda
