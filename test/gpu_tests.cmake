# SPDX-License-Identifier: Apache-2.0
#
# The programs that need a GPU to pass: gpu.DIRECTORY.NAME of DIRECTORY/NAME.cu. What stands here
# belongs to the digest of each (.ci/digest).
file(GLOB_RECURSE gpu_tests CONFIGURE_DEPENDS *_test.cu)
list(FILTER gpu_tests EXCLUDE REGEX "_nogpu_test\\.cu$|/order_net/")
if(NOT TARGET tilefold_nccl)
  list(FILTER gpu_tests EXCLUDE REGEX /nccl/)
  tilefold_cannot_test(gpu.nccl "nvcc;gpu" "no NCCL")
endif()
if(NOT TILEFOLD_TOOL)
  list(FILTER gpu_tests EXCLUDE REGEX /src/tool/)
endif()
foreach(source IN LISTS gpu_tests)
  cmake_path(RELATIVE_PATH source OUTPUT_VARIABLE name)
  string(REGEX REPLACE "\\.cu$" "" name ${name})
  string(REPLACE / . name ${name})
  tilefold_add_test(gpu.${name} GPU SOURCES ${source} LIBS tilefold::cuda tilefold::host)
  if(name MATCHES "^src\\.tool\\.")
    tilefold_runs_tool(gpu.${name})
    target_link_libraries(gpu.${name} PRIVATE tilefold_tool_parts)
  elseif(name MATCHES "^nccl\\.")
    target_link_libraries(gpu.${name} PRIVATE tilefold::nccl)
  endif()
endforeach()
tilefold_add_test(gpu.cuda.per_thread_default_stream_test GPU SOURCES cuda/default_stream_test.cu
                  LIBS tilefold::cuda tilefold::host)
target_compile_options(gpu.cuda.per_thread_default_stream_test
                       PRIVATE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--default-stream=per-thread>")
if(TARGET tilefold_nccl)
  foreach(name all_gpus_test ranks_many_results_test stream_ranks_test)
    target_link_libraries(gpu.cuda.${name} PRIVATE tilefold::nccl)
    target_compile_definitions(gpu.cuda.${name} PRIVATE TILEFOLD_TEST_NCCL)
  endforeach()
  add_executable(nccl_sum_example ${PROJECT_SOURCE_DIR}/examples/ranks/nccl_sum.cu)
  tilefold_own_target(nccl_sum_example)
  target_link_libraries(nccl_sum_example PRIVATE tilefold::nccl tilefold::host)
  add_dependencies(gpu_tests nccl_sum_example)
endif()
# One program of two units, and a user's own multiply-add.
target_sources(gpu.two_units_test PRIVATE two_units_host.cpp)
target_link_libraries(gpu.conformance.strict_fp_test PRIVATE tilefold::strict_fp)
# Questions to the runtime that a test can refuse.
foreach(function cudaFuncGetAttributes cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
  target_link_options(gpu.cuda.partly_written_test PRIVATE LINKER:--wrap=${function})
endforeach()

# What cmake/run.sh compiles and runs.
add_executable(gpu_sum_example ${PROJECT_SOURCE_DIR}/examples/gpu_sum.cu)
tilefold_own_target(gpu_sum_example)
target_link_libraries(gpu_sum_example PRIVATE tilefold::cuda)
add_dependencies(gpu_tests gpu_sum_example)

# Generated operators: 12 of the family for the GPU, or all 60 for the GPU and for the host, two to a
# program: much of the time goes into headers. The host's programs have the label gpu, too: they are part of
# what .ci/gpu --all builds and runs; CI compiles some for each commit. Where compilers only check the tests,
# the first program is enough.
function(tilefold_add_family_test name source first)
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/order_net/${name}_${source})
  file(CONFIGURE OUTPUT ${copy} CONTENT "#include \"order_net/${source}\"\n")
  tilefold_add_test(${name} GPU SOURCES ${copy} LIBS ${ARGN})
  target_compile_definitions(
    ${name} PRIVATE TILEFOLD_NET_SEED=${TILEFOLD_NET_SEED} TILEFOLD_NET_FIRST=${first}
                    TILEFOLD_NET_MEMBERS=2)
endfunction()

set(last_of_family 11)
if(TILEFOLD_CHECK_GPU_TESTS)
  set(last_of_family 1)
elseif(TILEFOLD_NET_FULL)
  set(last_of_family 59)
endif()
foreach(first RANGE 0 ${last_of_family} 2)
  tilefold_add_family_test(gpu.order_net.cuda_${first} cuda_test.cu ${first} tilefold::cuda
                           tilefold::host)
  if(TILEFOLD_NET_FULL AND NOT TILEFOLD_CHECK_GPU_TESTS)
    tilefold_add_family_test(gpu.order_net.host_${first} host_test.cpp ${first} tilefold::host)
    if(TILEFOLD_COMPILES_FOR_FMA)
      target_compile_options(gpu.order_net.host_${first} PRIVATE -mfma -O3)
    endif()
  endif()
endforeach()
