// SPDX-License-Identifier: Apache-2.0
//
// Chunks of a file on their way to the GPU. While one is copied there and folded, the host's
// threads read the next one into pinned memory:
//
//     file         | chunk 0 | chunk 1 | chunk 2 | ...
//     pinned 0       read 0              read 2
//     pinned 1                 read 1              read 3
//     GPU                      copy 0    copy 1    copy 2
//                              fold 0    fold 1    fold 2
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_support.cuh"

namespace tilefold::tool {

class chunk_feed {
 public:
  /// Of items of `item_bytes` bytes at `data`, at most `chunk` items at a time.
  chunk_feed(const std::byte* data, std::int64_t item_bytes, std::int64_t chunk,
             cudaStream_t stream)
      : data_(data),
        item_bytes_(item_bytes),
        chunk_(chunk),
        stream_(stream),
        slots_{slot(chunk * item_bytes), slot(chunk * item_bytes)} {}
  chunk_feed(const chunk_feed&) = delete;
  chunk_feed& operator=(const chunk_feed&) = delete;
  // Nothing of it may be under way when its memory goes.
  ~chunk_feed() { (void)cudaStreamSynchronize(stream_); }

  std::int64_t chunk() const { return chunk_; }

  /// Copies `count` items from number `first` on to the GPU, in the order of the stream. Returns
  /// where they are; valid for what the stream is given before the next call.
  const std::byte* copy(std::int64_t first, std::int64_t count);

  /// Reads the items that the next copy() will ask for.
  void read_ahead(std::int64_t first, std::int64_t count);

 private:
  struct slot {
    explicit slot(std::int64_t bytes)
        : pinned(static_cast<std::size_t>(bytes)), device(static_cast<std::size_t>(bytes)) {}

    pinned_buffer pinned;
    device_buffer device;
    event copied;
    std::int64_t first = 0;  // what it holds
    std::int64_t count = 0;
  };

  void read(slot& to, std::int64_t first, std::int64_t count) const;

  const std::byte* data_;
  std::int64_t item_bytes_;
  std::int64_t chunk_;
  cudaStream_t stream_;
  std::array<slot, 2> slots_;
  std::size_t next_ = 0;
};

}  // namespace tilefold::tool
