# SPDX-License-Identifier: Apache-2.0
#
# Where NCCL is: it comes without a package for CMake. Used by this build and by the installed package.

# Looks for it there, and where CMake looks by itself: TILEFOLD_NCCL_INCLUDE, TILEFOLD_NCCL.
macro(tilefold_find_nccl includes libraries)
  find_path(TILEFOLD_NCCL_INCLUDE nccl.h HINTS ${includes})
  find_library(TILEFOLD_NCCL nccl HINTS ${libraries})
  mark_as_advanced(TILEFOLD_NCCL_INCLUDE TILEFOLD_NCCL)
endmacro()

# Makes `target` the headers of tilefold/nccl.cuh with what they need.
function(tilefold_link_nccl target cuda)
  target_link_libraries(${target} INTERFACE ${cuda} ${TILEFOLD_NCCL})
  target_include_directories(${target} SYSTEM INTERFACE ${TILEFOLD_NCCL_INCLUDE})
endfunction()
