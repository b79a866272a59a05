# SPDX-License-Identifier: Apache-2.0
#
# libtilefold: what it computes, what it shows of itself, and the examples in other languages.

# The CUDA half of libtilefold takes half an hour to compile. Where compilers only check (preset no-gpu) they check its
# own sources, runs of keys of two types, and some operations.
if(TILEFOLD_HAS_NVCC AND NOT TILEFOLD_C_LIBRARY)
  set(capi ${PROJECT_SOURCE_DIR}/src/capi)
  set_source_files_properties(${capi}/sums.cpp PROPERTIES LANGUAGE CUDA)
  set_source_files_properties(${capi}/cuda/by_key_of.cu PROPERTIES COMPILE_DEFINITIONS TILEFOLD_ITEM_BYTES=4)
  add_library(capi_cuda_part OBJECT EXCLUDE_FROM_ALL ${capi}/sums.cpp ${capi}/cuda/executor.cu ${capi}/cuda/by_index.cu
                                                     ${capi}/cuda/by_key.cu
                                                     ${capi}/cuda/by_key_of.cu ${capi}/cuda/exact_blocks.cu
                                                     ${capi}/cuda/extremes_and_bits.cu)
  tilefold_own_target(capi_cuda_part)
  target_link_libraries(capi_cuda_part PRIVATE tilefold::cuda tilefold::host)
  target_compile_options(capi_cuda_part
                         PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-diag-suppress=177>)
endif()

# Names and numbers that several lists hold. It needs no library.
add_test(NAME c.names COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/capi/names_test.py
                              ${PROJECT_SOURCE_DIR})

if(NOT TILEFOLD_C_LIBRARY)
  return()
endif()

tilefold_add_test(c_tests PREFIX c. SOURCES capi/c_test.cpp capi/pieces_test.cpp LIBS tilefold::precompiled)
target_compile_options(c_tests PRIVATE -O0)

# Every operation of every type: templates that take as long to compile as all other tests of the interface.
tilefold_add_test(slow.c_templates_tests PREFIX slow.c. SOURCES capi/templates_test.cpp LIBS tilefold::precompiled)
tilefold_is_slow(slow.c_templates_tests)
target_compile_options(slow.c_templates_tests PRIVATE -O0)

# It has an operator new of its own.
tilefold_add_test(slow.c_memory_tests PREFIX slow.c. SOURCES capi/no_memory_test.cpp LIBS tilefold::precompiled)
tilefold_is_slow(slow.c_memory_tests)
target_compile_options(slow.c_memory_tests PRIVATE -O1)

# What no program sees of it.
tilefold_add_test(c_blocks_tests PREFIX c. SOURCES capi/piece_blocks_test.cpp LIBS tilefold::c_static tilefold_host)

if(TILEFOLD_C_CUDA)
  # nvcc never sees it.
  tilefold_add_test(gpu.capi.c_cuda_test GPU SOURCES capi/c_cuda_test.cpp
                    LIBS tilefold::precompiled CUDA::cudart)
endif()

# The committed list is the interface: a name that goes, or changes its version, breaks programs.
add_test(NAME c.symbols
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/capi/symbols_test.py
                 ${CMAKE_NM} $<TARGET_FILE:tilefold_c> ${PROJECT_SOURCE_DIR}
                 ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(examples ${PROJECT_SOURCE_DIR}/examples)
include(CheckLanguage)
check_language(C)
if(CMAKE_C_COMPILER)
  enable_language(C)
  add_executable(c_example ${examples}/c/reduce.c)
  set_target_properties(c_example PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
  target_compile_options(c_example PRIVATE -Wall -Wextra -pedantic)
  target_link_libraries(c_example PRIVATE tilefold::c)
  add_test(NAME c.example.c COMMAND c_example)
  # The same from the static library, which needs the C++ library.
  add_executable(c_example_static ${examples}/c/reduce.c)
  set_target_properties(c_example_static PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
  target_link_libraries(c_example_static PRIVATE tilefold::c_static)
  add_test(NAME c.example.c_static COMMAND c_example_static)
else()
  tilefold_cannot_test(c.example.c "" "no C compiler")
endif()
# Those of the others where there is a compiler; one command each.
find_program(TILEFOLD_GFORTRAN gfortran)
find_program(TILEFOLD_RUSTC rustc)
mark_as_advanced(TILEFOLD_GFORTRAN TILEFOLD_RUSTC)
function(tilefold_add_c_example name)
  add_test(NAME c.example.${name}
           COMMAND sh -ec "\"$@\" && exec ./c_example_${name}" - ${ARGN}
           WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
set(directory $<TARGET_FILE_DIR:tilefold_c>)
if(TILEFOLD_GFORTRAN)
  tilefold_add_c_example(fortran ${TILEFOLD_GFORTRAN} ${examples}/fortran/reduce.f90 -o
                         c_example_fortran -L${directory} -ltilefold -Wl,-rpath,${directory})
endif()
if(TILEFOLD_RUSTC)
  tilefold_add_c_example(rust ${TILEFOLD_RUSTC} --edition 2021 ${examples}/rust/reduce.rs -o
                         c_example_rust -L ${directory} -l tilefold -C
                         link-args=-Wl,-rpath,${directory})
endif()
