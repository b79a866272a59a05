# SPDX-License-Identifier: Apache-2.0
#
# tilefold_add_test(<name> SOURCES <file>... LIBS <target>... [PREFIX <text>] [LABEL <label>] [GPU])
#
# One GoogleTest program. Host programs appear in CTest test by test; a GPU program is one entry with
# the label gpu, because each process would make a CUDA context anew. Those that need gigabytes do not
# share the GPU with each other. The target gpu_tests builds them all.
#
# With TILEFOLD_CHECK_GPU_TESTS compilers only check them, which is faster: there are no programs, so nothing
# to run, and the next build checks them again.
include_guard()
include(GoogleTest)
option(TILEFOLD_CHECK_GPU_TESTS "Let compilers check the tests that need a GPU, without building them" OFF)

function(tilefold_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GPU" "PREFIX;LABEL" "SOURCES;LIBS")
  if(arg_GPU AND TILEFOLD_CHECK_GPU_TESTS)
    add_library(${name} OBJECT ${arg_SOURCES})
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fsyntax-only>)
  else()
    add_executable(${name} ${arg_SOURCES})
  endif()
  tilefold_own_target(${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/test)
  if(arg_GPU)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>)
    if(NOT TILEFOLD_CHECK_GPU_TESTS)
      add_test(NAME ${name} COMMAND ${name})
      set_tests_properties(${name} PROPERTIES LABELS gpu)
      if(name MATCHES "large")
        set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu_memory)
      endif()
    endif()
    if(NOT TARGET gpu_tests)
      add_custom_target(gpu_tests)
    endif()
    add_dependencies(gpu_tests ${name})
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${arg_PREFIX}"
                         PROPERTIES LABELS "${arg_LABEL}")
  endif()
endfunction()

# tilefold_cannot_test(<name> <label> <what is missing>)
#
# Stands for tests whose library or program is not on this machine: CTest counts it as skipped, and
# CI takes no run with one for whole.
function(tilefold_cannot_test name label missing)
  message(STATUS "tilefold: ${missing}, so ${name} is skipped")
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${missing}")
  set_tests_properties(${name} PROPERTIES LABELS "${label}" SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

# tilefold_add_header_tests(<name> <pattern> <extension> <target>...)
#
# Every header that matches the pattern compiles alone, and including it twice does no harm: one
# generated source each. CMake's own check (VERIFY_INTERFACE_HEADER_SETS) passes over .cuh files.
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
