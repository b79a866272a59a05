// SPDX-License-Identifier: Apache-2.0
//
// The memory of a rank whose transport works in stream order: its own message and all ranks' on the
// GPU, and the pinned word in which a call says what it has found out. Host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <tilefold/detail/cuda/base/runtime.cuh>
#include <tilefold/detail/cuda/sched/join_kernel.cuh>
#include <tilefold/error.hpp>

namespace tilefold::detail::cuda {

class rank_mailbox {
 public:
  /// Of a rank of `ranks`, on the current device, with room for most messages.
  explicit rank_mailbox(int ranks) : ranks_(ranks) {
    void* word = nullptr;
    check(cudaHostAlloc(&word, sizeof(rank_status), cudaHostAllocPortable), "cudaHostAlloc");
    status_ = new (word) rank_status{rank_status::fine, 0};
    try {
      reserve(4096);
    } catch (...) {
      release();
      throw;
    }
  }
  rank_mailbox(rank_mailbox&& other) noexcept
      : ranks_(other.ranks_),
        bytes_(std::exchange(other.bytes_, 0)),
        memory_(std::exchange(other.memory_, nullptr)),
        status_(std::exchange(other.status_, nullptr)) {}
  rank_mailbox& operator=(rank_mailbox&&) = delete;  // one owner
  ~rank_mailbox() { release(); }

  /// Room for messages of `bytes` bytes. Waits for what is under way, if it must have more.
  void reserve(std::int64_t bytes) {
    if (bytes <= bytes_) return;
    void* memory = nullptr;
    check(cudaMalloc(&memory, static_cast<std::size_t>(bytes * (ranks_ + 1))), "cudaMalloc");
    if (memory_ != nullptr) check(cudaFree(memory_), "cudaFree");
    memory_ = static_cast<char*>(memory);
    bytes_ = bytes;
  }

  /// Throws capture_error if `stream` is being captured, where memory cannot be had.
  static void require_growing(std::int64_t bytes, cudaStream_t stream) {
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &state), "cudaStreamIsCapturing");
    if (state == cudaStreamCaptureStatusNone) return;
    throw capture_error(
        "tilefold: the stream is being captured and the communicator has no room "
        "for messages of " +
        std::to_string(bytes) + " bytes: call its reserve(" + std::to_string(bytes) +
        ") before the capture begins");
  }

  std::int64_t bytes() const { return bytes_; }
  /// This rank's own message; behind it those of all.
  char* message() const { return memory_; }
  char* messages() const { return memory_ + bytes_; }
  rank_status* status() const { return status_; }

  /// Whether calls have found nothing wrong since the last time.
  bool is_fine() const {
    return static_cast<const volatile rank_status*>(status_)->what == rank_status::fine;
  }

  /// Throws what calls have found out since the last time.
  void throw_errors() {
    const volatile rank_status& told = *status_;
    const int what = told.what;
    if (what == rank_status::fine) return;
    const int rank = told.rank;
    *status_ = {rank_status::fine, 0};
    if (what == rank_status::failed) {
      throw rank_error(
          "tilefold::ranks: rank " + std::to_string(rank) + " has failed, and says there why",
          rank);
    }
    throw rank_mismatch_error(
        "tilefold::ranks: the ranks are in different calls, or disagree about lengths: rank " +
        std::to_string(rank) +
        " and this one do. (What is called in stream order sends no names; called without lengths, "
        "it does)");
  }

 private:
  void release() noexcept {
    if (status_ != nullptr && cudaFreeHost(status_) != cudaSuccess) (void)cudaGetLastError();
    if (memory_ != nullptr && cudaFree(memory_) != cudaSuccess) (void)cudaGetLastError();
  }

  int ranks_;
  std::int64_t bytes_ = 0;
  char* memory_ = nullptr;
  rank_status* status_ = nullptr;
};

}  // namespace tilefold::detail::cuda
