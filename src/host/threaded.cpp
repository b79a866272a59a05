// SPDX-License-Identifier: Apache-2.0
//
// The threads of the host executor: oneTBB's. An executor with a number of threads of its own has
// an arena of that size; one without uses the arena of whoever calls it, so that it takes part in a
// program's own parallelism and in its limits.
#include <tilefold/detail/host/threaded.hpp>

#include <tilefold/detail/host/serial.hpp>

#include <algorithm>
#include <atomic>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <pthread.h>

namespace tilefold::detail::host {

namespace tbb = oneapi::tbb;

namespace {

// oneTBB does not survive a fork: its worker threads do not exist in the child, and a lock that one
// of the parent's threads held stays locked there for ever. So in a child of a process that has
// used oneTBB nothing here calls oneTBB: the calling thread runs every block. (Only this file calls
// oneTBB. A program that has used oneTBB by itself is not noticed.)
std::atomic<bool> uses_tbb{false};
std::atomic<bool> is_child{false};  // of a process that had used oneTBB; its children are, too

// Registered when the library is loaded: a static variable of a function might be half made by
// another thread at the time of the fork.
[[maybe_unused]] const int handler = pthread_atfork(nullptr, nullptr, [] {
  if (uses_tbb) is_child = true;
});

// Whether oneTBB may be called. To be asked before every call.
bool may_use_tbb() {
  if (is_child.load(std::memory_order_relaxed)) return false;
  // Looked at first: threads that only read it share its cache line.
  if (!uses_tbb.load(std::memory_order_relaxed)) uses_tbb = true;
  return true;
}

}  // namespace

struct arena_handle::counted_arena : tbb::task_arena {
  using tbb::task_arena::task_arena;
  std::atomic<int> owners{1};
};

arena_handle::arena_handle(int threads) : threads_(threads) {
  require_thread_count(threads);
  if (!may_use_tbb()) return;
  // oneTBB would print a warning if it were asked for more than it may have.
  const auto allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  arena_ = new counted_arena(std::min(threads, static_cast<int>(allowed)));
}

void arena_handle::retain() const { arena_->owners.fetch_add(1, std::memory_order_relaxed); }

void arena_handle::release() const {
  if (arena_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // In a forked child the arena is the parent's, and is leaked.
  if (may_use_tbb()) delete arena_;
}

int arena_handle::threads() const {
  if (!may_use_tbb()) return 1;
  return arena_ != nullptr ? threads_ : tbb::this_task_arena::max_concurrency();
}

void arena_handle::for_each(std::int64_t count, void (*function)(void* context, std::int64_t i),
                            void* context) const {
  if (!may_use_tbb()) {
    for (std::int64_t i = 0; i < count; ++i) function(context, i);
    return;
  }
  // A group of its own: if the caller's is cancelled half way, this fold still needs every block.
  // It keeps the calling thread's floating-point mode, a fold's (detail/core/float_control.hpp),
  // for all threads that take part, which would else round as whoever used the arena first. Made
  // here, for within the arena another thread may be the one that runs.
  tbb::task_group_context group(
      tbb::task_group_context::isolated,
      tbb::task_group_context::default_traits | tbb::task_group_context::fp_settings);
  const auto run = [&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, count),
        [&](const tbb::blocked_range<std::int64_t>& blocks) {
          for (std::int64_t i = blocks.begin(); i < blocks.end(); ++i) function(context, i);
        },
        group);
  };
  // Isolated: while it waits for the last blocks the calling thread takes up nothing else, which
  // might want a lock that the caller holds.
  const auto isolated = [&] { tbb::this_task_arena::isolate(run); };
  if (arena_ != nullptr) {
    arena_->execute(isolated);
  } else {
    isolated();
  }
}

}  // namespace tilefold::detail::host
