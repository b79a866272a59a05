// SPDX-License-Identifier: Apache-2.0
//
// Trees that stand side by side, as the columns of a matrix, in one launch. A bundle is the `Width`
// neighbouring columns that one load brings. Here a block takes 4 bundles side by side, a panel:
//
//     columns    bundle 0   bundle 1   bundle 2   bundle 3  |  next panel
//     stretch 0  thread 0   thread 1   thread 2   thread 3     a thread folds its bundle, down the
//     stretch 1  thread 4   thread 5   thread 6   thread 7     items of its stretch: a set of items
//     stretch 2  thread 8 ...                                  at a time, while the next one loads,
//                                                              with a stack of nodes
//     slice      all stretches of a block: thread 0 takes the value of thread 4, and 8 that of 12;
//                then 0 takes that of 8, and so on, through shared memory
//     panel      slice 0 above slice 1 above slice 2...; several leave partials, which are items of
//                the next level: the block that completes a group of partials folds it
//
// As many blocks as the GPU holds share the slices. Stretches, slices and groups are aligned powers
// of two of items, so this is the neighbour tree of each column by itself. Columns of up to 8 items
// have a kernel of their own: a thread folds a bundle, without shared memory.
#pragma once

#include <tilefold/detail/core/strided.hpp>
#include <tilefold/detail/cuda/columns/tuning_columns.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>
#include <tilefold/detail/cuda/fold/lane_tree.cuh>
#include <tilefold/detail/cuda/load/columns.cuh>

namespace tilefold::detail::cuda {

// Defined in exact_narrow.cuh, which reducers/exact.hpp brings. Left undefined here, so that a
// missing include is a compile error.
template <class Number, class State>
class lane_sum;

/// What is known of how the items of an aligned set lie, beyond their axes.
enum class item_steps {
  uneven,    // nothing
  even,      // they have one stride
  in_a_row,  // it is 1, and sets are aligned as loads are
};

/// Items with one stride.
struct even_items {
  std::int64_t step;

  TILEFOLD_D item_steps steps() const { return item_steps::even; }
  TILEFOLD_D std::int64_t offset(std::int64_t item) const { return item * step; }
  TILEFOLD_D std::int64_t inner_stride() const { return step; }
};

/// Items of several axes.
struct any_items {
  const strided_axes& axes;
  item_steps known;

  TILEFOLD_D item_steps steps() const { return known; }
  TILEFOLD_D std::int64_t offset(std::int64_t item) const { return axes.offset(item); }
  TILEFOLD_D std::int64_t inner_stride() const { return axes.inner_stride(); }
};

/// A thread's fold of stretches of up to 2^Levels sets of `Items` items. The items of a set are
/// loaded at once, a bundle of each, and folded; the nodes of sets meet on a stack.
template <class Source, class Axes, int Items, int Levels, int Width, class Reducer>
class column_stretch {
  using acc = typename Reducer::accumulator;
  using stack = registers<acc, (Levels + 1) * Width>;

 public:
  static constexpr bool loads_while_folding =
      pays_to_load_while_folding(Items * Width * item_bytes<Source>, Width * sizeof(acc));
  using node = registers<acc, Width>;

  const Source& source;
  const Axes items;
  const Reducer& reducer;

  /// Items [first, first + n) of the columns that start at element `origin`: an aligned block of up
  /// to Items << Levels items, or nothing.
  struct place {
    std::int64_t origin;
    std::int64_t first;
    int n;
  };

  /// A set that is loaded before it is needed, where that pays.
  struct set {
    column_bundles<Source, Items, Width> items;
  };
  struct nothing_ahead {};
  using next_set = std::conditional_t<loads_while_folding, set, nothing_ahead>;

  /// Loads the first set of a place, if it has a whole one.
  TILEFOLD_D void load_ahead(next_set& ahead, const place& at) const {
    if constexpr (loads_while_folding && !sums_exactly<Reducer>) {
      if (at.n >= Items) load<Items>(ahead.items, at.origin, at.first);
    }
  }

  /// The nodes of a place that has items. `ahead` holds its first set, if it has a whole one;
  /// afterwards that of the place `after` it.
  TILEFOLD_D void operator()(node& result, const place& at, next_set& ahead,
                             const place& after) const {
    if constexpr (sums_exactly<Reducer>) {
      sum_exactly(result, at.origin, at.first, at.n);
      return;
    }
    stack waiting;
    const int sets = at.n / Items;
    if constexpr (loads_while_folding) {
      if (sets == 0) load_ahead(ahead, after);
#pragma unroll 1
      for (int c = 0; c < sets; ++c) {
        const auto loaded = ahead.items;
        const place next =
            c + 1 < sets ? place{at.origin, at.first + (c + 1) * Items, Items} : after;
        node value;
        load_ahead(ahead, next);
        fold_set<Items>(value, loaded);
        push<0>(waiting, c, value);
      }
    } else {
#pragma unroll 1
      for (int c = 0; c < sets; ++c) {
        bundles<Items> loaded;
        load<Items>(loaded, at.origin, at.first + c * Items);
        node value;
        fold_set<Items>(value, loaded);
        push<0>(waiting, c, value);
      }
    }
    bool any = false;
    if (at.n % Items != 0) fold_rest<1>(result, any, at.origin, at.first, at.n);
#pragma unroll
    for (int level = 0; level <= Levels; ++level) {
      if ((sets >> level) & 1) join(waiting, level, result, any);
    }
  }

  /// The same of one set or a part of it, with nothing loaded ahead.
  TILEFOLD_D void operator()(node& result, const place& at) const
    requires(Levels == 0)
  {
    if constexpr (sums_exactly<Reducer>) {
      sum_exactly(result, at.origin, at.first, at.n);
    } else if (at.n == Items) {
      bundles<Items> loaded;
      load<Items>(loaded, at.origin, at.first);
      fold_set<Items>(result, loaded);
    } else {
      bool any = false;
      fold_rest<1>(result, any, at.origin, at.first, at.n);
    }
  }

 private:
  // operator() of exact sums, which add items in any order.
  TILEFOLD_D void sum_exactly(node& result, std::int64_t origin, std::int64_t first, int n) const {
    using lifts_type = closed_reducer<decltype(reducer.of_summands())>;
    using number = typename lifts_type::accumulator;
    const lifts_type lifts{reducer.of_summands(), reducer.closing};
    slot<lane_sum<number, decltype(Reducer::no_exact_sum())>> sums[Width];
#pragma unroll
    for (int j = 0; j < Width; ++j) sums[j].put({});
    int item = 0;
#pragma unroll 1
    for (; item + Items <= n; item += Items) add_items<Items>(sums, lifts, origin, first + item);
#pragma unroll 1
    for (; item < n; ++item) add_items<1>(sums, lifts, origin, first + item);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      result.put(j, Reducer::of_exact_sum(sums[j].value.state(), n));
    }
  }
  template <int N, class Sums, class Lifts>
  TILEFOLD_D void add_items(Sums& sums, const Lifts& lifts, std::int64_t origin,
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

  // The items after the last whole set, cut into aligned blocks of smaller and smaller powers of
  // two; the last one first, since each meets what is on its right.
  template <int Size>
  TILEFOLD_D void fold_rest(node& result, bool& any, std::int64_t origin, std::int64_t first,
                            int n) const {
    if constexpr (Size < Items) {
      if (n & Size) {
        bundles<Size> loaded;
        load<Size>(loaded, origin, first + (n & ~(2 * Size - 1)));
        stack nodes;
        fold_set<Size>(nodes, loaded);
        join(nodes, 0, result, any);
      }
      fold_rest<2 * Size>(result, any, origin, first, n);
    }
  }

  // The nodes of `level` stand to the left of `result`, if there is any yet.
  TILEFOLD_D void join(const stack& nodes, int level, node& result, bool& any) const {
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
  TILEFOLD_D void load(bundles<N>& to, std::int64_t origin, std::int64_t first) const {
    if constexpr (Width == 1 && N == Items) {
      if (items.steps() == item_steps::in_a_row) {
        to.load_all(source, origin + items.offset(first), first);
        return;
      }
    }
    if (items.steps() != item_steps::uneven) {
      const std::int64_t at = origin + items.offset(first);
      const std::int64_t step = items.inner_stride();
#pragma unroll
      for (int r = 0; r < N; ++r) to.load_one(source, at + r * step, r, first + r);
    } else {
#pragma unroll
      for (int r = 0; r < N; ++r) {
        to.load_one(source, origin + items.offset(first + r), r, first + r);
      }
    }
  }

  template <int N, class Nodes>
  TILEFOLD_D void fold_set(Nodes& result, const bundles<N>& loaded) const {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      result.put(j, lane_tree<acc>::template whole<N>(
                        0, [&](int r) { return loaded.lift(reducer, r, j); },
                        [&](const acc& a, const acc& b) { return reducer.combine(a, b); }));
    }
  }

  // Set c's nodes meet those that wait.
  template <int Level>
  TILEFOLD_D void push(stack& waiting, int c, node& value) const {
    if constexpr (Level < Levels) {
      if ((c >> Level) & 1) {
#pragma unroll
        for (int j = 0; j < Width; ++j) {
          value.put(j, reducer.combine_equals(waiting[Level * Width + j], value[j]));
        }
        push<Level + 1>(waiting, c, value);
        return;
      }
    }
#pragma unroll
    for (int j = 0; j < Width; ++j) waiting.put(Level * Width + j, value[j]);
  }
};

/// How bundles and items are dealt out. A panel is the bundles that a block takes side by side, a
/// slice those of as many items as it takes at a time.
struct column_plan {
  std::int64_t bundles;  // of all columns
  std::int64_t panels;
  std::int64_t items;
  std::int64_t slices;
  int bundle_bits;       // bundles of a panel, as a power of two
  int items_of_stretch;  // items of a thread
  item_steps steps;      // of aligned sets of items
  bool stores_bundles;
};

/// Partials of one column that a block of `nt` threads folds at once.
TILEFOLD_HD inline unsigned partial_group(int nt, int bundle_bits) {
  return static_cast<unsigned>((nt >> bundle_bits) * partials_of_thread);
}

/// Stores neighbouring numbers, in memory that is aligned to all of their bytes.
template <class T, int Width>
TILEFOLD_D void store_row(T* to, const T (&row)[Width]) {
  constexpr int bytes = Width * static_cast<int>(sizeof(T));
  constexpr int stored = detail::smaller(bytes, load_bytes);
  static_assert(bytes % stored == 0 && (stored & (stored - 1)) == 0);
  struct {
    T of[Width];
  } numbers;
  struct stores {
    packet<stored> of[bytes / stored];
  };
#pragma unroll
  for (int j = 0; j < Width; ++j) numbers.of[j] = row[j];
  const auto packets = __builtin_bit_cast(stores, numbers);
#pragma unroll
  for (int i = 0; i < bytes / stored; ++i) reinterpret_cast<packet<stored>*>(to)[i] = packets.of[i];
}

/// An output of ours that stores neighbouring results at once where its memory is aligned to their
/// bytes. It says so: a user's may have members of these names.
template <class It, int Width>
concept stores_rows = std::same_as<typename It::stores_rows_tag, It> &&
                      requires(const It& it, const std::iter_value_t<It> (&row)[Width]) {
                        it.store_row(row);
                        { it.is_aligned(Width) } -> std::same_as<bool>;
                      };

/// Whether the results of a bundle may be stored at once.
template <class Out, int Width>
inline constexpr bool may_store_bundles = false;
template <class It, int Width>
  requires(Width > 1)
inline constexpr bool may_store_bundles<strided_output<It>, Width> = stores_rows<It, Width>;
template <class T, int Width>
  requires(Width > 1)
inline constexpr bool may_store_bundles<strided_output<T*>, Width> =
    std::is_arithmetic_v<T> && sizeof(T) <= 8 && Width * sizeof(T) >= 4;  // a word or more

/// Writes the results of a bundle, at once where `at_once` says that it may.
template <int Width, class Acc, class Reducer, class Init, class Out>
TILEFOLD_D void write_bundle(const registers<Acc, Width>& value, std::int64_t bundle,
                             const Reducer& reducer, const Init& init, const Out& out,
                             bool at_once) {
  if constexpr (may_store_bundles<Out, Width>) {
    if (at_once) {
      using place = decltype(out.first);
      typename Out::value_type row[Width];
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        row[j] = detail::output_value<place>(detail::finish(reducer, init, value[j]));
      }
      if constexpr (std::is_pointer_v<place>) {
        cuda::store_row(out.first + bundle * Width, row);
      } else {
        (out.first + bundle * Width).store_row(row);
      }
      return;
    }
  }
#pragma unroll
  for (int j = 0; j < Width; ++j) {
    cuda::write(out + (bundle * Width + j), detail::finish(reducer, init, value[j]));
  }
}

/// One block's work.
template <int Nt, int Items, int Width, class Forest, class Reducer, class Init, class Out>
class column_work {
  using acc = typename Reducer::accumulator;
  using item_axes = std::conditional_t<(Width > 1), even_items, any_items>;
  using stretch_type = column_stretch<typename Forest::source_type, item_axes, Items,
                                      stretch_levels, Width, Reducer>;
  using node = typename stretch_type::node;
  using stretch_place = typename stretch_type::place;
  using partials_source = detail::source<const acc*>;
  using group_reducer = partials_reducer<Reducer>;
  using group_stretch =
      column_stretch<partials_source, even_items, partials_of_thread, 0, Width, group_reducer>;

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
  TILEFOLD_D void fold_slices(unsigned begin, unsigned end, scratch<acc> memory) const {
    const auto slices = static_cast<unsigned>(plan.slices);
    const stretch_type fold{forest.source, items_of_forest(), reducer};
    slice_place here{begin / slices, begin % slices};
    stretch_place after = stretch_in(here);
    typename stretch_type::next_set ahead;
    fold.load_ahead(ahead, after);
    for (unsigned s = begin; s < end; ++s) {
      slice_place next = here;
      if (++next.slice == slices) next = {here.panel + 1, 0};
      const stretch_place mine = stretch_type::loads_while_folding ? after : stretch_in(here);
      if constexpr (stretch_type::loads_while_folding) {
        after = s + 1 < end ? stretch_in(next) : stretch_place{};
      }
      node value;
      if (mine.n > 0) {
        fold(value, mine, ahead, after);
      } else {
        fold.load_ahead(ahead, after);
      }
      meet(value, mine.n > 0, items_of(here.slice), plan.items_of_stretch);
      if (mine.n > 0 && stretch_in_block() == 0) {
        const std::int64_t bundle = bundle_of(here.panel);
        if (slices == 1) {
          cuda::write_bundle(value, bundle, reducer, init, out, plan.stores_bundles);
        } else {
          keep_partial(memory.partials, here.slice, bundle, value);
        }
      }
      here = next;
    }
    if (slices == 1) return;
    const auto group = cuda::partial_group(Nt, plan.bundle_bits);
    for (unsigned s = begin; s < end;) {
      const unsigned first = s / slices * slices;
      const unsigned g = (s - first) / group;
      const unsigned next = (min)(end, first + (min)(slices, (g + 1) * group));
      climb(*this, s / slices, g, next - s, memory);
      s = next;
    }
  }

 private:
  struct slice_place {
    unsigned panel;
    unsigned slice;
  };

  // Bundles are taken where items have one stride.
  TILEFOLD_D item_axes items_of_forest() const {
    if constexpr (Width > 1) {
      return {forest.rows.stride[0]};
    } else {
      return {forest.rows, plan.steps};
    }
  }
  TILEFOLD_D int bundle_in_panel() const {
    return static_cast<int>(threadIdx.x) & ((1 << plan.bundle_bits) - 1);
  }
  TILEFOLD_D int stretch_in_block() const {
    return static_cast<int>(threadIdx.x) >> plan.bundle_bits;
  }

  TILEFOLD_D std::int64_t bundle_of(unsigned panel) const {
    return (std::int64_t{panel} << plan.bundle_bits) + bundle_in_panel();
  }
  TILEFOLD_D std::int64_t first_of(unsigned slice) const {
    return std::int64_t{slice} * (Nt >> plan.bundle_bits) * plan.items_of_stretch;
  }
  TILEFOLD_D std::int64_t items_of(unsigned slice) const {
    return detail::smaller(first_of(slice + 1), plan.items) - first_of(slice);
  }

  // This thread's stretch of a slice.
  TILEFOLD_D stretch_place stretch_in(const slice_place& at) const {
    const std::int64_t bundle = bundle_of(at.panel);
    const std::int64_t first =
        first_of(at.slice) + std::int64_t{stretch_in_block()} * plan.items_of_stretch;
    if (bundle >= plan.bundles || first >= plan.items) return {};
    return {
        forest.columns.offset(bundle * Width), first,
        static_cast<int>(detail::smaller(plan.items - first, std::int64_t{plan.items_of_stretch}))};
  }

  // The nodes of a block's stretches of `items` items meet in `value` of the first one's threads.
  TILEFOLD_D void meet(node& value, bool has_items, std::int64_t items,
                       int items_of_stretch) const {
    if (items <= items_of_stretch) return;
    const int my_stretch = stretch_in_block();
    const std::int64_t left = items - std::int64_t{my_stretch} * items_of_stretch;
    for (int step = 1; std::int64_t{step} * items_of_stretch < items; step *= 2) {
      const int in_pair = my_stretch & (2 * step - 1);
      if (has_items && in_pair == step) {
#pragma unroll
        for (int j = 0; j < Width; ++j) shared.values[j][threadIdx.x].put(value[j]);
      }
      __syncthreads();
      if (has_items && in_pair == 0 && std::int64_t{step} * items_of_stretch < left) {
        const int other = static_cast<int>(threadIdx.x) + (step << plan.bundle_bits);
#pragma unroll
        for (int j = 0; j < Width; ++j) {
          value.put(j, reducer.combine(value[j], shared.values[j][other].value));
        }
      }
    }
    __syncthreads();  // the values are free again
  }

  TILEFOLD_D void keep_partial(acc* partials, std::int64_t slice, std::int64_t bundle,
                               const node& value) const {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      ::new (static_cast<void*>(partials + (slice * plan.bundles + bundle) * Width + j))
          acc(value[j]);
    }
  }

  // Arrives at group `g` of a panel's partials with `arrived` of them, and climbs. Apart, because
  // the kernel's registers are for the items. It takes a copy: an object whose address a call takes
  // lies in local memory, which every thread would write before its first load.
  static __device__ TILEFOLD_APART void climb(column_work self, unsigned panel, unsigned g,
                                              unsigned arrived, scratch<acc> memory) {
    const column_plan& plan = self.plan;
    const std::int64_t bundle = self.bundle_of(panel);
    const bool exists = bundle < plan.bundles;
    const bool keeps = exists && self.stretch_in_block() == 0;
    const even_items items{plan.bundles * Width};
    const group_reducer partials{self.reducer};
    const grid_tree<acc> slices{{memory.partials, memory.arrivals + panel},
                                static_cast<unsigned>(plan.slices),
                                cuda::partial_group(Nt, plan.bundle_bits),
                                plan.bundles * Width,
                                static_cast<unsigned>(plan.panels)};
    __syncthreads();  // the partials are there before the first thread tells so
    slices.climb(g, arrived, self.shared.completed, [&](const complete_group<acc>& group) {
      const group_stretch fold{partials_source{{group.partials}}, items, partials};
      const std::int64_t begin = std::int64_t{self.stretch_in_block()} * partials_of_thread;
      typename group_stretch::place at{};
      if (exists && begin < group.size) {
        at = {bundle * Width, group.first + begin,
              static_cast<int>(
                  detail::smaller(group.size - begin, std::int64_t{partials_of_thread}))};
      }
      node value;
      if (at.n > 0) fold(value, at);
      self.meet(value, at.n > 0, group.size, partials_of_thread);
      if (keeps) {
        if (group.neighbors == 1) {
          cuda::write_bundle(value, bundle, self.reducer, self.init, self.out, plan.stores_bundles);
        } else {
          self.keep_partial(group.above, group.number, bundle, value);
        }
      }
      __syncthreads();  // the partials above are there, too
    });
  }
};

// The strides are read where the launch put them: a copy that is indexed would lie in local memory.
template <class Build, int Nt, int Items, int Width, class Forest, class Reducer, class Init,
          class Out>
__global__ void __launch_bounds__(
    Nt, min_resident_column_blocks(Nt, Width * sizeof(typename Reducer::accumulator)))
    columns_kernel(const __grid_constant__ Forest forest, const __grid_constant__ Reducer reducer,
                   const __grid_constant__ Init init, const __grid_constant__ Out out,
                   const __grid_constant__ column_plan plan, tile_shares shares,
                   scratch<typename Reducer::accumulator> memory) {
  using work_type = column_work<Nt, Items, Width, Forest, Reducer, Init, Out>;
  __shared__ typename work_type::shared_memory shared;
  cuda::wait_for_previous_launch();
  work_type{forest, reducer, init, out, plan, shared}.fold_slices(
      shares.first(blockIdx.x), shares.first(blockIdx.x + 1), memory);
}

/// Columns of up to `Items` items with one stride: a thread a bundle, which it loads and folds at
/// once. The GPU gives blocks to whatever SM is free.
template <class Build, int Items, int Width, class Forest, class Reducer, class Init, class Out>
__global__ void __launch_bounds__(short_columns_nt)
    short_columns_kernel(const __grid_constant__ Forest forest,
                         const __grid_constant__ Reducer reducer, const __grid_constant__ Init init,
                         const __grid_constant__ Out out, std::int64_t bundles, bool at_once) {
  using fold_type =
      column_stretch<typename Forest::source_type, even_items, Items, 0, Width, Reducer>;
  const std::int64_t bundle = std::int64_t{blockIdx.x} * short_columns_nt + threadIdx.x;
  cuda::wait_for_previous_launch();
  if (bundle >= bundles) return;
  const fold_type fold{forest.source, even_items{forest.rows.stride[0]}, reducer};
  typename fold_type::node value;
  fold(value, {forest.columns.offset(bundle * Width), 0, static_cast<int>(forest.rows.extent[0])});
  cuda::write_bundle(value, bundle, reducer, init, out, at_once);
}

}  // namespace tilefold::detail::cuda
