// SPDX-License-Identifier: Apache-2.0
//
// The processes that mpirun or srun has started this program as, each of which is to read a part of
// a file.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tilefold::tool {

class program_ranks {
 public:
  virtual ~program_ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// What all of them say, on all of them.
  virtual std::vector<std::vector<std::byte>> gather(const std::vector<std::byte>& own) = 0;
};

/// Null if no launcher (mpirun, srun) started this program, or if the tool has no MPI; then the
/// first of several processes says so on standard error. To be called once.
std::unique_ptr<program_ranks> find_program_ranks();

/// The module with the MPI (program_ranks_mpi.cpp), and the one function in it.
inline constexpr const char* mpi_module_name = "tilefold-mpi.so";
inline constexpr const char* make_program_ranks_name = "tilefold_make_program_ranks";
using make_program_ranks = program_ranks*();

}  // namespace tilefold::tool
