// SPDX-License-Identifier: Apache-2.0
//
// The messages of ranks whose transport works in stream order, and the kernel that joins them.
// Every rank sends one message, and all have the same size:
//
//     header   signature of the call | begin, end of the rank's part | has it failed
//     blocks   the values of the part's aligned blocks (block_list.hpp), in their order
//
// One warp joins the messages of all ranks. Its lanes fetch 32 blocks at a time, of any ranks; lane
// 0 pushes them to the stack, as block_list does on the host.
#pragma once

#include <tilefold/detail/cuda/base/launcher.cuh>

namespace tilefold::detail::cuda {

struct rank_header {
  std::uint64_t signature;
  std::int64_t begin;
  std::int64_t end;
  std::uint64_t failed;
};

/// The error of a call in stream order, if any, in pinned memory: kept until the host reads it.
struct rank_status {
  enum kind : int { fine, other_call, failed };
  int what;
  int rank;
};

/// Where blocks begin in a message.
inline constexpr std::int64_t rank_blocks_at = sizeof(rank_header);

/// Messages have sizes of whole steps, of the transport's own length if it has one.
constexpr std::int64_t rounded_message_bytes(std::int64_t bytes, std::int64_t step = 1024) {
  return (bytes + step - 1) / step * step;
}

/// The size of messages of at most `blocks` blocks to ranks of type Comm. A transport whose ranks
/// must all send messages of one size has long steps: then most calls have messages of that size,
/// and ranks that are in different calls still exchange them.
template <class Comm>
constexpr std::int64_t rank_message_bytes(std::int64_t blocks, std::int64_t accumulator_bytes) {
  const std::int64_t bytes = rank_blocks_at + blocks * accumulator_bytes;
  if constexpr (requires { Comm::message_step; }) {
    return cuda::rounded_message_bytes(bytes, Comm::message_step);
  } else {
    return cuda::rounded_message_bytes(bytes);
  }
}

/// Where a fold writes a rank's blocks; the header goes before the first.
template <class Acc>
struct rank_blocks {
  using difference_type = std::int64_t;

  struct place {
    Acc* value;
    rank_header* at;  // null but for the first
    rank_header header;

    TILEFOLD_HD void operator=(const Acc& folded) const {
      ::new (static_cast<void*>(value)) Acc(folded);
      if (at != nullptr) *at = header;
    }
  };

  Acc* values;
  rank_header* at;
  rank_header header;

  TILEFOLD_HD place operator*() const { return {values, at, header}; }
  TILEFOLD_HD friend rank_blocks operator+(const rank_blocks& out, std::int64_t i) {
    return {out.values + i, i == 0 ? out.at : nullptr, out.header};
  }
};

/// The blocks of items [0, end) on a stack, in shared memory.
template <class Reducer>
struct block_stack {
  using acc = typename Reducer::accumulator;
  static constexpr int most = blocks_of<Reducer>::one ? 1 : 64;

  slot<acc>* values;
  int count = 0;
  std::int64_t end = 0;

  TILEFOLD_D void push(const Reducer& reducer, const acc& value, std::int64_t size) {
    slot<acc> node;
    node.put(value);
    std::int64_t first = end;
    end += size;
    if constexpr (blocks_of<Reducer>::one) {
      if (count > 0) join_last(reducer, node);
    } else {
      while ((first & -first) == size) {
        join_last(reducer, node);
        first -= size;
        size *= 2;
      }
    }
    values[count++].put(node.value);
  }

  TILEFOLD_D acc fold(const Reducer& reducer) const {
    slot<acc> node;
    node.put(values[count - 1].value);
    for (int i = count - 2; i >= 0; --i) {
      const acc both = reducer.combine(values[i].value, node.value);
      node.put(both);
    }
    return node.value;
  }

 private:
  TILEFOLD_D void join_last(const Reducer& reducer, slot<acc>& node) {
    const acc both = reducer.combine(values[--count].value, node.value);
    node.put(both);
  }
};

/// Writes the fold of the messages of all ranks through `out`. If they are messages of different
/// calls, or a rank has failed, writes that to `status`, and nothing through `out`. At most `most`
/// blocks a message. `empty` is the result of no items, no_empty_tree if there are some. One warp.
template <class Build, class Reducer, class Init, class Empty, class Out>
__global__ void __launch_bounds__(warp_size)
    join_kernel(const char* messages, std::int64_t stride, int ranks, int most,
                std::uint64_t signature, Reducer reducer, Init init, Empty empty, Out out,
                rank_status* status) {
  using acc = typename Reducer::accumulator;
  cuda::wait_for_previous_launch();
  const int lane = static_cast<int>(threadIdx.x);
  const auto header_of = [&](int rank) {
    return *reinterpret_cast<const rank_header*>(messages + rank * stride);
  };

  int other = ranks;
  int failed = ranks;
  for (int rank = lane; rank < ranks; rank += warp_size) {
    const rank_header header = header_of(rank);
    if (header.signature != signature) other = (min)(other, rank);
    if (header.failed != 0) failed = (min)(failed, rank);
  }
  for (int step = warp_size / 2; step > 0; step /= 2) {
    other = (min)(other, __shfl_xor_sync(full_warp, other, step));
    failed = (min)(failed, __shfl_xor_sync(full_warp, failed, step));
  }
  if (other < ranks || failed < ranks) {
    if (lane == 0) {
      status->rank = other < ranks ? other : failed;
      __threadfence_system();
      status->what = other < ranks ? rank_status::other_call : rank_status::failed;
    }
    return;
  }

  __shared__ slot<acc> stacked[block_stack<Reducer>::most];
  __shared__ slot<acc> fetched[warp_size];
  __shared__ std::int64_t sizes[warp_size];
  block_stack<Reducer> stack{stacked};
  for (int first = 0; first < ranks * most; first += warp_size) {
    const int rank = (first + lane) / most;
    const int i = (first + lane) % most;
    sizes[lane] = 0;
    if (rank < ranks) {
      const rank_header header = header_of(rank);
      const blocks_of<Reducer> blocks{{header.begin, header.end}};
      if (i < blocks.count()) {
        sizes[lane] = blocks.size(i);
        fetched[lane].put(
            reinterpret_cast<const acc*>(messages + rank * stride + rank_blocks_at)[i]);
      }
    }
    __syncwarp();
    if (lane == 0) {
      const int fetched_blocks = (min)(warp_size, ranks * most - first);
      for (int k = 0; k < fetched_blocks; ++k) {
        if (sizes[k] > 0) stack.push(reducer, fetched[k].value, sizes[k]);
      }
    }
    __syncwarp();
  }
  if (lane > 0) return;
  if (stack.count > 0) {
    cuda::write(out, detail::finish(reducer, init, stack.fold(reducer)));
  } else {
    cuda::write(out, detail::result_of_nothing(reducer, empty));
  }
}

/// The messages of all ranks, one after the other.
struct rank_messages {
  const char* first;
  std::int64_t bytes;  // of each
  int ranks;
  int most_blocks;  // of each
  std::uint64_t signature;
  rank_status* status;
};

/// Whether the accumulators of such a fold fit the kernel's shared memory.
template <class Reducer>
inline constexpr bool joins_in_stream =
    (block_stack<Reducer>::most + warp_size) * (sizeof(typename Reducer::accumulator) + 8) <= 48000;

/// The kernel, loaded: a launch that had to load it might wait for a gather that is under way.
template <class Build, class Reducer, class Init, class Empty, class Out>
auto ready_join(const device_info& gpu) {
  static known_kernel known;
  return known.on(gpu, &join_kernel<Build, closed_reducer<Reducer>, Init, Empty, Out>,
                  "join_kernel", warp_size, starts::early);
}

/// Writes the fold of the messages of all ranks through `out`, in the stream order of a
/// cuda_executor.
template <template <class> class Executor, class Build, class Messages, class Reducer, class Init,
          class Empty, class Out>
void join_ranks(Executor<Build>& exec, const Messages& all, const Reducer& reducer,
                const Init& init, const Empty& empty, const Out& out) {
  exec.in_context([&](const device_info& gpu, cudaStream_t stream, const auto&) {
    cuda::ready_join<Build, Reducer, Init, Empty, Out>(gpu).launch(
        1, stream, all.first, all.bytes, all.ranks, all.most_blocks, all.signature,
        closed_reducer<Reducer>{reducer, {0u}}, init, empty, out, all.status);
  });
}

/// Loads what join_ranks() launches.
template <template <class> class Executor, class Build, class Reducer, class Init, class Empty,
          class Out>
void load_join(Executor<Build>& exec, const Reducer&, const Init&, const Empty&, const Out&) {
  exec.in_context([&](const device_info& gpu, cudaStream_t, const auto&) {
    (void)cuda::ready_join<Build, Reducer, Init, Empty, Out>(gpu);
  });
}

}  // namespace tilefold::detail::cuda
