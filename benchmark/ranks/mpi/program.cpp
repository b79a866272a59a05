// SPDX-License-Identifier: Apache-2.0
//
// Ranks of MPI on one host against one process with as many threads, in turns:
//
//     mpirun -n 4 --bind-to none tilefold_mpi_benchmark <threads in all> [<MiB of items>]
//
// Rank 0 folds the whole with all threads while the others sleep; then every rank its own part with
// its share of the threads, joined and each for itself. Prints the medians, the ratio of the first
// two, and whether the bits are the same.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <mpi.h>
#include <tilefold/mpi.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/tilefold.hpp>

namespace {

namespace r = tilefold::reducers;

// Waits for all ranks without taking a core from one that works.
void meet() {
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  for (int done = 0; done == 0;) {
    MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

template <class Call>
double seconds(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<float> make_items(std::int64_t begin, std::int64_t end) {
  std::vector<float> items(static_cast<std::size_t>(end - begin));
  for (std::int64_t i = begin; i < end; ++i) {
    const auto random = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
    const auto bits = static_cast<std::uint32_t>(
        random >> 63 << 31 | (117 + (random >> 40) % 20) << 23 | (random >> 8 & 0x7fffff));
    std::memcpy(&items[static_cast<std::size_t>(i - begin)], &bits, sizeof bits);
  }
  return items;
}

template <class Op>
void compare(const char* name, tilefold::mpi_communicator& comm, const std::vector<float>& whole,
             const std::vector<float>& part, int threads, Op op) {
  constexpr int rounds = 11;
  const tilefold::host_executor all(threads);
  const tilefold::host_executor share(threads / comm.size());
  std::vector<double> alone(rounds);
  std::vector<double> together(rounds);
  std::vector<double> apart(rounds);
  double of_one = 0;
  double of_ranks = 0;
  for (int i = -1; i < rounds; ++i) {
    meet();
    const double a = comm.rank() > 0 ? 0 : seconds([&] {
      of_one = static_cast<double>(tilefold::reduce(all, whole, op));
    });
    meet();
    MPI_Barrier(MPI_COMM_WORLD);
    const double b = seconds([&] {
      of_ranks = static_cast<double>(tilefold::reduce(tilefold::ranks(comm, share), part, op));
    });
    // The same work without a word to each other, until the last is done.
    MPI_Barrier(MPI_COMM_WORLD);
    const double c = seconds([&] {
      (void)tilefold::reduce(share, part, op);
      MPI_Barrier(MPI_COMM_WORLD);
    });
    if (i < 0) continue;  // memory is touched, threads begin
    alone[static_cast<std::size_t>(i)] = a;
    together[static_cast<std::size_t>(i)] = b;
    apart[static_cast<std::size_t>(i)] = c;
  }
  if (comm.rank() > 0) return;
  std::printf(
      "%s: %d ranks of %d threads %.2f ms, each for itself %.2f ms, one process of %d %.2f ms, "
      "ratio %.3f, bits %s\n",
      name, comm.size(), threads / comm.size(), 1e3 * median(together), 1e3 * median(apart),
      threads, 1e3 * median(alone), median(alone) / median(together),
      std::memcmp(&of_one, &of_ranks, sizeof of_one) == 0 ? "equal" : "DIFFERENT");
}

int run(int argc, char** argv) {
  tilefold::mpi_communicator comm;
  const int threads = argc > 1 ? std::atoi(argv[1]) : comm.size();
  const std::int64_t mebibytes = argc > 2 ? std::atoll(argv[2]) : 1024;
  if (threads < comm.size() || threads % comm.size() != 0 || mebibytes < 1) {
    std::fprintf(stderr, "%s: %d threads cannot be divided among %d ranks\n", argv[0], threads,
                 comm.size());
    return 1;
  }
  const std::int64_t n = mebibytes << 18;
  const std::vector<float> part =
      make_items(n * comm.rank() / comm.size(), n * (comm.rank() + 1) / comm.size());
  const std::vector<float> whole = comm.rank() == 0 ? make_items(0, n) : std::vector<float>{};
  compare("float sum", comm, whole, part, threads, tilefold::plus{});
  compare("variance", comm, whole, part, threads, r::variance{});
  compare("logsumexp", comm, whole, part, threads, r::logsumexp{});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
