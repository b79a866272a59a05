# SPDX-License-Identifier: Apache-2.0
#
# Ranks that are processes of an MPI program (tilefold/mpi.hpp): the target tilefold::mpi, where there is
# an MPI.
include_guard()

if(TILEFOLD_MPI)
  if(TILEFOLD_MPI STREQUAL "ON")
    find_package(MPI REQUIRED COMPONENTS CXX)
  else()
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
endif()
# Not whether there is a target: FindMPI of CMake 3.25 makes MPI::MPI_CXX without an MPI, too.
if(MPI_CXX_FOUND)
  add_library(tilefold_mpi INTERFACE)
  add_library(tilefold::mpi ALIAS tilefold_mpi)
  target_link_libraries(tilefold_mpi INTERFACE tilefold_core MPI::MPI_CXX)
endif()
