// SPDX-License-Identifier: Apache-2.0
//
// What ranks need of each other: a way to tell all of them something. And the ranks that are
// threads of one process. Host only; link with the system's threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tilefold/error.hpp>

namespace tilefold {

/// The ranks of a group, as one of them sees it.
///
/// - `rank()`: this rank's number, 0 to size() - 1; `size()`: how many there are.
/// - `all_gather(send, receive, bytes)`: every rank passes `bytes` bytes at `send`, the same number
///   on all ranks, and receives size() * bytes at `receive`, in the order of the ranks. Both are
///   host memory. The call returns when all bytes have arrived. It may throw any exception if a
///   rank cannot be reached, if possible on all ranks.
/// - Optional: `send(rank, from, bytes)` and `receive(rank, to, bytes)`, of host memory to and from
///   one other rank, with the same number of bytes on both sides and in the order of sending. With
///   them very many ranks merge the parts of neighbours instead of gathering all parts
///   (docs/ranks.md).
///
/// docs/ranks.md shows a communicator over another library, in thirty lines.
template <class Comm>
concept communicator = requires(Comm& comm, const void* send, void* receive, std::size_t bytes) {
  { comm.rank() } -> std::convertible_to<int>;
  { comm.size() } -> std::convertible_to<int>;
  comm.all_gather(send, receive, bytes);
};

/// A rank of a group whose ranks are threads of one process: for tests and small hosts. (One
/// host_executor uses all cores by itself.)
///
///     thread_communicator::run(4, [&](thread_communicator& comm) { ... });
///
/// - Each is used by one thread at a time, and is not copied. A rank that is destroyed, for
///   instance because its thread has thrown, has left the group: ranks that wait for it, now or
///   later, throw communicator_error, which names it.
/// - Cost: no thread beyond the ranks' own. A waiting rank spins for 50 us if there is a core for
///   each rank, and then sleeps.
class thread_communicator {
 public:
  /// The ranks of a new group; throws invalid_range_error unless size >= 1.
  static std::vector<thread_communicator> make(int size) {
    if (size < 1) {
      throw invalid_range_error(
          "tilefold::thread_communicator: a group has at least one rank, not " +
          std::to_string(size));
    }
    const auto group = std::make_shared<shared_state>(size);
    std::vector<thread_communicator> ranks;
    ranks.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) ranks.push_back(thread_communicator(group, rank));
    return ranks;
  }

  /// Calls body(communicator) on `size` threads, and returns when all are done. Throws what the
  /// first of them has thrown that was not told by another (communicator_error); else the first.
  template <class Body>
  static void run(int size, const Body& body) {
    std::vector<thread_communicator> ranks = make(size);
    std::vector<std::exception_ptr> thrown(ranks.size());
    std::vector<std::thread> threads;
    const auto join_all = [&] {
      for (std::thread& thread : threads) thread.join();
    };
    try {
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        threads.emplace_back([&body, rank = std::move(ranks[i]), &error = thrown[i]]() mutable {
          // It leaves where its body ends, not where the thread is joined.
          thread_communicator own(std::move(rank));
          try {
            body(own);
          } catch (...) {
            error = std::current_exception();
          }
        });
      }
    } catch (...) {
      ranks.clear();  // those without a thread leave
      join_all();
      throw;
    }
    join_all();
    throw_first(thrown);
  }

  thread_communicator(thread_communicator&&) noexcept = default;
  thread_communicator& operator=(thread_communicator&&) = delete;  // it would leave its group
  ~thread_communicator() { abort(); }

  int rank() const { return rank_; }
  int size() const { return group_->size(); }

  /// Throws communicator_error if a rank has left, or gives another number of bytes.
  void all_gather(const void* send, void* receive, std::size_t bytes) {
    group_->all_gather(rank_, send, receive, bytes);
  }

  /// Gives another rank a copy, and does not wait for it.
  void send(int rank, const void* from, std::size_t bytes) {
    group_->send(rank_, rank, from, bytes);
  }

  /// Waits for what another rank sends. Throws communicator_error if it is of another length, or if
  /// that rank has left without it.
  void receive(int rank, void* to, std::size_t bytes) { group_->receive(rank, rank_, to, bytes); }

  /// Leaves the group, as one that is destroyed does.
  void abort() noexcept {
    if (group_ != nullptr) group_->leave(rank_);
  }

 private:
  class shared_state {
   public:
    explicit shared_state(int size) : sent_(static_cast<std::size_t>(size)) {}

    int size() const { return static_cast<int>(sent_.size()); }

    void leave(int rank) noexcept {
      const std::lock_guard lock(mutex_);
      if (left_ < 0) left_ = rank;
      sent_[static_cast<std::size_t>(rank)].left = true;
      changed_.notify_all();
    }

    void all_gather(int rank, const void* send, void* receive, std::size_t bytes) {
      meet([&] {
        message& own = sent_[static_cast<std::size_t>(rank)];
        own.data = send;
        own.bytes = bytes;
      });
      bool alike = true;
      for (std::size_t r = 0; r < sent_.size(); ++r) {
        alike = alike && sent_[r].bytes == bytes;
        if (sent_[r].bytes == bytes && bytes > 0) {
          std::memcpy(static_cast<std::byte*>(receive) + r * bytes, sent_[r].data, bytes);
        }
      }
      depart();
      if (!alike) {
        throw communicator_error("tilefold::thread_communicator: rank " + std::to_string(rank) +
                                 " gives " + std::to_string(bytes) +
                                 " bytes, but others give another number");
      }
    }

    void send(int from, int to, const void* data, std::size_t bytes) {
      const auto* const first = static_cast<const std::byte*>(data);
      letter sent{from, to, {first, first + bytes}};
      const std::lock_guard lock(mutex_);
      letters_.push_back(std::move(sent));
      changed_.notify_all();
    }

    void receive(int from, int to, void* data, std::size_t bytes) {
      std::unique_lock lock(mutex_);
      const auto own = [&] {
        return std::find_if(letters_.begin(), letters_.end(),
                            [&](const letter& sent) { return sent.from == from && sent.to == to; });
      };
      // Another one may have left because it has all that it wanted.
      const bool& has_left = sent_[static_cast<std::size_t>(from)].left;
      const bool& own_left = sent_[static_cast<std::size_t>(to)].left;
      changed_.wait(lock, [&] { return own() != letters_.end() || has_left || own_left; });
      const auto found = own();
      if (found == letters_.end()) throw_left(has_left ? from : to);
      const letter got = std::move(*found);
      letters_.erase(found);
      if (got.bytes.size() != bytes) {
        throw communicator_error("tilefold::thread_communicator: rank " + std::to_string(to) +
                                 " waits for " + std::to_string(bytes) + " bytes of rank " +
                                 std::to_string(from) + ", which has sent " +
                                 std::to_string(got.bytes.size()));
      }
      if (bytes > 0) std::memcpy(data, got.bytes.data(), bytes);
    }

   private:
    struct letter {
      int from;
      int to;
      std::vector<std::byte> bytes;
    };
    struct message {
      const void* data = nullptr;
      std::size_t bytes = 0;
      bool left = false;  // the rank has
    };

    // Returns when all ranks have called it.
    template <class Arrive>
    void meet(const Arrive& arrive) {
      std::unique_lock lock(mutex_);
      require_all();
      arrive();
      const unsigned turn = turn_;
      if (++arrived_ == size()) {
        arrived_ = 0;
        departed_ = 0;
        ++turn_;
        changed_.notify_all();
        return;
      }
      wait(lock, [&] { return turn_ != turn || left_ >= 0; });
      if (turn_ == turn) require_all();
    }

    // Returns when no rank reads what others have sent. All have arrived, so all come here.
    void depart() {
      std::unique_lock lock(mutex_);
      if (++departed_ == size()) {
        changed_.notify_all();
        return;
      }
      wait(lock, [&] { return departed_ == size(); });
    }

    // Until done(), which reads atomics. A thread that sleeps takes long to wake, so it looks by
    // itself at first, where no other rank needs its core.
    template <class Done>
    void wait(std::unique_lock<std::mutex>& lock, const Done& done) {
      if (looks_first_) {
        lock.unlock();
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
        while (!done() && std::chrono::steady_clock::now() < end) {
        }
        lock.lock();
      }
      changed_.wait(lock, done);
    }

    void require_all() const {
      if (left_ >= 0) throw_left(left_);
    }
    [[noreturn]] static void throw_left(int rank) {
      throw communicator_error("tilefold::thread_communicator: rank " + std::to_string(rank) +
                               " has left the group");
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<message> sent_;
    std::vector<letter> letters_;  // on their way, the oldest first
    const bool looks_first_ = sent_.size() <= std::thread::hardware_concurrency();
    int arrived_ = 0;
    std::atomic<int> departed_ = 0;
    std::atomic<unsigned> turn_ = 0;
    std::atomic<int> left_ = -1;  // the first that has left
  };

  thread_communicator(std::shared_ptr<shared_state> group, int rank)
      : group_(std::move(group)), rank_(rank) {}

  static void throw_first(const std::vector<std::exception_ptr>& thrown) {
    std::exception_ptr told;
    for (const std::exception_ptr& error : thrown) {
      if (error == nullptr) continue;
      try {
        std::rethrow_exception(error);
      } catch (const communicator_error&) {
        if (told == nullptr) told = error;
      } catch (const rank_error&) {
        if (told == nullptr) told = error;
      }
    }
    if (told != nullptr) std::rethrow_exception(told);
  }

  std::shared_ptr<shared_state> group_;
  int rank_;
};

}  // namespace tilefold
