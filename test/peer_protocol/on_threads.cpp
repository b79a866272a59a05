// SPDX-License-Identifier: Apache-2.0
//
// The kernel of peer_gather_kernel.cuh on threads of the host, as peer_protocol_test.py has adapted
// it (ADAPTED): four threads a block, its words as atomics. In some turns a rank exchanges messages
// as peer_fold_kernel.cuh does, a warp a rank. Ranks that are late, that leave while others wait,
// that leave with their own gathers under way, and that one thread destroys one after the other. A
// message is right if it is that of its rank and turn, or zeros for good.
//
//     on_threads TRIALS SEED
//
// Ends with 1 if a message was wrong, and with 3 if nothing has ended for some seconds.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

// What CUDA has and the kernel uses.
struct place_in_grid {
  unsigned x;
};
struct uint4 {
  unsigned x, y, z, w;
};
thread_local place_in_grid threadIdx, blockIdx, gridDim;
thread_local std::barrier<>* block_barrier;
thread_local bool* shared_flag;  // of the block
inline void __syncthreads() { block_barrier->arrive_and_wait(); }
inline void __syncwarp() { block_barrier->arrive_and_wait(); }
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)

#include ADAPTED

namespace {

using namespace std::chrono_literals;
namespace cuda = tilefold::detail::cuda;

constexpr int threads_of_block = cuda::peer_gather_nt;
constexpr int message_words = 4 * threads_of_block;
constexpr std::int64_t message_bytes = message_words * sizeof(int);
struct no_build {};

std::vector<int> message_of(int rank, int turn) {
  return std::vector<int>(message_words, 1000 * turn + rank + 1);
}

// The memory of all ranks.
class world {
 public:
  explicit world(int ranks) : left_(static_cast<std::size_t>(ranks)) {
    for (int r = 0; r < ranks; ++r) {
      places_.emplace_back(static_cast<std::size_t>(2 * ranks * message_words));
      words_.emplace_back(static_cast<std::size_t>(3 * ranks));
    }
    for (int r = 0; r < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r);
      unsigned* const words = words_[at].data();
      inboxes_.push_back(
          {reinterpret_cast<char*>(places_[at].data()), words, words + ranks, words + 2 * ranks});
    }
  }

  int ranks() const { return static_cast<int>(left_.size()); }
  void leave(int rank) { std::atomic_ref(left_[static_cast<std::size_t>(rank)]).store(1); }

  // One launch, of a block a rank or of a warp a rank; returns when it has ended.
  std::vector<int> gather(int rank, const std::vector<int>& message, bool by_warps) {
    std::vector<int> received(static_cast<std::size_t>(ranks() * message_words), -1);
    const auto blocks = static_cast<std::size_t>(ranks());
    std::vector<std::unique_ptr<std::barrier<>>> barriers;
    const std::unique_ptr<bool[]> flags(new bool[blocks]);
    for (std::size_t b = 0; b < blocks; ++b) {
      barriers.push_back(std::make_unique<std::barrier<>>(threads_of_block));
    }
    std::vector<std::thread> threads;
    for (std::size_t b = 0; b < blocks; ++b) {
      for (unsigned t = 0; t < threads_of_block; ++t) {
        threads.emplace_back([&, b, t] {
          threadIdx.x = t;
          blockIdx.x = static_cast<unsigned>(b);
          gridDim.x = static_cast<unsigned>(blocks);
          block_barrier = barriers[b].get();
          shared_flag = &flags[b];
          if (by_warps) {
            exchange_by_warp(rank, static_cast<int>(b), static_cast<int>(t), message, received);
            return;
          }
          cuda::peer_gather_kernel<no_build>(reinterpret_cast<const char*>(message.data()),
                                             reinterpret_cast<char*>(received.data()),
                                             message_bytes, rank, inboxes_.data(), message_bytes,
                                             left_.data());
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
    return received;
  }

 private:
  void exchange_by_warp(int rank, int peer, int thread, const std::vector<int>& message,
                        std::vector<int>& received) {
    const char* from = reinterpret_cast<const char*>(message.data());
    bool came = thread == 0;
    if (peer != rank) {
      const cuda::peer_turn turn(inboxes_[static_cast<std::size_t>(rank)],
                                 inboxes_[static_cast<std::size_t>(peer)], rank, peer, ranks(),
                                 message_bytes);
      came = turn.exchange<threads_of_block>(from, message_bytes, left_.data(), thread);
      from = turn.place_here();
    }
    if (thread > 0) return;
    char* const to = reinterpret_cast<char*>(received.data() + peer * message_words);
    if (came) {
      std::memcpy(to, from, message_bytes);
    } else {
      std::memset(to, 0, message_bytes);
    }
  }

  std::vector<std::vector<int>> places_;
  std::vector<std::vector<unsigned>> words_;
  std::vector<cuda::peer_inbox> inboxes_;
  std::vector<unsigned> left_;
};

struct counts {
  long right = 0;
  long zeros = 0;
  long wrong = 0;  // of another turn, a mixture, or not zeros any more
};

// What one rank has received in all its turns.
void judge(const std::vector<std::vector<int>>& received, int rank, int ranks, counts& found) {
  for (int peer = 0; peer < ranks; ++peer) {
    bool gone = false;
    for (std::size_t t = 0; t < received.size(); ++t) {
      const auto first = received[t].begin() + peer * message_words;
      const std::vector<int> got(first, first + message_words);
      if (got == std::vector<int>(message_words, 0) && peer != rank) {
        gone = true;
        ++found.zeros;
      } else if (got == message_of(peer, static_cast<int>(t) + 1) && !gone) {
        ++found.right;
      } else {
        ++found.wrong;
      }
    }
  }
}

std::atomic<long> launches_ended{0};

void try_once(std::mt19937& bits, counts& found) {
  world all(2 + static_cast<int>(bits() % 3));
  const int ranks = all.ranks();
  const bool destroyed_in_order = bits() % 2 == 0;
  const int leaves_early = static_cast<int>(bits() % static_cast<unsigned>(ranks + 1));
  const auto pause = [](std::mt19937& from, unsigned most) {
    std::this_thread::sleep_for(std::chrono::microseconds(from() % most));
  };
  std::vector<std::vector<std::vector<int>>> received(static_cast<std::size_t>(ranks));
  std::vector<std::thread> streams;
  for (int r = 0; r < ranks; ++r) {
    streams.emplace_back([&, r, turns = static_cast<int>(bits() % 6), seed = bits()] {
      std::mt19937 own(seed);
      if (own() % 4 == 0) pause(own, 3000);
      for (int turn = 1; turn <= turns; ++turn) {
        received[static_cast<std::size_t>(r)].push_back(
            all.gather(r, message_of(r, turn), own() % 2 == 0));
        ++launches_ended;
        if (own() % 5 == 0) pause(own, 500);
      }
      if (!destroyed_in_order) all.leave(r);
    });
  }
  pause(bits, 3000);
  if (leaves_early < ranks) all.leave(leaves_early);
  // One that is destroyed leaves, and then waits for its own gathers.
  for (int r = 0; r < ranks; ++r) {
    if (destroyed_in_order) all.leave(r);
    streams[static_cast<std::size_t>(r)].join();
  }
  for (int r = 0; r < ranks; ++r) {
    judge(received[static_cast<std::size_t>(r)], r, ranks, found);
  }
}

}  // namespace

int main(int, char** arguments) {
  const int trials = std::atoi(arguments[1]);
  std::mt19937 bits(static_cast<unsigned>(std::atoi(arguments[2])));
  std::atomic<bool> over{false};
  std::thread watch([&] {
    long before = -1;
    for (int looks = 0; !over; ++looks) {
      std::this_thread::sleep_for(100ms);
      if (looks % 40 != 39) continue;
      if (launches_ended == before) {
        std::printf("somebody waits for good\n");
        std::fflush(stdout);
        std::_Exit(3);
      }
      before = launches_ended;
    }
  });
  counts found;
  for (int i = 0; i < trials && found.wrong == 0; ++i) try_once(bits, found);
  over = true;
  watch.join();
  std::printf("%ld right, %ld zeros, %ld wrong\n", found.right, found.zeros, found.wrong);
  return found.wrong == 0 ? 0 : 1;
}
