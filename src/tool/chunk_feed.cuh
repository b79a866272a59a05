// SPDX-License-Identifier: Apache-2.0
//
// Chunks of a file on their way to the GPU. Threads read ahead into a ring of pinned parts; the
// next chunk is copied while the GPU folds one and the host takes what came of it:
//
//     file     | chunk 0 | chunk 1 | chunk 2 | ...    read part by part, a ring ahead of the copies
//     bus        copy 0    copy 1    copy 2
//     GPU                  fold 0    fold 1
//     host                   piece of 0  piece of 1
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <tilefold/detail/executor/pinned_ring.cuh>

#include "cuda_support.cuh"

namespace tilefold::tool {

class chunk_feed {
 public:
  /// Of items of `item_bytes` bytes at `data` up to number `end`, `chunk` items at a time, for work
  /// in `stream`.
  chunk_feed(const std::byte* data, std::int64_t item_bytes, std::int64_t end, std::int64_t chunk,
             cudaStream_t stream);
  chunk_feed(const chunk_feed&) = delete;
  chunk_feed& operator=(const chunk_feed&) = delete;
  // Nothing of it may be under way when its memory goes.
  ~chunk_feed();

  /// Calls work(), which calls what follows, while other threads read.
  void run(const std::function<void()>& work);

  /// Brings items [first, first + count) to the GPU, the first of all or those after the chunk
  /// before. Returns where they are for what the stream is given from now on; valid until the next
  /// call, which the stream must have finished before.
  const std::byte* copy(std::int64_t first, std::int64_t count);

  /// Begins to copy what the next copy() will ask for.
  void copy_ahead(std::int64_t first);

  /// Pinned memory that is kept from call to call.
  void* results(std::size_t bytes);

 private:
  struct slot {
    explicit slot(std::int64_t bytes) : device(static_cast<std::size_t>(bytes)) {}

    device_buffer device;
    detail::cuda::event_owner copied;
    std::int64_t first = 0;  // what it holds
    std::int64_t count = 0;
  };

  void begin_copy(slot& to, std::int64_t first, std::int64_t count);

  const std::byte* data_;
  std::int64_t item_bytes_;
  std::int64_t end_;
  std::int64_t chunk_;
  std::int64_t announced_ = -1;
  cudaStream_t stream_;
  detail::cuda::stream_owner copies_;
  detail::cuda::pinned_ring ring_;
  std::array<slot, 2> slots_;
  std::size_t next_ = 0;
  std::unique_ptr<pinned_buffer> results_;
  std::size_t results_bytes_ = 0;
};

/// Copies items that may be a mapped file to the GPU; tells `advance` how many bytes are on their
/// way.
void copy_to_gpu(const std::byte* from, std::int64_t bytes, void* to,
                 const std::function<void(std::int64_t)>& advance);

}  // namespace tilefold::tool
