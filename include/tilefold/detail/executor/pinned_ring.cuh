// SPDX-License-Identifier: Apache-2.0
//
// Host memory that is not pinned, on its way to a GPU: it goes through a ring of pinned parts. One
// thread, the driver, hands full parts to the GPU; helpers run ahead of it and fill them. They stay
// from the first part to the last, for to wake 32 threads for each part takes as long as a third of
// its way over the bus:
//
//     helpers    fill 0 | fill 1 | fill 2 | fill 3 | wait  | fill 4 ...    slice by slice
//     driver              hand 0 | hand 1 | hand 2 | hand 3  | hand 4 ...
//     GPU                 copy 0 .............. | copy 1 .............. | copy 2 ...
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include <tilefold/detail/cuda/base/runtime.cuh>
#include <tilefold/error.hpp>

namespace tilefold::detail::cuda {

/// A stream or an event of the current device, and memory of it.
class stream_owner {
 public:
  stream_owner() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  stream_owner(const stream_owner&) = delete;
  stream_owner& operator=(const stream_owner&) = delete;
  ~stream_owner() {
    if (cudaStreamDestroy(stream) != cudaSuccess) (void)cudaGetLastError();
  }
  cudaStream_t stream = nullptr;
};

class event_owner {
 public:
  event_owner() {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  }
  event_owner(const event_owner&) = delete;
  event_owner& operator=(const event_owner&) = delete;
  ~event_owner() {
    if (cudaEventDestroy(event) != cudaSuccess) (void)cudaGetLastError();
  }
  cudaEvent_t event = nullptr;
};

/// Device memory, or pinned memory of the host.
class slot_memory {
 public:
  slot_memory(std::int64_t bytes, bool pinned) : pinned_(pinned) {
    const auto size = static_cast<std::size_t>(bytes);
    const cudaError_t code =
        pinned ? cudaHostAlloc(&memory_, size, cudaHostAllocDefault) : cudaMalloc(&memory_, size);
    if (code == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      throw allocation_error("tilefold::streamed: " + std::to_string(bytes) + " bytes of " +
                                 (pinned ? "pinned" : "device") + " memory could not be had",
                             bytes);
    }
    check(code, pinned ? "cudaHostAlloc" : "cudaMalloc");
  }
  slot_memory(const slot_memory&) = delete;
  slot_memory& operator=(const slot_memory&) = delete;
  ~slot_memory() {
    if ((pinned_ ? cudaFreeHost(memory_) : cudaFree(memory_)) != cudaSuccess) {
      (void)cudaGetLastError();
    }
  }
  char* bytes() const { return static_cast<char*>(memory_); }

 private:
  void* memory_ = nullptr;
  bool pinned_;
};

/// What fills pinned memory: copies `bytes` bytes. It throws nothing.
using fill_function = void (*)(char* to, const char* from, std::size_t bytes);

inline void fill_by_copy(char* to, const char* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

/// The driver says in advance what it will copy (announce), and copies it in the same order and in
/// the same ranges (copy). One run at a time.
class pinned_ring {
 public:
  explicit pinned_ring(fill_function fill = &fill_by_copy) : fill_(fill) {}

  static constexpr std::int64_t bytes() { return num_parts * part_bytes; }

  /// Makes the parts that a run of so many bytes needs, or throws allocation_error.
  void reserve(std::int64_t bytes) {
    while (made_ < num_parts && (made_ == 0 || made_ * part_bytes < bytes)) {
      parts_[made_] = std::make_unique<pinned_part>(part_bytes);
      ++made_;
    }
    const std::int64_t slices = (bytes - 1) / slice_bytes + 1;
    threads_ = slices < most_threads ? slices : most_threads;
  }

  /// After reserve(): calls drive() on one thread, while others of `mode` help. What drive() throws
  /// is thrown. Before that it waits for the copies that it has begun.
  template <class Mode, class Drive>
  void run(const Mode& mode, const Drive& drive) {
    forget();
    const std::int64_t threads = mode.threads() < threads_ ? mode.threads() : threads_;
    // Any of the threads may be the first to come, and with one thread the others come when all
    // is done; so the driver must not need another thread.
    std::atomic<bool> is_driven{false};
    mode.for_each(threads, [&](std::int64_t) {
      if (is_driven.exchange(true)) {
        help();
      } else {
        const ending end(*this);
        drive();
      }
    });
  }

  /// Bytes that are announced and not yet copied.
  std::int64_t ahead() const { return ahead_; }

  void announce(const char* from, std::int64_t bytes) {
    if (bytes == 0) return;
    {
      const std::lock_guard lock(mutex_);
      announced_.push_back({from, bytes});
    }
    ahead_ += bytes;
    changed_.notify_all();
  }

  /// Copies the next announced range to the GPU, in the order of `stream`.
  void copy(char* to, std::int64_t bytes, cudaStream_t stream) {
    if (bytes > ahead_) throw std::logic_error("tilefold: a copy that was not announced");
    for (std::int64_t done = 0; done < bytes;) {
      const pinned_part& part = next();
      const std::int64_t size = part.size;
      check(cudaMemcpyAsync(to + done, part.memory.bytes(), static_cast<std::size_t>(size),
                            cudaMemcpyDefault, stream),
            "cudaMemcpyAsync");
      check(cudaEventRecord(part.copied.event, stream), "cudaEventRecord");
      ++handed_;
      done += size;
      ahead_ -= size;
    }
  }

 private:
  // Six parts are some 900 us of a bus of 55 GB/s, and to wake threads takes some 50; 16 of them
  // copy about twice as fast as that bus. docs/ranks.md has what was measured.
  static constexpr std::int64_t num_parts = 6;
  static constexpr std::int64_t part_bytes = std::int64_t{8} << 20;
  static constexpr std::int64_t slice_bytes = std::int64_t{1} << 19;
  static constexpr std::int64_t most_threads = 16;

  struct range {
    const char* from;
    std::int64_t bytes;
  };

  struct pinned_part {
    explicit pinned_part(std::int64_t bytes) : memory(bytes, true) {}

    slot_memory memory;
    event_owner copied;
    const char* from = nullptr;
    std::int64_t size = 0;
    std::int64_t taken = 0;   // by those who fill it
    std::int64_t filled = 0;  // is size when it is full
  };

  // Parts are counted from the begin of the run; a part takes the place of the one made_ before it
  // when that is on the GPU: freed_ <= handed_ <= filling_ <= opened_ <= freed_ + made_.
  pinned_part& at(std::int64_t part) { return *parts_[part % made_]; }

  class ending {
   public:
    explicit ending(pinned_ring& ring) : ring_(ring) {}
    ending(const ending&) = delete;
    ending& operator=(const ending&) = delete;
    ~ending() {
      {
        const std::lock_guard lock(ring_.mutex_);
        ring_.is_over_ = true;
      }
      ring_.changed_.notify_all();
    }

   private:
    pinned_ring& ring_;
  };

  // What an earlier run has left. The GPU is done with its parts, for that run has waited.
  void forget() {
    announced_.clear();
    ahead_ = freed_ = handed_ = filling_ = opened_ = 0;
    is_over_ = false;
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      if (!fill_slice(lock)) changed_.wait(lock);
    }
  }

  // Fills a slice of the first part that needs it, if there is one.
  bool fill_slice(std::unique_lock<std::mutex>& lock) {
    if (filling_ == opened_ && !open_part()) return false;
    pinned_part& part = at(filling_);
    const std::int64_t begin = part.taken;
    const std::int64_t left = part.size - begin;
    const std::int64_t size = left < slice_bytes ? left : slice_bytes;
    part.taken += size;
    if (part.taken == part.size) ++filling_;
    lock.unlock();
    fill_(part.memory.bytes() + begin, part.from + begin, static_cast<std::size_t>(size));
    lock.lock();
    part.filled += size;
    if (part.filled == part.size) is_full_.notify_one();
    return true;
  }

  bool open_part() {
    if (announced_.empty() || opened_ == freed_ + made_) return false;
    range& next = announced_.front();
    pinned_part& part = at(opened_);
    part.from = next.from;
    part.size = next.bytes < part_bytes ? next.bytes : part_bytes;
    part.taken = 0;
    part.filled = 0;
    next.from += part.size;
    next.bytes -= part.size;
    if (next.bytes == 0) announced_.pop_front();
    ++opened_;
    return true;
  }

  // The next part, when it is full.
  const pinned_part& next() {
    free_copied();
    std::unique_lock lock(mutex_);
    for (;;) {
      if (handed_ < filling_) {
        // Others have what is missing of it.
        pinned_part& part = at(handed_);
        is_full_.wait(lock, [&] { return part.filled == part.size; });
        return part;
      }
      if (fill_slice(lock)) continue;
      // All parts are with the GPU.
      lock.unlock();
      check(cudaEventSynchronize(at(freed_).copied.event), "cudaEventSynchronize");
      free_copied();
      lock.lock();
    }
  }

  // Gives back the parts that are on the GPU.
  void free_copied() {
    std::int64_t free = freed_;
    while (free < handed_) {
      const cudaError_t code = cudaEventQuery(at(free).copied.event);
      if (code == cudaErrorNotReady) break;
      check(code, "cudaEventQuery");
      ++free;
    }
    if (free == freed_) return;
    {
      const std::lock_guard lock(mutex_);
      freed_ = free;
    }
    changed_.notify_all();
  }

  fill_function fill_;
  std::unique_ptr<pinned_part> parts_[num_parts];
  std::int64_t made_ = 0;
  std::int64_t threads_ = 1;
  // The driver's.
  std::int64_t ahead_ = 0;
  std::int64_t handed_ = 0;
  // Everyone's, under the lock; freed_ is written by the driver alone.
  std::mutex mutex_;
  std::condition_variable changed_;  // there may be something to fill
  std::condition_variable is_full_;
  std::deque<range> announced_;
  std::int64_t freed_ = 0;
  std::int64_t filling_ = 0;
  std::int64_t opened_ = 0;
  bool is_over_ = false;
};

}  // namespace tilefold::detail::cuda
