# SPDX-License-Identifier: Apache-2.0
#
# Programs under mpirun, with more ranks than this machine has cores. mpirun is told so in Open MPI's
# words.
set(TILEFOLD_MPIEXEC_FLAGS --oversubscribe CACHE STRING "Flags of mpirun for the tests")

add_executable(mpi_ranks ${CMAKE_CURRENT_LIST_DIR}/mpi_ranks.cpp)
add_executable(mpi_sum_example ${PROJECT_SOURCE_DIR}/examples/ranks/mpi_sum.cpp)
foreach(program mpi_ranks mpi_sum_example)
  tilefold_own_target(${program})
  target_link_libraries(${program} PRIVATE tilefold::mpi)
  set_source_files_properties(mpi/mpi_ranks.cpp PROPERTIES COMPILE_OPTIONS -O0)
endforeach()

function(tilefold_add_mpi_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  # CI is root in a container, which Open MPI must be told is meant.
  set_tests_properties(
    ${name} PROPERTIES PROCESSORS 2 TIMEOUT 120
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
endfunction()

set(mpirun ${MPIEXEC_EXECUTABLE} ${TILEFOLD_MPIEXEC_FLAGS} ${MPIEXEC_NUMPROC_FLAG})
foreach(ranks 1 2 3 7 8)
  tilefold_add_mpi_test(mpi.ranks_${ranks} ${mpirun} ${ranks} $<TARGET_FILE:mpi_ranks>)
endforeach()
# The example prints the same bits for any number of ranks.
list(JOIN mpirun " " mpirun_words)
tilefold_add_mpi_test(
  mpi.sum_example sh -ec
  "for n in 1 2 3 7\; do ${mpirun_words} $n $1\; done | tee /dev/stderr |
sed 's/.*tilefold \\([^,]*\\),.*/\\1/' | sort -u | wc -l | grep -qx 1" - $<TARGET_FILE:mpi_sum_example>)
# So does the tool, each of whose ranks reads its part of the file.
if(TARGET tilefold_tool)
  tilefold_add_mpi_test(
    mpi.tool sh -ec
    "$1 generate --bytes 1000004 $2 && {
$1 reduce --json --on host $2
for n in 2 3 7\; do ${mpirun_words} $n $1 reduce --json --chunk 4096 $2\; done
} | tee /dev/stderr | sed 's/.*\"bits\":\"\\([^\"]*\\)\".*/\\1/' | sort | uniq -c | grep -q '^ *4 0x'"
    - $<TARGET_FILE:tilefold_tool> ${CMAKE_CURRENT_BINARY_DIR}/mpi_tool.npy)
  tilefold_add_mpi_test(
    slow.mpi.tool_complaints ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/tool_test.py
    $<TARGET_FILE:tilefold_tool> ${mpirun})
endif()
