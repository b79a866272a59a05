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

# For tests that run the tool as a program.
function(tilefold_runs_tool test)
  target_compile_definitions(${test} PRIVATE TILEFOLD_TOOL="$<TARGET_FILE:tilefold_tool>")
  target_link_libraries(${test} PRIVATE nlohmann_json::nlohmann_json)
  add_dependencies(${test} tilefold_tool)
endfunction()
