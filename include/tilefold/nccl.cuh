// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are GPUs joined by NCCL. Needs nccl.h and links libnccl: the target tilefold::nccl.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <tilefold/communicator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/detail/cuda/range/rank_mailbox.cuh>
#include <tilefold/error.hpp>

#include <nccl.h>

namespace tilefold {

/// A communicator over an existing NCCL communicator, which must outlive it:
///
///     tilefold::cuda_executor gpu;                         // on the communicator's device
///     tilefold::nccl_communicator comm(nccl);              // an ncclComm_t
///     float sum = tilefold::reduce(tilefold::ranks(comm, gpu), first, last);
///
/// - Calls with rank_lengths work in the order of the executor's stream, and their _into forms do
///   not wait and can be captured: the fold, one ncclAllGather between the GPUs, and a kernel of
///   one warp that merges the messages of all ranks. Such calls of one communicator must be in one
///   stream, or be ordered by events. A graph uses the communicator's memory: at most one graph may
///   run at a time, and the communicator must outlive it.
/// - Other calls gather lengths or host memory (communicator.hpp): through pinned memory and memory
///   of the communicator's device, in a stream of its own, synchronously. The program must not have
///   its own NCCL calls on the same communicator in flight meanwhile.
/// - Errors of NCCL and CUDA become communicator_error; the NCCL communicator is then aborted and
///   can no longer be used. Whether the other ranks notice depends on NCCL: between GPUs of one
///   host (NCCL 2.28) they wait until they abort, too.
/// - Destroy it after its streams have been synchronized, or after abort(): the destructor frees
///   its memory when the GPU is done with it, and may wait for a rank that never calls. An executor
///   with a stream of its own waits likewise in its destructor.
/// - Memory: size() + 1 times the longest message, on host and device; kept between calls.
class nccl_communicator {
 public:
  /// Throws communicator_error.
  explicit nccl_communicator(ncclComm_t comm) : comm_(comm) {
    require_no_error();  // of a communicator that does not block: when it is there
    check(ncclCommUserRank(comm_, &rank_), "ncclCommUserRank");
    check(ncclCommCount(comm_, &size_), "ncclCommCount");
    check(ncclCommCuDevice(comm_, &device_), "ncclCommCuDevice");
    const detail::cuda::device_scope scope(device_);
    mailbox_.emplace(size_);
    // The last thing that can fail: nobody would give it back.
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  nccl_communicator(nccl_communicator&& other) noexcept
      : comm_(std::exchange(other.comm_, nullptr)),
        rank_(other.rank_),
        size_(other.size_),
        device_(other.device_),
        stream_(std::exchange(other.stream_, nullptr)),
        host_(std::exchange(other.host_, nullptr)),
        on_gpu_(std::exchange(other.on_gpu_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        mailbox_(std::move(other.mailbox_)) {}
  nccl_communicator& operator=(nccl_communicator&&) = delete;  // one owner of its memory
  ~nccl_communicator() {
    release();
    if (stream_ != nullptr && cudaStreamDestroy(stream_) != cudaSuccess) (void)cudaGetLastError();
  }

  /// Messages in stream order are as many bytes, or a multiple. NCCL may wait for good for ranks
  /// that send other numbers of bytes; of one step are all calls with accumulators of up to 32
  /// bytes, and with larger ones of fewer blocks.
  static constexpr std::int64_t message_step = 4096;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The GPU of this rank.
  int device() const { return device_; }

  /// The same between memory of the GPUs, in the order of a stream of this rank's.
  void all_gather(const void* send, void* receive, std::size_t bytes, cudaStream_t stream) {
    require_usable();
    check(ncclAllGather(send, receive, bytes, ncclChar, comm_, stream), "ncclAllGather");
  }

  /// Waits for a stream in which gathers may be, or for an error of NCCL's.
  void wait(cudaStream_t stream) {
    // NCCL may never end where a rank is gone, so its own errors are looked for while waiting.
    for (;;) {
      const cudaError_t code = cudaStreamQuery(stream);
      if (code == cudaSuccess) return;
      if (code != cudaErrorNotReady) check(code, "cudaStreamQuery");
      (void)cudaGetLastError();
      require_no_error();
    }
  }

  /// Throws what has gone wrong in calls that did not wait: rank_mismatch_error, rank_error, or
  /// communicator_error. Call it when their stream has been waited for.
  void throw_errors() { throw_found(*mailbox_->status()); }

  /// What a call that waits throws, whose status that is.
  void throw_found(detail::cuda::rank_status& status) {
    require_usable();
    require_no_error();
    detail::cuda::rank_mailbox::throw_found(detail::cuda::rank_mailbox::taken(&status));
  }

  /// Makes sure that calls in stream order can send `bytes` bytes a rank: 32 and the accumulators
  /// of a rank's blocks, which is rounded up to a multiple of 4096. 4096 are there from the
  /// beginning. Before a capture of calls that need more.
  void reserve(std::int64_t bytes) {
    const detail::cuda::device_scope scope(device_);
    mailbox_->reserve(detail::cuda::rounded_message_bytes(bytes, message_step));
  }

  /// Aborts the NCCL communicator, after which this one is of no use any more.
  void abort() noexcept {
    if (comm_ != nullptr) (void)ncclCommAbort(std::exchange(comm_, nullptr));
  }

  /// The memory of calls in stream order.
  detail::cuda::rank_mailbox& mailbox() { return *mailbox_; }

  void all_gather(const void* send, void* receive, std::size_t bytes) {
    require_usable();
    if (bytes == 0) return;
    const detail::cuda::device_scope scope(device_);
    grow(bytes);
    char* const all = on_gpu_ + bytes_;
    std::memcpy(host_, send, bytes);
    check(cudaMemcpyAsync(on_gpu_, host_, bytes, cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
    check(ncclAllGather(on_gpu_, all, bytes, ncclChar, comm_, stream_), "ncclAllGather");
    const std::size_t total = bytes * static_cast<std::size_t>(size_);
    check(cudaMemcpyAsync(host_ + bytes_, all, total, cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
    wait(stream_);
    std::memcpy(receive, host_ + bytes_, total);
  }

 private:
  void require_usable() const {
    if (comm_ != nullptr) return;
    throw communicator_error("tilefold::nccl_communicator: it was aborted after an error");
  }

  void require_no_error() {
    // A communicator that does not block works on its calls by itself, and says when they are done.
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
      const ncclResult_t code = ncclCommGetAsyncError(comm_, &state);
      if (code != ncclSuccess) fail("ncclCommGetAsyncError", ncclGetErrorString(code));
    }
    if (state != ncclSuccess) fail("NCCL", ncclGetErrorString(state));
  }

  void grow(std::size_t bytes) {
    if (bytes <= bytes_) return;
    release();
    // At least enough for the first gather of a call and a sum's second.
    bytes = bytes < 4096 ? 4096 : bytes;
    const std::size_t all = bytes * (static_cast<std::size_t>(size_) + 1);
    check(cudaHostAlloc(reinterpret_cast<void**>(&host_), all, cudaHostAllocDefault),
          "cudaHostAlloc");
    check(cudaMalloc(reinterpret_cast<void**>(&on_gpu_), all), "cudaMalloc");
    bytes_ = bytes;
  }

  void release() noexcept {
    bytes_ = 0;
    if (host_ != nullptr && cudaFreeHost(host_) != cudaSuccess) (void)cudaGetLastError();
    if (on_gpu_ != nullptr && cudaFree(on_gpu_) != cudaSuccess) (void)cudaGetLastError();
    host_ = nullptr;
    on_gpu_ = nullptr;
  }

  void check(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return;
    (void)cudaGetLastError();
    fail(what, cudaGetErrorString(code));
  }
  void check(ncclResult_t code, const char* what) {
    if (code == ncclInProgress) return require_no_error();
    if (code != ncclSuccess) fail(what, ncclGetErrorString(code));
  }
  [[noreturn]] void fail(const char* what, const char* why) {
    abort();
    throw communicator_error("tilefold::nccl_communicator: " + std::string(what) + ": " + why);
  }

  ncclComm_t comm_;
  int rank_ = 0;
  int size_ = 1;
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  char* host_ = nullptr;    // this rank's message, then all ranks'
  char* on_gpu_ = nullptr;  // likewise
  std::size_t bytes_ = 0;   // room for a message
  std::optional<detail::cuda::rank_mailbox> mailbox_;
};

static_assert(communicator<nccl_communicator>);

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
