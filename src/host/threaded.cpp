// SPDX-License-Identifier: Apache-2.0
//
// The threads of the host executor: oneTBB's. An executor with a number of threads of its own has
// an arena of that size; one without uses the arena of whoever calls it, so that it takes part in a
// program's own parallelism and in its limits.
#include <tilefold/detail/host/threaded.hpp>

#include <tilefold/detail/host/serial.hpp>

#include <algorithm>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace tilefold::detail::host {

namespace tbb = oneapi::tbb;

class thread_arena : public tbb::task_arena {
 public:
  using tbb::task_arena::task_arena;
};

threaded::threaded(int threads) : threads_(threads) {
  require_thread_count(threads);
  // oneTBB would print a warning if it were asked for more than it may have.
  const auto allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  arena_ = std::make_shared<thread_arena>(std::min(threads, static_cast<int>(allowed)));
}

int threaded::threads() const {
  return arena_ ? threads_ : tbb::this_task_arena::max_concurrency();
}

void threaded::for_each_block(std::int64_t count, block_function function, void* context) const {
  const auto run = [&] {
    // A group of its own: if the caller's is cancelled half way, this fold still needs every block.
    tbb::task_group_context group(tbb::task_group_context::isolated);
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
  if (arena_) {
    arena_->execute(isolated);
  } else {
    isolated();
  }
}

}  // namespace tilefold::detail::host
