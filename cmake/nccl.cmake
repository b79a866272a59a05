# SPDX-License-Identifier: Apache-2.0
#
# Ranks that NCCL joins (tilefold/nccl.cuh): the target tilefold::nccl, where there is CUDA and an NCCL.
include_guard()

if(TARGET tilefold_cuda)
  find_path(TILEFOLD_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(TILEFOLD_NCCL nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  mark_as_advanced(TILEFOLD_NCCL_INCLUDE TILEFOLD_NCCL)
  if(TILEFOLD_NCCL_INCLUDE AND TILEFOLD_NCCL)
    add_library(tilefold_nccl INTERFACE)
    add_library(tilefold::nccl ALIAS tilefold_nccl)
    target_link_libraries(tilefold_nccl INTERFACE tilefold_cuda ${TILEFOLD_NCCL})
    target_include_directories(tilefold_nccl SYSTEM INTERFACE ${TILEFOLD_NCCL_INCLUDE})
  endif()
endif()
