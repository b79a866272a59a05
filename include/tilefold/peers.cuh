// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are GPUs of one process and reach each other's memory. Header only; no NCCL.
#pragma once

#include <tilefold/config.hpp>

TILEFOLD_WARNINGS_OFF

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilefold/communicator.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/detail/cuda/range/peer_gather_kernel.cuh>
#include <tilefold/detail/cuda/range/rank_mailbox.cuh>
#include <tilefold/error.hpp>

namespace tilefold {

namespace detail::cuda {

/// In which way the ranks of a group gather, call by call. A rank that waits in its thread and one
/// that waits on its GPU would wait for each other for good. Graphs are recorded once and run any
/// number of times, so a group that records calls is not looked after.
class gather_ways {
 public:
  enum class way : char { in_threads, in_stream };

  explicit gather_ways(std::size_t ranks) : calls_(ranks) {}

  /// The next call of `rank`. False if another rank's call of that number went the other way.
  bool next(std::size_t rank, way which) {
    const std::lock_guard lock(mutex_);
    if (records_) return true;
    const std::int64_t call = calls_[rank];
    const auto known = first_ + static_cast<std::int64_t>(ways_.size());
    if (call == known) ways_.push_back(which);
    ++calls_[rank];  // not before: a call that throws here was none
    const bool fits = ways_[static_cast<std::size_t>(call - first_)] == which;
    while (!ways_.empty() && *std::min_element(calls_.begin(), calls_.end()) > first_) {
      ways_.pop_front();
      ++first_;
    }
    return fits;
  }

  /// A rank records a call.
  void record() {
    const std::lock_guard lock(mutex_);
    records_ = true;
    ways_.clear();
  }

 private:
  std::mutex mutex_;
  bool records_ = false;
  std::vector<std::int64_t> calls_;  // of each rank
  std::deque<way> ways_;             // of the calls from number first_ on
  std::int64_t first_ = 0;
};

/// What the ranks of a group share: the inboxes of all GPUs, and a word a rank that tells whether
/// it has left.
class peer_group {
 public:
  static constexpr std::int64_t capacity = 16384;  // bytes of a message

  explicit peer_group(const std::vector<int>& devices) : ways_(devices.size()) {
    for (const int device : devices) gpus_.push_back({device, nullptr});
    try {
      for (const int device : devices) reach_all(device);
      make_inboxes();
    } catch (...) {
      release();
      throw;
    }
  }
  peer_group(const peer_group&) = delete;
  peer_group& operator=(const peer_group&) = delete;
  ~peer_group() { release(); }

  int size() const { return static_cast<int>(gpus_.size()); }
  int device(int rank) const { return gpus_[at(rank)].device; }
  /// All inboxes, in memory of the rank's GPU.
  const peer_inbox* inboxes(int rank) const {
    return reinterpret_cast<const peer_inbox*>(gpus_[at(rank)].memory);
  }
  const unsigned* left() const { return left_; }
  bool has_left(int rank) const {
    return std::atomic_ref(left_[at(rank)]).load(std::memory_order_acquire) != 0;
  }
  void leave(int rank) noexcept {
    std::atomic_ref(left_[at(rank)]).store(1, std::memory_order_release);
  }
  bool next_gather(int rank, gather_ways::way which) { return ways_.next(at(rank), which); }
  void record_gather() { ways_.record(); }

 private:
  struct gpu {
    int device;
    char* memory;
  };

  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  void reach_all(int device) const {
    const device_scope scope(device);
    for (const gpu& other : gpus_) {
      if (other.device == device) continue;
      int reaches = 0;
      check(cudaDeviceCanAccessPeer(&reaches, device, other.device), "cudaDeviceCanAccessPeer");
      if (reaches == 0) {
        throw communicator_error("tilefold::peer_communicator: GPU " + std::to_string(device) +
                                 " does not reach the memory of GPU " +
                                 std::to_string(other.device) + "; use nccl_communicator");
      }
      const cudaError_t code = cudaDeviceEnablePeerAccess(other.device, 0);
      if (code == cudaErrorPeerAccessAlreadyEnabled) {
        (void)cudaGetLastError();
      } else {
        check(code, "cudaDeviceEnablePeerAccess");
      }
    }
  }

  // A GPU's memory: the table of all inboxes, three words a rank, its places.
  void make_inboxes() {
    const auto ranks = static_cast<std::int64_t>(gpus_.size());
    void* left = nullptr;
    check(cudaHostAlloc(&left, gpus_.size() * sizeof(unsigned), cudaHostAllocPortable),
          "cudaHostAlloc");
    left_ = static_cast<unsigned*>(left);
    for (std::size_t r = 0; r < gpus_.size(); ++r) left_[r] = 0;
    const auto table = ranks * static_cast<std::int64_t>(sizeof(peer_inbox));
    const auto words = ranks * static_cast<std::int64_t>(sizeof(unsigned));
    const std::int64_t front = (table + 3 * words + 255) / 256 * 256;
    std::vector<peer_inbox> inboxes;
    for (gpu& g : gpus_) {
      const device_scope scope(g.device);
      void* memory = nullptr;
      check(cudaMalloc(&memory, static_cast<std::size_t>(front + 2 * ranks * capacity)),
            "cudaMalloc");
      g.memory = static_cast<char*>(memory);
      check(cudaMemset(memory, 0, static_cast<std::size_t>(front)), "cudaMemset");
      auto* const flags = reinterpret_cast<unsigned*>(g.memory + table);
      inboxes.push_back({g.memory + front, flags, flags + ranks, flags + 2 * ranks});
    }
    for (const gpu& g : gpus_) {
      const device_scope scope(g.device);
      check(cudaMemcpy(g.memory, inboxes.data(), static_cast<std::size_t>(table),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  }

  void release() noexcept {
    for (const gpu& g : gpus_) {
      if (g.memory != nullptr && cudaFree(g.memory) != cudaSuccess) (void)cudaGetLastError();
    }
    if (left_ != nullptr && cudaFreeHost(left_) != cudaSuccess) (void)cudaGetLastError();
  }

  std::vector<gpu> gpus_;
  unsigned* left_ = nullptr;  // a word a rank
  gather_ways ways_;
};

}  // namespace detail::cuda

/// A rank of a group of GPUs of one process, each driven by a thread of its own. They write their
/// messages straight into each other's memory.
///
///     auto comms = tilefold::peer_communicator::make({0, 1});
///     // on thread r, whose current device is r:
///     tilefold::cuda_executor gpu;
///     auto comm = std::move(comms[r]);
///     tilefold::rank_lengths lengths({n0, n1});
///     tilefold::reduce_into(tilefold::ranks(comm, gpu, lengths), first, last, out);
///
/// - Calls with rank_lengths work in the order of the executor's stream, as with nccl_communicator,
///   but the gather is a kernel of this library with one block per rank, which waits on the GPU for
///   the other ranks. Other calls gather as thread_communicator does. If some ranks make a call of
///   one kind and others of the other, the rank that calls last leaves the group and throws
///   rank_mismatch_error; the others throw communicator_error. If a rank of the group has recorded
///   a call into a graph, they wait forever instead.
/// - A message has at most 16384 bytes: 32, and the accumulators of a rank; longer ones throw
///   communicator_error on all ranks.
/// - A rank that is destroyed or aborted has left the group: for ranks that wait for it, now or
///   later, throw_errors() and calls that return a value throw communicator_error. Its own calls
///   that still wait for others end with the same error. The destructor waits for the work of its
///   GPU. To get the results of its own calls, synchronize with its stream first. The destructor of
///   an executor with a stream of its own waits for that executor's calls: call abort() before it,
///   or destroy the communicator first, as above.
template <class Build>
class basic_peer_communicator {
 public:
  /// The ranks of a new group, rank r on GPU devices[r]. Throws invalid_range_error unless all are
  /// different and there is one at least; communicator_error if they do not reach each other.
  static std::vector<basic_peer_communicator> make(const std::vector<int>& devices) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (devices[i] != devices[k]) continue;
        throw invalid_range_error("tilefold::peer_communicator: GPU " + std::to_string(devices[i]) +
                                  " is named twice: its ranks could wait for each other");
      }
    }
    auto threads = thread_communicator::make(static_cast<int>(devices.size()));
    const auto group = std::make_shared<detail::cuda::peer_group>(devices);
    std::vector<basic_peer_communicator> ranks;
    ranks.reserve(devices.size());
    for (auto& thread : threads) ranks.push_back(basic_peer_communicator(group, std::move(thread)));
    return ranks;
  }

  basic_peer_communicator(basic_peer_communicator&&) noexcept = default;
  basic_peer_communicator& operator=(basic_peer_communicator&&) = delete;  // it would leave
  ~basic_peer_communicator() {
    if (group_ == nullptr) return;
    abort();
    // Gathers that are under way now end by themselves. Their memory goes next, and with the last
    // rank that of all inboxes.
    finish();
  }

  int rank() const { return threads_.rank(); }
  int size() const { return threads_.size(); }
  /// The GPU of this rank.
  int device() const { return group_->device(rank()); }

  /// Between memory of the host.
  void all_gather(const void* send, void* receive, std::size_t bytes) {
    require_same_way(detail::cuda::gather_ways::way::in_threads);
    threads_.all_gather(send, receive, bytes);
  }

  /// Between memory of the GPUs, in the order of a stream of this rank's; a multiple of 16 bytes.
  void all_gather(const void* send, void* receive, std::size_t bytes, cudaStream_t stream) {
    using namespace detail::cuda;
    require_all();
    require_fits(static_cast<std::int64_t>(bytes));
    if (is_capturing(stream)) group_->record_gather();
    require_same_way(gather_ways::way::in_stream);
    const ready_kernel<const char*, char*, std::int64_t, int, const peer_inbox*, std::int64_t,
                       const unsigned*>
        kernel{
            &peer_gather_kernel<Build>, "peer_gather_kernel", peer_gather_nt, size(), false, false};
    const device_scope scope(device());
    kernel.launch(size(), stream, static_cast<const char*>(send), static_cast<char*>(receive),
                  static_cast<std::int64_t>(bytes), rank(), group_->inboxes(rank()),
                  peer_group::capacity, group_->left());
  }

  /// Waits for a stream in which gathers may be.
  void wait(cudaStream_t stream) {
    detail::cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  /// Throws what has gone wrong in calls that did not wait: communicator_error,
  /// rank_mismatch_error, or rank_error. Call it when their stream has been waited for.
  void throw_errors() { throw_found(*mailbox_->status()); }

  /// What a call that waits throws, whose status that is.
  void throw_found(detail::cuda::rank_status& status) {
    const auto found = detail::cuda::rank_mailbox::taken(&status);
    // Zeros stand where the message of a rank would be that has left, or that this one has not
    // waited for since it has left itself.
    if (found.what == detail::cuda::rank_status::other_call) {
      for (const int left : {found.rank, rank()}) {
        if (group_->has_left(left)) throw_left(left);
      }
    }
    detail::cuda::rank_mailbox::throw_found(found);
  }

  /// Makes room for messages of `bytes` bytes, up to 16384; more is refused. 4096 are there from
  /// the beginning. Before a capture of calls that need more.
  void reserve(std::int64_t bytes) {
    require_fits(bytes);
    const detail::cuda::device_scope scope(device());
    mailbox_->reserve(bytes);
  }

  /// Leaves the group, as a rank that is destroyed does: ends what waits for it, on GPUs and in
  /// threads, and what waits here for others. May be called from another thread.
  void abort() noexcept {
    if (group_ == nullptr) return;
    group_->leave(rank());
    threads_.abort();
  }

  /// The memory of calls in stream order.
  detail::cuda::rank_mailbox& mailbox() { return *mailbox_; }

 private:
  basic_peer_communicator(std::shared_ptr<detail::cuda::peer_group> group,
                          thread_communicator thread)
      : group_(std::move(group)), threads_(std::move(thread)) {
    const detail::cuda::device_scope scope(device());
    mailbox_.emplace(size());
  }

  // Waits for all that the rank's GPU has been given.
  void finish() noexcept {
    try {
      const detail::cuda::device_scope scope(device());
      if (cudaDeviceSynchronize() != cudaSuccess) (void)cudaGetLastError();
    } catch (...) {
      // The GPU is gone, and with it what it was given.
    }
  }

  static void require_fits(std::int64_t bytes) {
    if (bytes <= detail::cuda::peer_group::capacity) return;
    throw communicator_error("tilefold::peer_communicator: a message of " + std::to_string(bytes) +
                             " bytes; it takes at most " +
                             std::to_string(detail::cuda::peer_group::capacity));
  }

  // Leaves the group if the ranks have come to calls that could not meet.
  void require_same_way(detail::cuda::gather_ways::way which) {
    if (group_->next_gather(rank(), which)) return;
    abort();
    const bool here = which == detail::cuda::gather_ways::way::in_stream;
    throw rank_mismatch_error(
        "tilefold::peer_communicator: rank " + std::to_string(rank()) + " is in a call " +
        (here ? "with" : "without") + " lengths in stream order, another rank in one " +
        (here ? "without" : "with") + ": they cannot meet, so this rank has left the group");
  }

  void require_all() const {
    for (int r = 0; r < size(); ++r) {
      if (group_->has_left(r)) throw_left(r);
    }
  }
  [[noreturn]] static void throw_left(int rank) {
    throw communicator_error("tilefold::peer_communicator: rank " + std::to_string(rank) +
                             " has left the group");
  }

  std::shared_ptr<detail::cuda::peer_group> group_;
  thread_communicator threads_;
  std::optional<detail::cuda::rank_mailbox> mailbox_;
};

using peer_communicator = basic_peer_communicator<detail::cuda::this_build>;
static_assert(communicator<peer_communicator>);

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
