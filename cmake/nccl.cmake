# SPDX-License-Identifier: Apache-2.0
#
# Ranks that NCCL joins (tilefold/nccl.cuh): the target tilefold::nccl, where there is CUDA and an NCCL.
include_guard()
include(cmake/find_nccl.cmake)

if(TARGET tilefold_cuda)
  tilefold_find_nccl("${CUDAToolkit_INCLUDE_DIRS}" "${CUDAToolkit_LIBRARY_DIR}")
  if(TILEFOLD_NCCL_INCLUDE AND TILEFOLD_NCCL)
    add_library(tilefold_nccl INTERFACE)
    add_library(tilefold::nccl ALIAS tilefold_nccl)
    tilefold_link_nccl(tilefold_nccl tilefold_cuda)
  endif()
endif()
