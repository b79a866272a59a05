# SPDX-License-Identifier: Apache-2.0
#
# tilefold_add_header_tests(<name> <pattern> <extension> <target>...)
#
# Every header that matches the pattern compiles alone, and including it twice does no harm: one
# generated source each. CMake's own check (VERIFY_INTERFACE_HEADER_SETS) passes over .cuh files.
include_guard()

function(tilefold_add_header_tests name pattern extension)
  set(root ${PROJECT_SOURCE_DIR}/include)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${root} ${root}/${pattern})
  # These need an MPI and an NCCL; their tests include them first.
  list(FILTER headers EXCLUDE REGEX "/(mpi\\.hpp|nccl\\.cuh)$")
  set(sources "")
  foreach(header IN LISTS headers)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.${extension})
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(${name} OBJECT ${sources})
    tilefold_own_target(${name})
    target_link_libraries(${name} PRIVATE ${ARGN})
    target_compile_options(${name} PRIVATE -O0)
    # As a user's -Werror may have them.
    foreach(warning sign-conversion useless-cast cast-align float-equal)
      target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-W${warning}>)
    endforeach()
    # Headers of detail/ for CUDA are quiet inside of the public ones alone.
    list(FILTER sources INCLUDE REGEX "\\.cu$")
    list(FILTER sources EXCLUDE REGEX "/detail/")
    set_source_files_properties(
      ${sources} PROPERTIES COMPILE_OPTIONS
                            -Xcompiler=-Wsign-conversion,-Wuseless-cast,-Wcast-align,-Wfloat-equal)
  endif()
endfunction()
