// SPDX-License-Identifier: Apache-2.0
//
// From a forest of columns to its launch: how wide bundles may be, how a block's threads are dealt
// out, how much scratch.
#pragma once

#include <limits>

#include <tilefold/detail/cuda/base/forest_job.cuh>
#include <tilefold/detail/cuda/columns/columns_kernel.cuh>
#include <tilefold/detail/cuda/columns/tuning_columns.cuh>
#include <tilefold/detail/cuda/fold/grid_tree.cuh>

namespace tilefold::detail::cuda {

/// How a thread folds columns of Source, in bundles of `most_width` columns at most.
template <class Source>
constexpr column_shape column_shape_of(int most_width, int acc_bytes) {
  constexpr int bytes = item_bytes<Source>;
  const int width = detail::smaller(most_width, column_width<Source>);
  return column_shape_for(column_width_for(width, bytes, acc_bytes), bytes, acc_bytes);
}

template <class It>
bool is_aligned(const It& it, int width) {
  if constexpr (std::is_pointer_v<It>) {
    return reinterpret_cast<std::uintptr_t>(it) % (static_cast<std::size_t>(width) * sizeof(*it)) ==
           0;
  } else {
    return true;
  }
}

/// Whether all strides but the innermost are multiples of `width`.
inline bool has_outer_strides_of(const strided_axes& axes, int width) {
  for (int i = 0; i + 1 < axes.rank; ++i) {
    if (axes.stride[i] % width != 0) return false;
  }
  return true;
}

/// Whether whole, aligned bundles of `width` columns are in every item, and items have one stride.
template <class Source>
bool takes_bundles(const column_forest<Source>& forest, int width) {
  const strided_axes& columns = forest.columns;
  if (columns.inner_stride() != 1 || columns.inner_extent() % width != 0) return false;
  return cuda::has_outer_strides_of(columns, width) && forest.rows.rank == 1 &&
         forest.rows.stride[0] % width == 0 && cuda::visit_held(forest.source, [&](const auto& it) {
           return cuda::is_aligned(it, width);
         });
}

constexpr std::int64_t ceil_power_of_two(std::int64_t x) {
  return std::int64_t{1} << tree::ceil_log2(x);
}

/// How many bundles a block takes side by side, as a power of two. At least so many that a block
/// has no more stretches than there are sets of items, and a warp's where columns are neighbours.
/// With twice as many, stretches are longer and fewer meet; but the last of the rounds in which
/// `blocks` blocks take the panels may be nearly empty. So the number is doubled if a column stays
/// in one slice, and a block has at most a twentieth more bundles in its rounds, full or not.
inline int bundle_bits_for(const column_shape& shape, std::int64_t bundles, std::int64_t items,
                           bool neighbours, std::int64_t blocks) {
  const std::int64_t sets = cuda::ceil_power_of_two(tree::num_blocks(items, shape.items));
  const std::int64_t most =
      detail::smaller(std::int64_t{shape.nt}, cuda::ceil_power_of_two(bundles));
  const std::int64_t one_set = shape.nt / detail::smaller(sets, std::int64_t{shape.nt});
  const std::int64_t least = detail::smaller(
      most, neighbours ? detail::larger(one_set, std::int64_t{warp_size}) : one_set);
  const auto in_one_slice = [&](std::int64_t wide) {
    return items <= shape.nt / wide * (std::int64_t{shape.items} << stretch_levels);
  };
  const auto bundles_of_block = [&](std::int64_t wide) {
    return tree::num_blocks(tree::num_blocks(bundles, wide), blocks) * wide;
  };
  std::int64_t best = least;
  for (std::int64_t wide = 2 * least; neighbours && wide <= most && in_one_slice(wide); wide *= 2) {
    if (20 * bundles_of_block(wide) <= 21 * bundles_of_block(best)) best = wide;
  }
  return tree::floor_log2(best);
}

/// For `blocks` blocks, as many as the GPU holds.
inline column_plan plan_columns(const column_shape& shape, const strided_axes& columns,
                                const strided_axes& items, std::int64_t blocks) {
  column_plan plan;
  plan.bundles = columns.size() / shape.width;
  plan.items = items.size();
  plan.bundle_bits =
      cuda::bundle_bits_for(shape, plan.bundles, plan.items, columns.inner_stride() == 1, blocks);
  plan.panels = tree::num_blocks(plan.bundles, std::int64_t{1} << plan.bundle_bits);
  // Stretches as long as they may be while more than half of the blocks have a slice.
  const std::int64_t stretches_of_block = shape.nt >> plan.bundle_bits;
  const auto slices_of = [&](int items_of_stretch) {
    return tree::num_blocks(plan.items, stretches_of_block * items_of_stretch);
  };
  plan.items_of_stretch = shape.items << stretch_levels;
  while (plan.items_of_stretch > shape.items &&
         (2 * plan.panels * slices_of(plan.items_of_stretch) <= blocks ||
          slices_of(plan.items_of_stretch / 2) == 1)) {
    plan.items_of_stretch /= 2;
  }
  plan.slices = slices_of(plan.items_of_stretch);
  return plan;
}

/// What is known of the items of sets of `set`, where bundles are single items.
template <class Source>
item_steps steps_of(const column_forest<Source>& forest, int set) {
  const strided_axes& items = forest.rows;
  if (items.rank > 1 && items.inner_extent() % set != 0) return item_steps::uneven;
  const auto is_aligned = [&](const auto& it) {
    using it_type = std::remove_cvref_t<decltype(it)>;
    const int width = std::is_same_v<it_type, index_iterator> ? 1 : column_width_of<it_type>;
    return cuda::is_aligned(it, width) && cuda::has_outer_strides_of(items, width) &&
           cuda::has_outer_strides_of(forest.columns, width) &&
           forest.columns.inner_stride() % width == 0;
  };
  return items.inner_stride() == 1 && cuda::visit_held(forest.source, is_aligned)
             ? item_steps::in_a_row
             : item_steps::even;
}

/// Whether the results of a bundle are stored at once.
template <int Width, class Out>
bool stores_bundles(const Out& out) {
  if constexpr (!may_store_bundles<Out, Width>) {
    return false;
  } else if (out.axes.rank != 1 || out.axes.stride[0] != 1) {
    return false;
  } else if constexpr (std::is_pointer_v<decltype(out.first)>) {
    constexpr auto width_of_load = load_bytes / static_cast<int>(sizeof(*out.first));
    return cuda::is_aligned(out.first, detail::smaller(Width, width_of_load));
  } else {
    return out.first.is_aligned(Width);
  }
}

/// Scratch for a plan.
inline workspace_demand column_demand(const column_plan& plan, const column_shape& shape,
                                      std::int64_t acc_bytes) {
  const scratch_size size =
      cuda::scratch_for(plan.slices, cuda::partial_group(shape.nt, plan.bundle_bits));
  return {size.partials * plan.bundles * shape.width * acc_bytes,
          size.arrivals * plan.panels * static_cast<std::int64_t>(sizeof(unsigned))};
}

template <class Build, int Nt, int Items, int Width, class Forest, class Reducer, class Init,
          class Out, class Empty, class WorkspaceFor>
void launch_columns_as(const forest_job<Forest, Reducer, Init, Out, Empty>& job,
                       const WorkspaceFor& workspace_for) {
  using acc = typename Reducer::accumulator;
  constexpr column_shape shape{Nt, Items, Width};
  static known_kernel known;
  const auto kernel = known.on(
      job.gpu, &columns_kernel<Build, Nt, Items, Width, Forest, closed_reducer<Reducer>, Init, Out>,
      "columns_kernel", Nt, starts::early);
  column_plan plan =
      cuda::plan_columns(shape, job.forest.columns, job.forest.rows, kernel.resident);
  plan.steps = Width > 1 ? item_steps::even : cuda::steps_of(job.forest, Items);
  plan.stores_bundles = cuda::stores_bundles<Width>(job.out);
  if (plan.panels > most_tiles / plan.slices) {
    throw invalid_range_error("tilefold: " + std::to_string(plan.bundles * Width) + " columns of " +
                              std::to_string(plan.items) +
                              " items are more than one launch can cover");
  }
  const workspace& space = workspace_for(cuda::column_demand(plan, shape, sizeof(acc)));
  const std::int64_t slices = plan.panels * plan.slices;
  const std::int64_t blocks = kernel.most(slices);
  const tile_shares shares{static_cast<unsigned>(slices / blocks),
                           static_cast<unsigned>(slices % blocks)};
  kernel.launch(blocks, job.stream, job.forest, job.reducer, job.init, job.out, plan, shares,
                scratch<acc>{space.partials<acc>(), space.arrivals()});
}

/// Launches the fold of short columns, if all are short and whole bundles. If not, false, with
/// nothing launched.
template <class Build, class Forest, class Reducer, class Init, class Out, class Empty>
bool launch_short_columns(const forest_job<Forest, Reducer, Init, Out, Empty>& job) {
  using source_type = typename Forest::source_type;
  constexpr auto acc_bytes = static_cast<int>(sizeof(typename Reducer::accumulator));
  constexpr int width =
      cuda::short_column_width_for(column_width<source_type>, item_bytes<source_type>, acc_bytes);
  constexpr int loaded_bytes = short_column_items * width * item_bytes<source_type>;
  if constexpr (width == 1 || loaded_bytes > most_short_column_bytes ||
                acc_bytes > most_short_column_acc_bytes || sums_exactly<Reducer>) {
    return false;
  } else {
    if (job.forest.rows.size() > short_column_items) return false;
    if (!cuda::takes_bundles(job.forest, width)) return false;
    const std::int64_t bundles = job.forest.columns.size() / width;
    const std::int64_t blocks = ceil_div(bundles, short_columns_nt);
    if (blocks > (std::numeric_limits<int>::max)()) return false;
    static known_kernel known;
    const auto kernel = known.on(job.gpu,
                                 &short_columns_kernel<Build, short_column_items, width, Forest,
                                                       closed_reducer<Reducer>, Init, Out>,
                                 "short_columns_kernel", short_columns_nt, starts::early);
    kernel.launch(blocks, job.stream, job.forest, job.reducer, job.init, job.out, bundles,
                  cuda::stores_bundles<width>(job.out));
    return true;
  }
}

/// Launches the fold of a forest of columns, each of at least one item.
template <class Build, class Job, class WorkspaceFor>
void launch_columns(const Job& job, const WorkspaceFor& workspace_for) {
  constexpr auto bytes = static_cast<int>(sizeof(typename Job::acc));
  static_assert(bytes <= 1024, "tilefold: accumulators may have 1024 bytes at most");
  using source_type = typename decltype(Job::forest)::source_type;
  if (cuda::launch_short_columns<Build>(job)) return;
  constexpr column_shape wide = cuda::column_shape_of<source_type>(load_bytes, bytes);
  constexpr column_shape narrow = cuda::column_shape_of<source_type>(1, bytes);
  if constexpr (wide.width > 1) {
    if (cuda::takes_bundles(job.forest, wide.width)) {
      cuda::launch_columns_as<Build, wide.nt, wide.items, wide.width>(job, workspace_for);
      return;
    }
  }
  cuda::launch_columns_as<Build, narrow.nt, narrow.items, 1>(job, workspace_for);
}

/// How a cuda_executor folds columns.
template <class Build>
struct column_folds {
  /// As forest_folds::write, of columns (strided.hpp) of at least one row each.
  template <class Executor, class Forest, class Reducer, class Init, class Empty, class Out>
  static void write(Executor& exec, const Forest& forest, const Reducer& reducer, const Init& init,
                    const Empty& empty, const Out& out) {
    exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto& workspace_for) {
      cuda::launch_columns<Build>(
          cuda::job_of(forest, reducer, init, empty, exec.accessible(out, "out"), gpu, stream),
          workspace_for);
    });
  }
};

}  // namespace tilefold::detail::cuda
