# SPDX-License-Identifier: Apache-2.0
#
# The kept libraries: an installed one is taken first, else the pinned source is fetched.
# tilefold_need(<name>) makes the targets of one of them; nothing is looked for before it is needed.
include_guard()
include(FetchContent)

# GLOBAL: a project that adds tilefold as a subdirectory links these through tilefold_host.
# Not by the name TBB: FetchContent would set TBB_DIR, and then oneTBB's own build looks for itself.
FetchContent_Declare(
  onetbb
  GIT_REPOSITORY https://github.com/uxlfoundation/oneTBB.git
  GIT_TAG v2021.13.0
  SYSTEM
  FIND_PACKAGE_ARGS NAMES TBB GLOBAL)
FetchContent_Declare(
  hwy
  GIT_REPOSITORY https://github.com/google/highway.git
  GIT_TAG 1.2.0
  SYSTEM
  FIND_PACKAGE_ARGS GLOBAL)
FetchContent_Declare(
  CLI11
  GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git
  GIT_TAG v2.4.2
  SYSTEM
  FIND_PACKAGE_ARGS)
FetchContent_Declare(
  nlohmann_json
  GIT_REPOSITORY https://github.com/nlohmann/json.git
  GIT_TAG v3.11.3
  SYSTEM
  FIND_PACKAGE_ARGS)
FetchContent_Declare(
  GTest
  GIT_REPOSITORY https://github.com/google/googletest.git
  GIT_TAG v1.15.2
  SYSTEM
  FIND_PACKAGE_ARGS)
FetchContent_Declare(
  benchmark
  GIT_REPOSITORY https://github.com/google/benchmark.git
  GIT_TAG v1.9.0
  SYSTEM
  FIND_PACKAGE_ARGS)

function(tilefold_need name)
  # Read by the fetched projects only.
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  set(BUILD_TESTING OFF)
  set(TBB_TEST OFF)
  set(TBB_STRICT OFF)
  set(HWY_ENABLE_TESTS OFF)
  set(HWY_ENABLE_EXAMPLES OFF)
  set(HWY_ENABLE_CONTRIB OFF)
  set(CLI11_BUILD_TESTS OFF)
  set(CLI11_BUILD_EXAMPLES OFF)
  set(CLI11_INSTALL OFF)
  set(INSTALL_GTEST OFF)
  set(BENCHMARK_ENABLE_TESTING OFF)
  set(BENCHMARK_ENABLE_INSTALL OFF)
  FetchContent_MakeAvailable(${name})
  # Of the one that was found; the one that is fetched is declared above.
  if(name STREQUAL "hwy" AND NOT hwy_VERSION)
    set(hwy_VERSION 1.2.0)
  endif()
  set(${name}_VERSION "${${name}_VERSION}" PARENT_SCOPE)
  if(TARGET hwy AND NOT TARGET hwy::hwy)
    add_library(hwy::hwy ALIAS hwy)
  endif()
endfunction()
