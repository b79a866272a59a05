// SPDX-License-Identifier: Apache-2.0
//
// Workspace of calls that the capture of a stream records: a block of memory for each call, which
// belongs to the graph. Its counters are zero before the graph runs first, and every run leaves
// them zero, so the graph has kernels alone. Once the graph and its executables are destroyed,
// another capture may have the block.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>

#include <tilefold/detail/cuda/base/workspace.cuh>

namespace tilefold::detail::cuda {

class graph_memory {
 public:
  /// Calls that need more record nodes that allocate and free it.
  static constexpr std::int64_t most_bytes = std::int64_t{1} << 20;

  /// Lends `space` a block of at least `bytes` bytes for a call in `stream`, which is being
  /// captured in the current context, the one of this number. False if there is none to be had.
  static bool lend(workspace& space, std::int64_t bytes, cudaStream_t stream,
                   unsigned long long context) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    if (bytes > most_bytes || context == 0 ||  // of no number: contexts could not be told apart
        failed(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph)) ||
        status != cudaStreamCaptureStatusActive) {
      return false;
    }
    block* const found = take(bytes, context);
    if (found == nullptr) return false;
    // CUDA calls this when the last of graph and executables is destroyed and no longer runs,
    // perhaps on a thread of its own that holds CUDA's locks: it takes none.
    const auto end = [](void* one) { static_cast<block*>(one)->is_lent = false; };
    cudaUserObject_t loan = nullptr;
    if (failed(cudaUserObjectCreate(&loan, found, end, 1, cudaUserObjectNoDestructorSync))) {
      found->is_lent = false;
      return false;
    }
    if (failed(cudaGraphRetainUserObject(graph, loan, 1, cudaGraphUserObjectMove))) {
      (void)failed(cudaUserObjectRelease(loan, 1));  // which calls `end`
      return false;
    }
    space.borrow(found->memory, found->bytes, stream);
    return true;
  }

  /// Frees the blocks of a context, which is the current one, that no graph has.
  static void release(unsigned long long context) noexcept {
    std::list<block> unused;
    {
      pool& all = pool_of_process();
      const std::lock_guard lock(all.mutex);
      for (auto one = all.blocks.begin(); one != all.blocks.end();) {
        const auto next = std::next(one);
        if (one->context == context && !one->is_lent) unused.splice(unused.end(), all.blocks, one);
        one = next;
      }
    }
    const beside_captures mode;
    for (const block& one : unused) (void)failed(cudaFree(one.memory));
  }

 private:
  struct block {
    void* memory = nullptr;
    std::int64_t bytes = 0;
    unsigned long long context = 0;
    std::atomic<bool> is_lent = true;
  };
  struct pool {
    std::mutex mutex;
    std::list<block> blocks;
  };

  // Never destroyed: graphs may be destroyed after static objects.
  static pool& pool_of_process() {
    static pool& all = *new pool;
    return all;
  }

  static bool failed(cudaError_t code) {
    if (code != cudaSuccess) (void)cudaGetLastError();
    return code != cudaSuccess;
  }

  // The smallest unused block that is large enough, or a new one; null if there is no memory.
  static block* take(std::int64_t bytes, unsigned long long context) {
    pool& all = pool_of_process();
    {
      const std::lock_guard lock(all.mutex);
      block* best = nullptr;
      for (block& one : all.blocks) {
        if (one.context != context || one.bytes < bytes || one.is_lent) continue;
        if (best == nullptr || one.bytes < best->bytes) best = &one;
      }
      if (best != nullptr) best->is_lent = true;
      if (best != nullptr) return best;
    }
    std::list<block> added(1);
    block& made = added.front();
    made.context = context;
    for (made.bytes = least_workspace_bytes; made.bytes < bytes;) made.bytes *= 2;
    const beside_captures mode;
    if (failed(cudaMalloc(&made.memory, static_cast<std::size_t>(made.bytes)))) return nullptr;
    if (!zero_counters(made)) {
      (void)failed(cudaFree(made.memory));
      return nullptr;
    }
    const std::lock_guard lock(all.mutex);
    all.blocks.splice(all.blocks.end(), added);
    return &made;
  }

  // Now, and not when the graph runs.
  static bool zero_counters(const block& made) {
    cudaStream_t stream = nullptr;
    if (failed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return false;
    const auto counters = static_cast<std::size_t>(arrivals_region(made.bytes));
    const bool zeroed = !failed(cudaMemsetAsync(made.memory, 0, counters, stream)) &&
                        !failed(cudaStreamSynchronize(stream));
    return !failed(cudaStreamDestroy(stream)) && zeroed;
  }
};

}  // namespace tilefold::detail::cuda
