// SPDX-License-Identifier: Apache-2.0
//
// The GPUs of this host, a thread each, that work at the same time. Host code.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "../support/contestant.hpp"

namespace bench {

/// Threads 0 to size - 1; thread r has GPU r as its current one. Thread 0 is the caller.
class crew {
 public:
  explicit crew(int size) : thrown_(static_cast<std::size_t>(size)) {
    for (int r = 1; r < size; ++r) {
      threads_.emplace_back([this, r] { serve(r); });
    }
  }
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew() {
    work_ = nullptr;
    begin();
    for (std::thread& thread : threads_) thread.join();
  }

  int size() const { return static_cast<int>(thrown_.size()); }

  /// Calls work(r) on every thread r; returns when all are done. Throws what the first has thrown.
  void run(const std::function<void(int)>& work) {
    work_ = &work;
    begin();
    attempt(0);
    while (working_.load(std::memory_order_acquire) > 0) {
    }
    for (std::exception_ptr& error : thrown_) {
      if (error != nullptr) std::rethrow_exception(std::exchange(error, nullptr));
    }
  }

 private:
  void begin() {
    working_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
  }

  void serve(int r) {
    for (unsigned seen = 0;; ++seen) {
      wait_for_turn(seen);
      if (work_ == nullptr) return;
      attempt(r);
      working_.fetch_sub(1, std::memory_order_release);
    }
  }

  // Looks for a while by itself: a thread that sleeps takes long to wake.
  void wait_for_turn(unsigned seen) const {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::milliseconds(20);
    while (turn_.load(std::memory_order_acquire) == seen) {
      if (clock::now() > end) turn_.wait(seen, std::memory_order_acquire);
    }
  }

  void attempt(int r) {
    try {
      check(cudaSetDevice(r), "cudaSetDevice");
      (*work_)(r);
    } catch (...) {
      thrown_[static_cast<std::size_t>(r)] = std::current_exception();
    }
  }

  const std::function<void(int)>* work_ = nullptr;
  std::atomic<unsigned> turn_{0};
  std::atomic<int> working_{0};
  std::vector<std::exception_ptr> thrown_;
  std::vector<std::thread> threads_;
};

}  // namespace bench
