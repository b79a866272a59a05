// SPDX-License-Identifier: Apache-2.0
//
// How a cuda_executor folds with sequential_blocks(). Trees of up to three blocks of items, for
// which the order is that of the neighbour tree, go to the executor as they are:
//
//     a range, rows, columns of up to 3 blocks of items      the executor's own launch
//     longer                                                 blocks_kernel, of split_trees
//     segments, arrays                       the executor's launches, to which long ones seem to be
//                                            empty; then blocks_kernel of long_trees writes those
#pragma once

#include <cstdint>
#include <string>

#include <tilefold/detail/core/sequential.hpp>
#include <tilefold/detail/cuda/base/forest_job.cuh>
#include <tilefold/detail/cuda/forest/launch_forest.cuh>
#include <tilefold/detail/cuda/range/size_queries.cuh>
#include <tilefold/detail/cuda/sequential/sequential_kernel.cuh>
#include <tilefold/detail/verbs/verb.hpp>
#include <tilefold/error.hpp>

namespace tilefold {

template <class Build>
class basic_cuda_executor;

namespace detail::cuda {

/// Threads and items: a tile is no longer than a block of items.
template <std::int64_t Block, class Source, class Reducer>
constexpr tile_policy sequential_policy() {
  if constexpr (stages_trees<Source, Reducer>) {
    return staged_shape_of<Source, Reducer>.policy();
  } else {
    tile_policy policy = policy_for(item_bytes<Source>);
    while (policy.tile() > Block && policy.nt > 128) policy.nt /= 2;
    while (policy.tile() > Block && policy.vt > 4) policy.vt /= 2;
    while (policy.tile() > Block && policy.nt > warp_size) policy.nt /= 2;
    return policy;
  }
}

/// Workspace of split_trees.
constexpr workspace_demand split_demand(std::int64_t trees, std::int64_t slices,
                                        std::int64_t acc_bytes) {
  return {trees * slices * acc_bytes,
          trees * tree::num_blocks(slices, sequence_chunk) * arrival_bytes};
}

/// blocks_kernel for such slices.
template <class Build, std::int64_t Block, template <std::int64_t, class> class Slices, class Job>
auto ready_sequences(const Job& job) {
  constexpr tile_policy policy =
      sequential_policy<Block, typename Job::source_type, typename Job::reducer_type>();
  return cuda::ready_blocks<Build, policy, Slices<Block, typename Job::acc>>(job);
}

/// Folds the trees of the job's forest, which have `length` items each: more than three blocks.
template <class Build, std::int64_t Block, class Job, class WorkspaceFor>
void launch_split_trees(const Job& job, std::int64_t length, const WorkspaceFor& workspace_for) {
  using acc = typename Job::acc;
  const std::int64_t trees = job.forest.size();
  const std::int64_t slices = tree::num_blocks(length, Block);
  if (slices > most_tiles) {
    throw invalid_range_error("tilefold: " + std::to_string(length) + " items are " +
                              std::to_string(slices) + " blocks of " + std::to_string(Block) +
                              ", more than one launch can cover");
  }
  const auto kernel = cuda::ready_sequences<Build, Block, split_trees>(job);
  // A warp joins one tree, or more if there are more trees than warps in an eighth of the blocks.
  const std::int64_t joiners =
      detail::smaller(tree::num_blocks(trees, std::int64_t{kernel.nt / warp_size}),
                      detail::larger(kernel.resident / 8, std::int64_t{1}));
  const std::int64_t workers =
      detail::smaller(trees * slices, detail::larger(kernel.resident - joiners, std::int64_t{1}));
  const workspace& space = workspace_for(cuda::split_demand(trees, slices, sizeof(acc)));
  kernel.launch(workers + joiners, job.stream,
                {trees, length, slices, static_cast<unsigned>(workers), space.partials<acc>(),
                 space.arrivals()},
                job.forest, job.reducer, job.init, job.out);
}

}  // namespace detail::cuda

namespace detail {

/// The primitives of a cuda_executor in the order of sequential_blocks().
template <class Build>
struct sequential_folds<basic_cuda_executor<Build>> {
  basic_cuda_executor<Build>& exec;

  template <class Policy, class Source, std::int64_t Block, class Reducer, class Init>
  typename Reducer::result fold(const Source& source,
                                const sequential_reducer<Block, Reducer>& reducer, const Init& init,
                                std::int64_t n) const {
    if (n <= reducer.most_in_tree) {
      return exec.template fold<Policy>(source, reducer.of_block(), init, n);
    }
    exec.require_waiting();
    return exec.template awaited<typename Reducer::result>(
        [&](const auto& place) {
          exec.or_finish([&] {
            launch<Block>(equal_forest{source, 1, n}, n, reducer.of_block(), init,
                          cuda::one_output{place});
          });
        },
        [](cudaStream_t stream) { cuda::check(cudaStreamSynchronize(stream), "fold"); });
  }

  template <class Policy, class Source, std::int64_t Block, class Reducer, class Init, class Out>
  void fold_into(const Source& source, const sequential_reducer<Block, Reducer>& reducer,
                 const Init& init, std::int64_t n, const Out& out) const {
    if (n <= reducer.most_in_tree) {
      exec.template fold_into<Policy>(source, reducer.of_block(), init, n, out);
    } else {
      launch<Block>(equal_forest{source, 1, n}, n, reducer.of_block(), init,
                    cuda::one_output{exec.accessible(out, "out")});
    }
  }

  template <class Policy, class Forest, std::int64_t Block, class Reducer, class Init, class Empty,
            class Out>
  void fold_forest(const Forest& forest, std::int64_t most_trees,
                   const sequential_reducer<Block, Reducer>& reducer, const Init& init,
                   const Empty& empty, const Out& out) const {
    constexpr std::int64_t most = sequential_reducer<Block, Reducer>::most_in_tree;
    if constexpr (requires { forest.length; }) {
      if (forest.length > most) {
        launch<Block>(forest, forest.length, reducer.of_block(), init, exec.accessible(out, "out"));
      } else {
        exec.template fold_forest<Policy>(forest, most_trees, reducer.of_block(), init, empty, out);
      }
    } else {
      if constexpr (requires { forest.most_items; }) {
        if (forest.most_items <= most) {
          exec.template fold_forest<Policy>(forest, most_trees, reducer.of_block(), init, empty,
                                            out);
          return;
        }
      }
      const auto results = exec.accessible(out, "out");
      const auto with_kernel = [&](const auto& use) {
        exec.in_context([&](const cuda::device_info& gpu, cudaStream_t stream, const auto&) {
          const auto job =
              cuda::job_of(forest, reducer.of_block(), init, no_empty_tree{}, results, gpu, stream);
          use(job, cuda::ready_sequences<Build, Block, cuda::long_trees>(job));
        });
      };
      // What can fail ahead of a launch fails here.
      with_kernel([](const auto&, const auto&) {});
      exec.template fold_forest<Policy>(short_trees{forest, most}, most_trees, reducer.of_block(),
                                        init, empty, short_results{forest, most, results});
      with_kernel([&](const auto& job, const auto& kernel) {
        kernel.launch(kernel.most(most_trees), job.stream, {most}, job.forest, job.reducer,
                      job.init, job.out);
      });
    }
  }

  template <class Policy, class Forest, std::int64_t Block, class Reducer, class Init, class Empty,
            class Out>
  void fold_columns(const Forest& forest, const sequential_reducer<Block, Reducer>& reducer,
                    const Init& init, const Empty& empty, const Out& out) const {
    const std::int64_t n = forest.rows.size();
    if (n <= reducer.most_in_tree) {
      exec.template fold_columns<Policy>(forest, reducer.of_block(), init, empty, out);
    } else {
      launch<Block>(column_trees{forest}, n, reducer.of_block(), init, exec.accessible(out, "out"));
    }
  }

 private:
  template <std::int64_t Block, class Forest, class Reducer, class Init, class Out>
  void launch(const Forest& forest, std::int64_t length, const Reducer& reducer, const Init& init,
              const Out& out) const {
    exec.in_context(
        [&](const cuda::device_info& gpu, cudaStream_t stream, const auto& workspace_for) {
          cuda::launch_split_trees<Build, Block>(
              cuda::job_of(forest, reducer, init, no_empty_tree{}, out, gpu, stream), length,
              workspace_for);
        });
  }
};

}  // namespace detail

}  // namespace tilefold
