// SPDX-License-Identifier: Apache-2.0
//
// The memory of a rank whose transport works in stream order: its own message and all ranks' on the
// GPU, and pinned words for the errors that calls have found.
#pragma once

#include <tilefold/detail/cuda/range/launch_join.cuh>

namespace tilefold::detail::cuda {

class rank_mailbox {
 public:
  /// The mailbox of one of `ranks` ranks, on the current device, with room for most messages.
  explicit rank_mailbox(int ranks) : ranks_(ranks) {
    void* words = nullptr;
    check(cudaHostAlloc(&words, sizeof(pinned_words), cudaHostAllocPortable), "cudaHostAlloc");
    words_ = std::construct_at(static_cast<pinned_words*>(words));
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
        words_(std::exchange(other.words_, nullptr)),
        kept_(std::exchange(other.kept_, {})) {}
  rank_mailbox& operator=(rank_mailbox&&) = delete;  // one owner
  ~rank_mailbox() { release(); }

  /// Room for messages of `bytes` bytes, rounded up to the step of messages. Memory that it had
  /// before is kept: graphs that were captured use it.
  void reserve(std::int64_t bytes) {
    if (bytes <= bytes_) return;
    bytes = cuda::rounded_message_bytes(bytes);
    kept_.reserve(kept_.size() + 1);
    void* memory = nullptr;
    check(cudaMalloc(&memory, static_cast<std::size_t>(bytes * (ranks_ + 1))), "cudaMalloc");
    if (memory_ != nullptr) kept_.push_back(memory_);
    memory_ = static_cast<char*>(memory);
    bytes_ = bytes;
  }

  /// Throws capture_error if `stream` is being captured, where memory cannot be had.
  static void require_growing(std::int64_t bytes, cudaStream_t stream) {
    if (!cuda::is_capturing(stream)) return;
    throw capture_error(
        "tilefold: the stream is being captured and the communicator has no room "
        "for messages of " +
        std::to_string(bytes) + " bytes: call its reserve(" + std::to_string(bytes) +
        ") before the capture begins");
  }

  std::int64_t bytes() const { return bytes_; }
  /// This rank's own message, and behind it the messages of all ranks.
  char* message() const { return memory_; }
  char* messages() const { return memory_ + bytes_; }

  /// The error that calls which did not wait have found, if any.
  rank_status* status() const { return &words_->told; }
  /// The error that the call which waits has found, if any.
  rank_status* awaited_status() const { return &words_->awaited; }

  /// Returns a status, and resets it.
  static rank_status taken(rank_status* status) {
    const volatile rank_status& told = *status;
    const rank_status found{told.what, told.rank};
    if (found.what != rank_status::fine) *status = {rank_status::fine, 0};
    return found;
  }

  /// Throws the error that a call has found, if any.
  static void throw_found(const rank_status& found) {
    if (found.what == rank_status::fine) return;
    if (found.what == rank_status::failed) {
      throw rank_error(
          "tilefold::ranks: rank " + std::to_string(found.rank) + " has failed, and says there why",
          found.rank);
    }
    throw rank_mismatch_error(
        "tilefold::ranks: the ranks are in different calls, or disagree about lengths: rank " +
        std::to_string(found.rank) +
        " and this one do. (What is called in stream order sends no names; called without lengths, "
        "it does)");
  }

 private:
  struct pinned_words {
    rank_status told{rank_status::fine, 0};
    rank_status awaited{rank_status::fine, 0};
  };

  void release() noexcept {
    if (words_ != nullptr && cudaFreeHost(words_) != cudaSuccess) (void)cudaGetLastError();
    if (memory_ != nullptr && cudaFree(memory_) != cudaSuccess) (void)cudaGetLastError();
    for (char* const memory : kept_) {
      if (cudaFree(memory) != cudaSuccess) (void)cudaGetLastError();
    }
  }

  int ranks_;
  std::int64_t bytes_ = 0;
  char* memory_ = nullptr;
  pinned_words* words_ = nullptr;
  std::vector<char*> kept_;
};

}  // namespace tilefold::detail::cuda
