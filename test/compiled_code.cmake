# SPDX-License-Identifier: Apache-2.0
#
# Tests that compile for themselves and read what nvcc made: they need nvcc and no GPU. What they say depends on
# nothing but nvcc, the sources that .ci/evidence.py names (compiled_code) and this file, so .ci/compiled_code runs those
# alone whose line in compiled_code.csv is of other ones.
function(tilefold_add_compiled_code name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND")
  list(POP_FRONT arg_COMMAND script)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${script}
                                ${CMAKE_CUDA_COMPILER} ${PROJECT_SOURCE_DIR}/include ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS compiled_code)
endfunction()
set(nvdisasm ${PROJECT_SOURCE_DIR}/build/nvdisasm)

tilefold_add_compiled_code(default_kernels COMMAND default_kernels_test.py
                           ${CMAKE_CURRENT_SOURCE_DIR}/support/default_kernels.cu)
tilefold_add_compiled_code(adaptor_loads COMMAND adaptor_loads_test.py
                           ${CMAKE_CURRENT_SOURCE_DIR}/support/adaptor_loads.cu)
# What must not be fused, in machine code.
set(battery operators lifts reducers many_results)
list(TRANSFORM battery PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/contraction/)
list(TRANSFORM battery APPEND .cu)
tilefold_add_compiled_code(contraction.kernels COMMAND contraction/kernels_test.py ${nvdisasm} ${battery})
# The same kernels for GPUs that no test has run on: nothing is lost.
tilefold_add_compiled_code(architectures COMMAND architectures/machine_code_test.py ${nvdisasm})
tilefold_add_compiled_code(kernel_table COMMAND kernel_table/kernel_table.py --nvdisasm-dir ${nvdisasm} --jobs 2
                           --check ${CMAKE_CURRENT_SOURCE_DIR}/kernel_table/kernel_table.csv)
# They compile two files at a time.
set_tests_properties(contraction.kernels architectures kernel_table PROPERTIES PROCESSORS 2 TIMEOUT 1200)
