// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a piece, by a cuda_executor. A piece of one block is a range; the launch of several
// is only declared here (launch_piece.cuh), so that exact sums, which have one block, do without.
#pragma once

#include <tilefold/detail/cuda/range/launch_range.cuh>

namespace tilefold::detail::cuda {

// In launch_piece.cuh.
template <class Build, class Policy, class Source, class Reducer, class Out, class WorkspaceFor>
void launch_piece(const Source& source, const Reducer& reducer, const tree::aligned_blocks& blocks,
                  const Out& out, const device_info& gpu, cudaStream_t stream,
                  const WorkspaceFor& workspace_for);

/// The place of the first result of several, where it is the only one.
template <class Out>
Out only_place(const Out& out) {
  return out;
}
template <class T>
result_place<T> only_place(const result_places<T>& places) {
  return places[0];
}

/// How a cuda_executor folds the blocks of a piece: the aligned blocks that items [0, n) of
/// `source`, n >= 1, are in a sequence where they stand at `position` (block_list.hpp).
template <class Build>
struct piece_folds {
  /// Writes their accumulators through `out`, in the order of the stream.
  template <class Policy, class Executor, class Source, class Reducer, class Out>
  static void write(Executor& exec, const Source& source, const Reducer& reducer,
                    std::int64_t position, std::int64_t n, const Out& out) {
    exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto& workspace_for) {
      const blocks_of<Reducer> blocks{{position, position + n}};
      if (blocks.count() == 1) {
        cuda::launch_fold<Build, Policy>(source, reducer, unfinished{}, n, cuda::only_place(out),
                                         gpu, stream, workspace_for);
      } else if constexpr (!blocks_of<Reducer>::one) {
        cuda::launch_piece<Build, Policy>(source, reducer, blocks, out, gpu, stream, workspace_for);
      }
    });
  }

  /// Calls keep(accumulator, number of items) for each block, in order. Waits for the values.
  template <class Policy, class Executor, class Source, class Reducer, class Keep>
  static void visit(Executor& exec, const Source& source, const Reducer& reducer,
                    std::int64_t position, std::int64_t n, const Keep& keep) {
    exec.in_context([](const device_info&, cudaStream_t stream, const auto&) {
      if (!cuda::is_capturing(stream)) return;
      throw capture_error(
          "tilefold: the stream is being captured, and a piece waits for its values; make it after "
          "the capture");
    });
    const blocks_of<Reducer> blocks{{position, position + n}};
    const auto places = exec.template awaited_array<typename Reducer::accumulator>(
        blocks.count(),
        [&](const auto& out) {
          exec.or_finish([&] { write<Policy>(exec, source, reducer, position, n, out); });
        },
        [](cudaStream_t stream) { check(cudaStreamSynchronize(stream), "reduce_piece"); });
    std::int64_t item = position;
    for (int i = 0; item < blocks.end; ++i) {
      const std::int64_t size = blocks.size_at(item);
      keep(*places[i].value, size);
      item += size;
    }
  }
};

}  // namespace tilefold::detail::cuda
