// SPDX-License-Identifier: Apache-2.0
//
// Built without MPI: processes that were started together know nothing of each other.
#include "program_ranks.hpp"

#include <cstdlib>
#include <iostream>
#include <string>

namespace tilefold::tool {

namespace {

long number_in(const char* variable, long otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

// What the launcher of Open MPI, of MPICH and its kin, and PMIx (srun, Open MPI 5) tell a process.
struct launched {
  const char* rank;
  const char* size;
};
constexpr launched launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  {"PMI_RANK", "PMI_SIZE"},
                                  {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};

}  // namespace

std::unique_ptr<program_ranks> find_program_ranks() {
  for (const launched& names : launchers) {
    const long size = number_in(names.size, 1);
    if (std::getenv(names.rank) == nullptr || size < 2) continue;
    if (number_in(names.rank, 0) == 0) {
      std::cerr << "tilefold: started as " << size
                << " processes, but built without MPI: each of them reduces whole files, and says "
                   "the same\n";
    }
    break;
  }
  return nullptr;
}

}  // namespace tilefold::tool
