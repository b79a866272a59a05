// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a launcher started this program, and only then loads the module that is linked
// with an MPI: some MPIs take 150 ms to load.
#include "program_ranks.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace tilefold::tool {

namespace {

namespace fs = std::filesystem;

long number_in(const char* variable, long otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

// The variables that the launchers of Open MPI, of MPICH and its kin, and PMIx (srun, Open MPI 5)
// set.
struct launcher {
  const char* rank;
  const char* size;
};
constexpr launcher launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  {"PMI_RANK", "PMI_SIZE"},
                                  {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};

const launcher* find_launcher() {
  for (const launcher& names : launchers) {
    if (std::getenv(names.rank) != nullptr) return &names;
  }
  return nullptr;
}

// Beside this program in a build, in the folder of libraries where it is installed.
fs::path find_module() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& module :
       {folder / mpi_module_name, folder / TILEFOLD_MODULE_FOLDER / mpi_module_name}) {
    if (fs::exists(module, error)) return module;
  }
  return {};
}

// Says once, not once a process, why the processes know nothing of each other.
void say_alone(const launcher& names, const std::string& why) {
  const long size = number_in(names.size, 1);
  if (size < 2 || number_in(names.rank, 0) != 0) return;
  std::cerr << "tilefold: started as " << size << " processes, but " << why
            << ": each of them reduces whole files and prints the same result\n";
}

}  // namespace

std::unique_ptr<program_ranks> find_program_ranks() {
  const launcher* const names = find_launcher();
  if (names == nullptr) return nullptr;
  const fs::path path = find_module();
  if (path.empty()) {
    say_alone(*names, "built without MPI");
    return nullptr;
  }
  // An MPI that is loaded late loads parts of its own, which look for its symbols among the global
  // ones. The module stays loaded until the program ends.
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    say_alone(*names, "its MPI cannot be loaded (" + std::string(dlerror()) + ")");
    return nullptr;
  }
  const auto make = reinterpret_cast<make_program_ranks*>(dlsym(module, make_program_ranks_name));
  return std::unique_ptr<program_ranks>(make());
}

}  // namespace tilefold::tool
