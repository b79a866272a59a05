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

  /// Lends `space` a block of at least `bytes` bytes for `stream`, which is being captured, in a
  /// context of this number. False if there is none to be had. The device is the current one.
  static bool lend(workspace& space, std::int64_t bytes, cudaStream_t stream,
                   unsigned long long context) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long capture = 0;
    cudaGraph_t graph = nullptr;
    if (bytes > most_bytes || cudaStreamGetCaptureInfo(stream, &status, &capture, &graph) != 0 ||
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
    if (idle == nullptr || !bind(*idle, graph)) return false;
    idle->capture = capture;
    idle->stream = stream;
    space.borrow(idle->memory, idle->bytes);
    return true;
  }

 private:
  struct block {
    block(void* at, std::int64_t size, unsigned long long number)
        : memory(at), bytes(size), context(number) {}

    void* memory;
    std::int64_t bytes;
    unsigned long long context;
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

  // With counters at zero, now and not when the graph runs.
  static block* add(pool& all, std::int64_t bytes, unsigned long long context) {
    std::int64_t size = least_workspace_bytes;
    while (size < bytes) size *= 2;
    const beside_captures mode;
    void* memory = nullptr;
    cudaStream_t stream = nullptr;
    if (cudaMalloc(&memory, static_cast<std::size_t>(size)) == cudaSuccess &&
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
        cudaMemsetAsync(memory, 0, static_cast<std::size_t>(arrivals_region(size)), stream) == 0 &&
        cudaStreamSynchronize(stream) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess) {
      return &all.blocks.emplace_back(memory, size, context);
    }
    (void)cudaGetLastError();
    if (memory != nullptr) (void)cudaFree(memory);
    return nullptr;
  }

  // Until the last of the graph and its executables is destroyed, and has run.
  static bool bind(block& one, cudaGraph_t graph) {
    cudaUserObject_t user = nullptr;
    if (cudaUserObjectCreate(&user, &one, &end, 1, cudaUserObjectNoDestructorSync) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    if (cudaGraphRetainUserObject(graph, user, 1, cudaGraphUserObjectMove) == cudaSuccess) {
      return true;
    }
    (void)cudaGetLastError();
    (void)cudaUserObjectRelease(user, 1);
    return false;
  }
  // CUDA calls this, perhaps on a thread of its own and within its own locks: it takes none.
  static void CUDART_CB end(void* one) { static_cast<block*>(one)->capture = 0; }
};

}  // namespace tilefold::detail::cuda
