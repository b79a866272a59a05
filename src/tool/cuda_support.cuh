// SPDX-License-Identifier: Apache-2.0
//
// What the tool's CUDA sources share: error checks, which GPU, and owners of device memory and
// events.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include <tilefold/error.hpp>

namespace tilefold::tool {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // forget it, lest the next file be blamed for it
  throw cuda_error(std::string(what) + ": " + cudaGetErrorString(status), static_cast<int>(status));
}

/// The name of the GPU that is to be used; throws no_gpu_error (backend.hpp) if there is none.
std::string require_gpu();

class device_buffer {
 public:
  explicit device_buffer(std::size_t bytes) {
    const cudaError_t status = cudaMalloc(&data_, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw allocation_error("the GPU has no " + std::to_string(bytes) + " bytes left",
                             static_cast<long long>(bytes));
    }
    check_cuda(status, "cudaMalloc");
  }
  device_buffer(const device_buffer&) = delete;
  device_buffer& operator=(const device_buffer&) = delete;
  ~device_buffer() { cudaFree(data_); }

  void* get() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// Pinned memory of the host.
class pinned_buffer {
 public:
  explicit pinned_buffer(std::size_t bytes) {
    const cudaError_t status = cudaHostAlloc(&data_, bytes, cudaHostAllocDefault);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw allocation_error("the host has no " + std::to_string(bytes) + " pinned bytes left",
                             static_cast<long long>(bytes));
    }
    check_cuda(status, "cudaHostAlloc");
  }
  pinned_buffer(const pinned_buffer&) = delete;
  pinned_buffer& operator=(const pinned_buffer&) = delete;
  ~pinned_buffer() { cudaFreeHost(data_); }

  std::byte* get() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

class event {
 public:
  event() { check_cuda(cudaEventCreate(&event_), "cudaEventCreate"); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { cudaEventDestroy(event_); }

  void record(cudaStream_t stream) {
    check_cuda(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  void wait() { check_cuda(cudaEventSynchronize(event_), "the reduction on the GPU"); }

  double seconds_since(const event& start) const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t event_;
};

}  // namespace tilefold::tool
