// SPDX-License-Identifier: Apache-2.0
//
// A memory resource that counts, fills what it gives out with garbage, and fails on demand.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>

#include "device.cuh"

namespace tilefold::test {

class tracking_resource final : public device_memory_resource {
 public:
  /// From now on a request for more than `bytes` bytes fails.
  void fail_beyond(std::int64_t bytes) { limit_ = bytes; }

  int allocations() const { return allocations_; }
  int deallocations() const { return deallocations_; }
  std::int64_t bytes_in_use() const { return bytes_in_use_; }

  void* allocate(std::int64_t bytes, cudaStream_t stream) override {
    if (bytes > limit_) {
      throw allocation_error("no " + std::to_string(bytes) + " bytes, as the test asked for",
                             bytes);
    }
    void* memory = nullptr;
    must(cudaMalloc(&memory, static_cast<std::size_t>(bytes)));
    must(cudaMemsetAsync(memory, 0xcd, static_cast<std::size_t>(bytes), stream));
    blocks_[memory] = bytes;
    bytes_in_use_ += bytes;
    ++allocations_;
    return memory;
  }

  void deallocate(void* memory, std::int64_t bytes, cudaStream_t stream) noexcept override {
    const auto block = blocks_.find(memory);
    if (block == blocks_.end() || block->second != bytes) {
      ADD_FAILURE() << "gave back " << bytes << " bytes that it never got";
      return;
    }
    blocks_.erase(block);
    bytes_in_use_ -= bytes;
    ++deallocations_;
    (void)cudaStreamSynchronize(stream);
    (void)cudaFree(memory);
  }

 private:
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  std::map<void*, std::int64_t> blocks_;
  std::int64_t bytes_in_use_ = 0;
  int allocations_ = 0;
  int deallocations_ = 0;
};

}  // namespace tilefold::test
