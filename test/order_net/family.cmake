# SPDX-License-Identifier: Apache-2.0
#
# The whole family of generated operators, three to a GPU program and twelve to a host program; all have
# the label gpu, for they are part of what .ci/gpu builds and runs. TILEFOLD_NET_SEED orders the family
# and leaves nothing out.
function(tilefold_add_family_test name source first members)
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/order_net/${name}_${source})
  file(CONFIGURE OUTPUT ${copy} CONTENT "#include \"order_net/${source}\"\n")
  tilefold_add_test(${name} GPU SOURCES ${copy} LIBS ${ARGN})
  target_compile_definitions(
    ${name} PRIVATE TILEFOLD_NET_SEED=${TILEFOLD_NET_SEED} TILEFOLD_NET_FIRST=${first}
                    TILEFOLD_NET_MEMBERS=${members})
endfunction()

foreach(first RANGE 0 57 3)
  tilefold_add_family_test(gpu.order_net.family_${first} cuda_test.cu ${first} 3 tilefold::cuda
                           tilefold::host)
endforeach()
foreach(first RANGE 0 48 12)
  set(name gpu.order_net.host_family_${first})
  tilefold_add_family_test(${name} host_test.cpp ${first} 12 tilefold::host)
  if(TILEFOLD_COMPILES_FOR_FMA)
    target_compile_options(${name} PRIVATE -mfma -O3)
  endif()
endforeach()
