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

/// The places of several results of a launch, each with a ticket that announce() writes.
template <class T, bool = shares_word_with_ticket<T>>
struct result_places {
  using difference_type = std::int64_t;

  T* values;
  unsigned* tickets;
  unsigned ticket;

  /// For `count` results in `memory`, of bytes_of(count) bytes.
  static result_places in(void* memory, int count, unsigned ticket) {
    auto* const words = static_cast<unsigned*>(memory);
    return {static_cast<T*>(memory), words + words_of_values(count), ticket};
  }
  static std::size_t bytes_of(int count) {
    return (words_of_values(count) + static_cast<std::size_t>(count)) * sizeof(unsigned);
  }

  TILEFOLD_HD result_place<T> operator[](std::int64_t i) const {
    return {values + i, tickets + i, ticket};
  }
  TILEFOLD_HD friend raw_output<T> operator+(const result_places& places, std::int64_t i) {
    return {places.values + i};
  }

 private:
  static std::size_t words_of_values(int count) {
    return (static_cast<std::size_t>(count) * sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned);
  }
};

/// The places of results that share a word with their tickets, which are written with the results.
template <class T>
struct result_places<T, true> {
  using difference_type = std::int64_t;

  result_place<T> first;

  static result_places in(void* memory, int, unsigned ticket) {
    return {{static_cast<T*>(memory), static_cast<unsigned*>(memory) + 1, ticket}};
  }
  static std::size_t bytes_of(int count) {
    return static_cast<std::size_t>(count) * sizeof(unsigned long long);
  }

  TILEFOLD_HD result_place<T> operator[](std::int64_t i) const {
    return {first.value + 2 * i, first.ticket_at + 2 * i, first.ticket};
  }
  TILEFOLD_HD friend result_place<T> operator+(const result_places& places, std::int64_t i) {
    return places[i];
  }
};

/// Writes the tickets of results [begin, end), by a block, after a barrier behind the results.
template <class Out>
TILEFOLD_D void announce(const Out&, int, int) {}
template <class T>
TILEFOLD_D void announce(const result_places<T, false>& out, int begin, int end) {
  if (threadIdx.x >= warp_size) return;
  for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += warp_size) {
    cuda::store_behind_all(out.tickets + i, out.ticket);
  }
}

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
    const auto places = exec.template awaited_places<result_places<typename Reducer::accumulator>>(
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
