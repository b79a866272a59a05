// SPDX-License-Identifier: Apache-2.0
//
// The ring of pinned memory with a copy engine that is a thread: whatever the ranges, the threads
// and the engine's haste, each byte arrives; a driver that fails leaves nobody waiting. The linker
// puts these functions before the runtime's own (--wrap, test/CMakeLists.txt).
#include <tilefold/detail/executor/pinned_ring.cuh>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/host.hpp>

#include "../support/random.hpp"
#include "../support/seed.hpp"

namespace {

using tilefold::detail::cuda::pinned_ring;
using tilefold::test::shape_stream;

// An event is done when the engine has come to its last record.
struct engine_event {
  std::atomic<int> recorded{0};
  std::atomic<int> reached{0};
};

class copy_engine {
 public:
  copy_engine() : thread_([this] { work(); }) {}
  ~copy_engine() {
    push({});
    thread_.join();
  }

  struct order {
    void* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0;
    engine_event* event = nullptr;
    int record = 0;
  };
  void push(const order& next) {
    {
      const std::lock_guard lock(mutex_);
      orders_.push_back(next);
    }
    changed_.notify_one();
  }

  std::atomic<int> delay_us{0};
  std::atomic<int> copies_until_failure{-1};
  std::atomic<std::int64_t> pinned_bytes{0};

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !orders_.empty(); });
      const order now = orders_.front();
      orders_.pop_front();
      lock.unlock();
      if (now.event != nullptr) {
        now.event->reached = now.record;
        now.event->reached.notify_all();
      } else if (now.to != nullptr) {
        if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
        std::memcpy(now.to, now.from, now.bytes);
      } else {
        return;
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<order> orders_;
  std::thread thread_;
};

copy_engine& engine() {
  static copy_engine it;
  return it;
}

engine_event& behind(cudaEvent_t event) { return *reinterpret_cast<engine_event*>(event); }

void wait_for(engine_event& event) {
  for (int reached = event.reached; reached != event.recorded; reached = event.reached) {
    event.reached.wait(reached);
  }
}

}  // namespace

// NOLINTBEGIN: names that the linker asks for.
extern "C" {
cudaError_t __wrap_cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  engine().pinned_bytes += static_cast<std::int64_t>(bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new engine_event);
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) {
  wait_for(behind(event));
  delete &behind(event);
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  const int record = ++behind(event).recorded;
  engine().push({nullptr, nullptr, 0, &behind(event), record});
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventQuery(cudaEvent_t event) {
  return behind(event).reached == behind(event).recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t __wrap_cudaEventSynchronize(cudaEvent_t event) {
  wait_for(behind(event));
  return cudaSuccess;
}
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  std::atomic<int>& left = engine().copies_until_failure;  // the driver alone copies
  if (left == 0) return cudaErrorUnknown;
  if (left > 0) --left;
  engine().push({to, from, bytes, nullptr, 0});
  return cudaSuccess;
}
}
// NOLINTEND

namespace {

// Numbers that no two places share.
std::vector<char> numbered(std::int64_t bytes) {
  std::vector<char> all(static_cast<std::size_t>(bytes));
  for (std::size_t at = 0; at + 8 <= all.size(); at += 8) {
    const std::uint64_t number = (at + 1) * 0x9E3779B97F4A7C15u;
    std::memcpy(&all[at], &number, 8);
  }
  return all;
}

struct range {
  std::int64_t begin;
  std::int64_t bytes;
};

std::vector<range> random_ranges(shape_stream& bits, std::int64_t total) {
  std::vector<range> ranges;
  for (std::int64_t at = 0; at < total && ranges.size() < 2000;) {
    const std::int64_t most = bits.one_in(3) ? std::int64_t{40} << 20 : 10000;
    const std::int64_t bytes = std::min(total - at, 1 + bits.below(most));
    ranges.push_back({at, bytes});
    at += bytes;
  }
  return ranges;
}

void wait_for_all_copies() {
  engine_event end;
  end.recorded = 1;
  engine().push({nullptr, nullptr, 0, &end, 1});
  wait_for(end);
}

void copy_all(pinned_ring& ring, int threads, const std::vector<range>& ranges, const char* from,
              char* to, std::int64_t look_ahead) {
  ring.run(tilefold::detail::host::mode(threads), [&] {
    std::size_t announced = 0;
    try {
      for (const range& next : ranges) {
        while (announced < ranges.size() && ring.ahead() < next.bytes + look_ahead) {
          ring.announce(from + ranges[announced].begin, ranges[announced].bytes);
          ++announced;
        }
        ring.copy(to + next.begin, next.bytes, nullptr);
      }
    } catch (...) {
      wait_for_all_copies();
      throw;
    }
    wait_for_all_copies();
  });
}

constexpr std::int64_t most_bytes = std::int64_t{150} << 20;

TEST(PinnedRing, EveryByteArrives) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const auto from = numbered(most_bytes);
  std::vector<char> to(from.size());
  pinned_ring ring;
  for (int round = 0; round < 16; ++round) {
    engine().delay_us = round % 2 == 0 ? 0 : 2000;
    const std::int64_t total = round % 4 < 2 ? most_bytes : 1 + bits.below(3 << 20);
    const auto ranges = random_ranges(bits, total);
    const std::int64_t end = ranges.back().begin + ranges.back().bytes;
    std::fill_n(to.begin(), end, char{0});
    const int threads = static_cast<int>(1 + bits.below(6));
    ring.reserve(bits.one_in(3) ? 1 : end);
    copy_all(ring, threads, ranges, from.data(), to.data(), bits.below(std::int64_t{100} << 20));
    ASSERT_TRUE(std::equal(to.begin(), to.begin() + end, from.begin()))
        << "round " << round << ", " << ranges.size() << " ranges, " << threads << " threads";
  }
  engine().delay_us = 0;
}

TEST(PinnedRing, TakesNoMoreMemoryThanItNeeds) {
  const std::int64_t before = engine().pinned_bytes;
  pinned_ring ring;
  ring.reserve(1000);
  const std::int64_t one = engine().pinned_bytes - before;
  ring.reserve(most_bytes);
  ring.reserve(most_bytes);
  EXPECT_EQ(engine().pinned_bytes - before, pinned_ring::bytes());
  EXPECT_EQ(pinned_ring::bytes() % one, 0);
}

TEST(PinnedRing, ACopyThatFailsEndsTheRun) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const auto from = numbered(most_bytes);
  std::vector<char> to(from.size());
  pinned_ring ring;
  ring.reserve(most_bytes);
  const std::vector<range> whole{{0, most_bytes}};
  for (int round = 0; round < 10; ++round) {
    engine().copies_until_failure = static_cast<int>(bits.below(10));
    EXPECT_THROW(copy_all(ring, 4, whole, from.data(), to.data(), most_bytes),
                 tilefold::cuda_error);
    engine().copies_until_failure = -1;
  }
  std::fill(to.begin(), to.end(), char{0});
  copy_all(ring, 4, whole, from.data(), to.data(), most_bytes);
  EXPECT_TRUE(to == from);
}

TEST(PinnedRing, ADriverThatThrowsLeavesNobodyWaiting) {
  const auto from = numbered(most_bytes);
  pinned_ring ring;
  ring.reserve(most_bytes);
  for (const int threads : {1, 2, 5}) {
    const auto drive = [&] {
      ring.announce(from.data(), most_bytes);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the others fill the ring
      throw std::runtime_error("a fold failed");
    };
    EXPECT_THROW(ring.run(tilefold::detail::host::mode(threads), drive), std::runtime_error);
  }
}

}  // namespace
