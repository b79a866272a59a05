// SPDX-License-Identifier: Apache-2.0
//
// The same sum, to the last bit, on any number of processes:
//
//     mpicxx -std=c++20 -Iinclude examples/ranks/mpi_sum.cpp -o mpi_sum
//     for n in 1 2 3 7; do mpirun --oversubscribe -n $n ./mpi_sum; done
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tilefold/mpi.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    tilefold::mpi_communicator comm;
    const tilefold::host_executor cpu;

    // A million floats whose sum depends on the order in which they are added. Each rank holds its
    // part of them alone.
    const std::int64_t n = 1000000;
    const std::int64_t begin = n * comm.rank() / comm.size();
    const std::int64_t end = n * (comm.rank() + 1) / comm.size();
    std::vector<float> part;
    for (std::int64_t i = begin; i < end; ++i) {
      part.push_back(
          std::ldexp(static_cast<float>(i * 7919 % 1009 - 504), static_cast<int>(i % 24)));
    }

    const float sum = tilefold::reduce(tilefold::ranks(comm, cpu), part);

    // What MPI makes of the ranks' own sums.
    const float own = tilefold::reduce(cpu, part);
    float reduced = 0;
    MPI_Reduce(&own, &reduced, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (comm.rank() == 0) {
      std::printf("%d ranks: tilefold %a, MPI_Reduce of the ranks' sums %a\n", comm.size(),
                  static_cast<double>(sum), static_cast<double>(reduced));
    }
  }
  MPI_Finalize();
}
