// SPDX-License-Identifier: Apache-2.0
//
// Workspace of calls that the capture of a stream records. A block of memory belongs to one stream
// of one capture until the graph and its executables are gone; then another capture may have it.
// Every launch leaves the counters in it at zero, so the graph has no nodes for memory, and its
// kernels may overlap.
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

  /// Lends `space` a block of at least `bytes` bytes for `stream`, which is being captured in the
  /// context of this number. False if there is none to be had.
  static bool lend(workspace& space, std::int64_t bytes, cudaStream_t stream,
                   unsigned long long context) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long capture = 0;
    cudaGraph_t graph = nullptr;
    if (bytes > most_bytes || failed(cudaStreamGetCaptureInfo(stream, &status, &capture, &graph)) ||
        status != cudaStreamCaptureStatusActive) {
      return false;
    }
    pool& all = everywhere();
    const std::lock_guard lock(all.mutex);
    block* idle = nullptr;
    for (block& one : all.blocks) {
      if (one.context != context || one.bytes < bytes) continue;
      if (one.capture == capture && one.stream == stream) {
        space.borrow(one.memory, one.bytes);
        return true;
      }
      if (one.capture == 0) idle = &one;
    }
    if (idle == nullptr) idle = add(all, bytes, context);
    if (idle == nullptr) return false;
    // Ends with the last of the graph and its executables, once that has run. CUDA calls the
    // function, perhaps on a thread of its own and within its own locks: it takes none.
    const auto end = [](void* one) { static_cast<block*>(one)->capture = 0; };
    cudaUserObject_t use = nullptr;
    if (failed(cudaUserObjectCreate(&use, idle, end, 1, cudaUserObjectNoDestructorSync))) {
      return false;
    }
    idle->capture = capture;
    idle->stream = stream;
    if (failed(cudaGraphRetainUserObject(graph, use, 1, cudaGraphUserObjectMove))) {
      return failed(cudaUserObjectRelease(use, 1));
    }
    space.borrow(idle->memory, idle->bytes);
    return true;
  }

 private:
  struct block {
    void* memory = nullptr;
    std::int64_t bytes = 0;
    unsigned long long context = 0;
    cudaStream_t stream = nullptr;
    std::atomic<unsigned long long> capture = 0;  // 0: idle
  };
  struct pool {
    std::mutex mutex;
    std::list<block> blocks;
  };

  // Never destroyed: graphs may be destroyed after static objects.
  static pool& everywhere() {
    static pool& all = *new pool;
    return all;
  }

  static bool failed(cudaError_t code) {
    if (code != cudaSuccess) (void)cudaGetLastError();
    return code != cudaSuccess;
  }

  // Its counters are zeroed now, not when the graph runs.
  static block* add(pool& all, std::int64_t bytes, unsigned long long context) {
    std::int64_t size = least_workspace_bytes;
    while (size < bytes) size *= 2;
    const beside_captures mode;
    void* memory = nullptr;
    if (failed(cudaMalloc(&memory, static_cast<std::size_t>(size)))) return nullptr;
    const auto counters = static_cast<std::size_t>(arrivals_region(size));
    cudaStream_t stream = nullptr;
    if (failed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) ||
        failed(cudaMemsetAsync(memory, 0, counters, stream)) ||
        failed(cudaStreamSynchronize(stream)) || failed(cudaStreamDestroy(stream))) {
      (void)failed(cudaFree(memory));
      return nullptr;
    }
    block& added = all.blocks.emplace_back();
    added.memory = memory;
    added.bytes = size;
    added.context = context;
    return &added;
  }
};

}  // namespace tilefold::detail::cuda
