# SPDX-License-Identifier: Apache-2.0
#
# Finds the CUDA toolkit and, where tilefold has .cu files of its own to build, the compiler.
# Sets TILEFOLD_HAS_CUDA (the toolkit: target cuda exists) and TILEFOLD_HAS_NVCC (.cu files are built).
include_guard()
include(CheckLanguage)
include(cmake/cuda_standard.cmake)

set(TILEFOLD_HAS_CUDA OFF)
set(TILEFOLD_HAS_NVCC OFF)
if(TILEFOLD_CUDA STREQUAL "")
  set(TILEFOLD_CUDA AUTO)  # a preset took it from an environment that does not say
endif()
if(NOT TILEFOLD_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TILEFOLD_CUDA is '${TILEFOLD_CUDA}': use AUTO, ON or OFF")
endif()

if(TILEFOLD_CUDA AND (TILEFOLD_TOOL OR TILEFOLD_TESTS OR TILEFOLD_BENCHMARKS OR TILEFOLD_C_CUDA))
  # The toolkit's own installer does not put nvcc on PATH.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(TILEFOLD_NVCC nvcc PATHS /usr/local/cuda/bin)
    mark_as_advanced(TILEFOLD_NVCC)
    if(TILEFOLD_NVCC)
      set(CMAKE_CUDA_COMPILER ${TILEFOLD_NVCC})
    endif()
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
    check_language(CUDA)
  endif()
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.0)
      set(TILEFOLD_HAS_NVCC ON)
    endif()
  endif()
  if(TILEFOLD_HAS_NVCC)
    message(STATUS "tilefold: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, sm_${CMAKE_CUDA_ARCHITECTURES}")
  elseif(TILEFOLD_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TILEFOLD_CUDA is ON, but there is no nvcc 12.0 or later that works: "
                        "put one on PATH or name it in CUDACXX")
  else()
    message(STATUS "tilefold: no nvcc 12.0 or later, so nothing for CUDA is built")
  endif()
endif()

if(TILEFOLD_CUDA)
  find_package(CUDAToolkit 12.0 QUIET GLOBAL)
  if(CUDAToolkit_FOUND)
    set(TILEFOLD_HAS_CUDA ON)
  elseif(TILEFOLD_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TILEFOLD_CUDA is ON, but no CUDA toolkit 12.0 or later was found: "
                        "set CUDAToolkit_ROOT")
  endif()
endif()
