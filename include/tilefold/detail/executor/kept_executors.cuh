// SPDX-License-Identifier: Apache-2.0
//
// The executors behind calls that name a stream, or nothing at all. Each thread keeps its own. A
// call borrows one and gives it back, so a stream's second call allocates nothing.
//
// A stream may end between calls without a word, and the next one may get its handle. So a kept
// executor is known by the number of its stream, which no other stream ever has; its stream is
// touched only while a call names it; and an event tells when its memory is no longer in use, by
// which another stream can take over the memory of one that may be gone.
#pragma once

#include <cuda_runtime_api.h>

#include <list>
#include <optional>
#include <utility>

#include <tilefold/cuda.cuh>
#include <tilefold/detail/cuda/base/runtime.cuh>

namespace tilefold::detail {

using cuda::beside_captures;

/// Makes a device current for a scope, if it can be.
class quiet_device_scope {
 public:
  explicit quiet_device_scope(int device) noexcept : previous_(device) {
    if (cudaGetDevice(&previous_) != cudaSuccess) (void)cudaGetLastError();
    changed_ = previous_ != device && set(device);
  }
  ~quiet_device_scope() {
    if (changed_) (void)set(previous_);
  }
  quiet_device_scope(const quiet_device_scope&) = delete;  // restores in one place only
  quiet_device_scope& operator=(const quiet_device_scope&) = delete;

 private:
  static bool set(int device) noexcept {
    if (cudaSetDevice(device) == cudaSuccess) return true;
    (void)cudaGetLastError();
    return false;
  }

  int previous_;
  bool changed_ = false;
};

template <class Build>
class kept_executors {
 public:
  using executor_type = basic_cuda_executor<Build>;

  /// Streams whose executors a thread keeps, the default streams aside. With more of them, those
  /// used longest ago hand on their memory once it is idle.
  static constexpr std::size_t most_streams = 8;

  /// An executor of a stream.
  class kept {
   public:
    explicit kept(cudaStream_t stream, unsigned long long number) : number_(number) {
      executor_.emplace(stream);
    }
    kept(const kept&) = delete;  // stays in its list
    kept& operator=(const kept&) = delete;
    ~kept() {
      const beside_captures mode;
      if (!is_default() && !captured_) leave_stream();
      executor_.reset();
    }

    executor_type& executor() { return *executor_; }
    const executor_type& executor() const { return *executor_; }

   private:
    friend class kept_executors;

    bool is_default() const { return number_ == 0; }

    // The stream may be gone, so memory is given back in one that is not, after all work.
    void leave_stream() noexcept {
      const quiet_device_scope device(executor().device());
      if (!executor().is_of_another_context()) {
        if (last_use_ != nullptr && cudaEventSynchronize(last_use_) != cudaSuccess) {
          (void)cudaGetLastError();
        }
        forget_event();
      }
      executor().stream_ = cudaStreamPerThread;
    }

    // For a call of a stream that is being captured: memory goes with the graph (graph_memory.cuh).
    void capture() {
      captured_ = true;
      executor().grows_in_captures_ = true;
    }

    // Notes that work which needs the workspace has just been put into the stream.
    void note_use() noexcept {
      if (!std::exchange(executor().is_busy_, false) || is_default()) return;
      const quiet_device_scope device(executor().device());
      if ((last_use_ == nullptr &&
           cudaEventCreateWithFlags(&last_use_, cudaEventDisableTiming) != cudaSuccess) ||
          cudaEventRecord(last_use_, executor().stream()) != cudaSuccess) {
        lose_track();
      }
    }

    // When its work ends is unknown (the context is broken): its memory is never handed on.
    void lose_track() noexcept {
      (void)cudaGetLastError();
      is_lost_ = true;
    }

    // Whether no work can be under way that uses its memory.
    bool is_idle() const noexcept {
      if (is_lost_) return false;
      if (last_use_ == nullptr) return true;
      const beside_captures scope;
      const cudaError_t code = cudaEventQuery(last_use_);
      if (code != cudaSuccess) (void)cudaGetLastError();
      return code == cudaSuccess;
    }

    void move_to(cudaStream_t stream, unsigned long long number) {
      executor().stream_ = stream;
      number_ = number;
    }

    void forget_event() noexcept {
      if (last_use_ != nullptr && cudaEventDestroy(last_use_) != cudaSuccess) {
        (void)cudaGetLastError();
      }
      last_use_ = nullptr;
    }

    // After a reset of the device.
    void forget() noexcept {
      executor().forget();
      last_use_ = nullptr;
      is_lost_ = false;
    }

    std::optional<executor_type> executor_;
    unsigned long long number_;  // of the stream; 0 for a default stream
    cudaEvent_t last_use_ = nullptr;
    bool is_lost_ = false;
    bool captured_ = false;
  };

  /// A list of one: the calling thread's executor for `stream`, no longer kept.
  static std::list<kept> take(cudaStream_t stream) {
    if (stream == nullptr)
      stream = Build::per_thread_stream ? cudaStreamPerThread : cudaStreamLegacy;
    std::list<kept> taken;
    // The legacy stream cannot be captured, and asking for it may break others' captures.
    if (stream != cudaStreamLegacy && cuda::is_capturing(stream)) {
      taken.emplace_back(stream, 0).capture();  // such a stream does not tell its number
      return taken;
    }
    const int device = cuda::device_of(stream);
    const cuda::device_scope scope(device);
    const unsigned long long number = number_of(stream);
    std::list<kept>* const kept_here = executors();
    if (kept_here == nullptr) {
      taken.emplace_back(stream, number);
      return taken;
    }
    std::list<kept>& all = *kept_here;
    auto found = all.begin();
    while (found != all.end() && !serves(*found, device, stream, number)) ++found;
    if (found == all.end()) found = idle_one(all, device, stream, number);
    if (found != all.end()) {
      if (found->executor().keeps_memory()) {
        taken.splice(taken.end(), all, found);
        return taken;
      }
      // After a reset that the number of the context does not tell.
      found->forget();
      all.erase(found);
    }
    taken.emplace_back(stream, number);
    return taken;
  }

  /// Keeps what take() gave.
  static void give_back(std::list<kept>& taken) noexcept {
    if (taken.front().captured_) return;  // what it has is the graph's
    taken.front().note_use();
    std::list<kept>* const all = executors();
    if (all != nullptr) all->splice(all->end(), taken);
  }

  /// Gives up all that the calling thread keeps; waits for work that uses it. In the current
  /// context also the memory of graphs that are gone.
  static void release() noexcept {
    std::list<kept>* const all = executors();
    if (all != nullptr) all->clear();
    cuda::graph_memory::release(cuda::current_context());
  }

 private:
  // Used longest ago first. Null once the thread has given them up at its end, where destructors of
  // other objects of the thread may still make calls: what those take is not kept.
  static std::list<kept>* executors() {
    thread_local bool is_over = false;  // has no destructor, and so lives to the very end
    struct kept_list {
      std::list<kept> all;
      ~kept_list() { is_over = true; }
    };
    if (is_over) return nullptr;
    thread_local kept_list list;
    return &list.all;
  }

  static unsigned long long number_of(cudaStream_t stream) {
    if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) return 0;
    unsigned long long number = 0;
    cuda::check(cudaStreamGetId(stream, &number), "cudaStreamGetId");
    return number;
  }

  // Another context's may live on; it is let go of with the thread.
  static bool is_current(const kept& one, int device) {
    return one.executor().device() == device && !one.executor().is_of_another_context();
  }
  static bool serves(const kept& one, int device, cudaStream_t stream, unsigned long long number) {
    return one.number_ == number && one.executor().stream() == stream && is_current(one, device);
  }

  // One whose memory a new stream may take over, if there are enough; else the end.
  static auto idle_one(std::list<kept>& all, int device, cudaStream_t stream,
                       unsigned long long number) {
    if (number == 0 || all.size() < most_streams) return all.end();
    for (auto one = all.begin(); one != all.end(); ++one) {
      if (one->is_default() || !is_current(*one, device) || !one->is_idle()) continue;
      one->move_to(stream, number);
      return one;
    }
    return all.end();
  }
};

/// The calling thread's executor for a stream, for one call.
template <class Build>
class lent_executor {
 public:
  explicit lent_executor(cudaStream_t stream) : one_(kept_executors<Build>::take(stream)) {}
  ~lent_executor() { kept_executors<Build>::give_back(one_); }
  lent_executor(const lent_executor&) = delete;  // given back once
  lent_executor& operator=(const lent_executor&) = delete;

  basic_cuda_executor<Build>& executor() { return one_.front().executor(); }

 private:
  const beside_captures mode_;
  std::list<typename kept_executors<Build>::kept> one_;
};

}  // namespace tilefold::detail

namespace tilefold {

/// Frees what the calling thread keeps for calls that name a stream, a policy or nothing in place
/// of an executor: for each of the last eight streams and each default stream the workspace of its
/// largest call, and a pinned word for results. Waits for work that uses it. (Else it is kept until
/// the thread ends, for the next call.) Also frees the workspace of graphs that are gone, in the
/// current context.
template <class Build = detail::cuda::this_build>
void release_kept_memory() {
  detail::kept_executors<Build>::release();
}

}  // namespace tilefold
