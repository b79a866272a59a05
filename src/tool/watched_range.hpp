// SPDX-License-Identifier: Apache-2.0
//
// A range of memory that a signal handler looks up, in a table whose slots are used again.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace tilefold::tool {

/// One slot. A handler must not wait for a lock, and its slot may be given to another range while
/// it reads: begin of one range and end of another would span memory that is in neither. A
/// generation, which is odd while the slot changes, tells.
class watched_range {
 public:
  struct place {
    std::uintptr_t begin;
    std::uintptr_t end;
    int descriptor;
  };

  /// Called between two reads, or two writes, of a slot. Tests pass something else.
  struct nothing {
    void operator()() const {}
  };

  /// False if the slot is in use.
  bool take(const place& now) {
    if (taken_.exchange(true)) return false;
    lost_ = false;
    set(now, nothing{});
    return true;
  }
  /// Before the memory is given back.
  template <class Between = nothing>
  void give_back(const Between& between = {}) {
    set({0, 0, -1}, between);
    taken_ = false;
  }

  /// The range, if `address` is in it. For handlers, too.
  template <class Between = nothing>
  std::optional<place> around(std::uintptr_t address, const Between& between = {}) const {
    const unsigned generation = generation_;
    const std::uintptr_t begin = begin_;
    between();
    const place found{begin, end_, descriptor_};
    // Whoever reads a range keeps it as it is, so one that changes is not the one that is asked
    // for.
    if (generation % 2 != 0 || generation != generation_) return std::nullopt;
    if (address < found.begin || address >= found.end) return std::nullopt;
    return found;
  }

  void lose() { lost_ = true; }
  bool is_lost() const { return lost_; }

 private:
  template <class Between>
  void set(const place& now, const Between& between) {
    ++generation_;
    begin_ = now.begin;
    between();
    end_ = now.end;
    descriptor_ = now.descriptor;
    ++generation_;
  }

  static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);
  static_assert(std::atomic<unsigned>::is_always_lock_free);
  static_assert(std::atomic<bool>::is_always_lock_free);

  std::atomic<bool> taken_{false};
  std::atomic<unsigned> generation_{0};
  std::atomic<std::uintptr_t> begin_{0};
  std::atomic<std::uintptr_t> end_{0};
  std::atomic<int> descriptor_{-1};
  std::atomic<bool> lost_{false};
};

}  // namespace tilefold::tool
