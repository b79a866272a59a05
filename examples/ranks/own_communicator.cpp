// SPDX-License-Identifier: Apache-2.0
//
// A communicator of one's own: ranks that are processes of one host, made by fork(), which talk
// through memory that they share. It has what tilefold asks for: rank(), size(), all_gather().
//
//     g++ -std=c++20 -Iinclude examples/ranks/own_communicator.cpp -o own && ./own 5
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/moments.hpp>

// What the processes share: one rank at a time says something to all others.
struct process_group {
  static constexpr std::size_t room = 1 << 16;

  int size = 0;
  std::atomic<int> turn{0};   // number of broadcasts that are done
  std::atomic<int> heard{0};  // how many ranks have read the message
  std::atomic<bool> said{false};
  char message[room]{};

  void broadcast(char* data, std::size_t bytes, bool is_root) {
    for (std::size_t done = 0; done < bytes; done += room) {
      broadcast_some(data + done, bytes - done < room ? bytes - done : room, is_root);
    }
  }

 private:
  void broadcast_some(char* data, std::size_t bytes, bool is_root) {
    const int own_turn = turn.load();
    if (is_root) {
      std::memcpy(message, data, bytes);
      said = true;
    } else {
      while (!said.load() || turn.load() != own_turn) usleep(10);
      std::memcpy(data, message, bytes);
    }
    if (heard.fetch_add(1) + 1 == size) {
      heard = 0;
      said = false;
      turn.fetch_add(1);
    } else {
      while (turn.load() == own_turn) usleep(10);
    }
  }
};

// These thirty lines are all that tilefold needs.
class my_ranks {
 public:
  my_ranks(process_group& group, int rank) : group_(group), rank_(rank) {}

  int rank() const { return rank_; }
  int size() const { return group_.size; }

  // Host memory; returns when all are there.
  void all_gather(const void* send, void* receive, std::size_t bytes) {
    for (int root = 0; root < size(); ++root) {
      char* const part = static_cast<char*>(receive) + static_cast<std::size_t>(root) * bytes;
      if (root == rank_) std::memcpy(part, send, bytes);
      group_.broadcast(part, bytes, root == rank_);
    }
  }

 private:
  process_group& group_;
  int rank_;
};

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 3;
  void* const memory = mmap(nullptr, sizeof(process_group), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (size < 1 || memory == MAP_FAILED) return 1;
  auto& group = *new (memory) process_group{.size = size};

  int rank = 0;
  for (int child = 1; child < size; ++child) {
    if (fork() == 0) {
      rank = child;
      break;
    }
  }
  my_ranks comm(group, rank);
  const tilefold::host_executor cpu(1);

  const std::int64_t n = 10000;
  std::vector<float> part;
  for (std::int64_t i = n * rank / size; i < n * (rank + 1) / size; ++i) {
    part.push_back(1.0f / static_cast<float>(i + 1));
  }
  const float sum = tilefold::reduce(tilefold::ranks(comm, cpu), part);
  const double variance =
      tilefold::reduce(tilefold::ranks(comm, cpu), part, tilefold::reducers::variance{});
  if (rank > 0) return 0;
  while (wait(nullptr) > 0) continue;
  std::printf("%d processes: sum %a, variance %a\n", size, static_cast<double>(sum), variance);
}
