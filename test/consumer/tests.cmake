# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs the project beside this file: against an installation, against the source tree, and
# with pkg-config.
set(source ${CMAKE_CURRENT_LIST_DIR})
set(binary ${CMAKE_CURRENT_BINARY_DIR}/consumer)
set(prefix ${binary}/prefix)

set(components core host)
if(TILEFOLD_HAS_NVCC)
  list(APPEND components cuda)
endif()
if(TARGET tilefold_nccl AND TILEFOLD_HAS_NVCC)
  list(APPEND components nccl)
endif()
if(TILEFOLD_C_LIBRARY)
  list(APPEND components precompiled)
endif()
list(JOIN components "\\;" components)
# How this build itself was told to compile; nothing else.
set(same_as_here -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
                 "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}")
if(TILEFOLD_HAS_NVCC)
  list(APPEND same_as_here -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER}
       -DCMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES})
endif()
list(JOIN CMAKE_PREFIX_PATH "\\;" prefix_path)

function(tilefold_add_consumer name)
  add_test(
    NAME consumer.${name}.build
    COMMAND
      ${CMAKE_CTEST_COMMAND} --build-and-test ${source} ${binary}/${name} --build-generator
      ${CMAKE_GENERATOR} --build-options -DCMAKE_BUILD_TYPE=Release -DCOMPONENTS=${components}
      ${same_as_here} ${ARGN})
  set_tests_properties(consumer.${name}.build PROPERTIES FIXTURES_SETUP consumer_${name})
  foreach(program use_core use_host)
    add_test(NAME consumer.${name}.${program} COMMAND ${binary}/${name}/${program})
    set_tests_properties(consumer.${name}.${program} PROPERTIES FIXTURES_REQUIRED consumer_${name})
  endforeach()
  if(TILEFOLD_HAS_NVCC)
    set_tests_properties(consumer.${name}.build PROPERTIES LABELS nvcc)
    foreach(program use_cuda use_cuda_core)
      add_test(NAME consumer.${name}.${program} COMMAND ${binary}/${name}/${program})
      set_tests_properties(consumer.${name}.${program}
                           PROPERTIES FIXTURES_REQUIRED consumer_${name} LABELS gpu
                                      RESOURCE_LOCK gpu)
    endforeach()
  endif()
endfunction()

add_test(NAME consumer.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix
                                       ${prefix})
set_tests_properties(consumer.install PROPERTIES FIXTURES_SETUP consumer_prefix)

tilefold_add_consumer(find_package "-DCMAKE_PREFIX_PATH=${prefix}\\;${prefix_path}")
set_tests_properties(consumer.find_package.build PROPERTIES FIXTURES_REQUIRED consumer_prefix)
if(TILEFOLD_C_LIBRARY)
  add_test(NAME consumer.find_package.use_precompiled
           COMMAND ${binary}/find_package/use_precompiled)
  set_tests_properties(consumer.find_package.use_precompiled
                       PROPERTIES FIXTURES_REQUIRED consumer_find_package)
endif()
if(TARGET tilefold_nccl AND TILEFOLD_HAS_NVCC)
  add_test(NAME consumer.find_package.use_nccl COMMAND ${binary}/find_package/use_nccl)
  set_tests_properties(consumer.find_package.use_nccl
                       PROPERTIES FIXTURES_REQUIRED consumer_find_package)
endif()
# It builds the host library once more, so fast as can be.
tilefold_add_consumer(add_subdirectory "-DCMAKE_PREFIX_PATH=${prefix_path}"
                      -DTILEFOLD_SOURCE=${PROJECT_SOURCE_DIR} "-DCMAKE_CXX_FLAGS_RELEASE=-O0")

# A component that is not there is named.
add_test(NAME consumer.missing_component
         COMMAND ${CMAKE_COMMAND} -S ${source} -B ${binary}/missing -G ${CMAKE_GENERATOR}
                 -DCOMPONENTS=nonsense ${same_as_here} -DCMAKE_PREFIX_PATH=${prefix})
set_tests_properties(
  consumer.missing_component
  PROPERTIES FIXTURES_REQUIRED consumer_prefix
             PASS_REGULAR_EXPRESSION "there is no component 'nonsense'")

# Libraries that were only unpacked somewhere have .pc files that name another place.
find_program(TILEFOLD_PKG_CONFIG pkg-config)
if(TILEFOLD_PKG_CONFIG AND NOT CMAKE_PREFIX_PATH)
  add_test(
    NAME consumer.pkg_config
    COMMAND
      sh -ec "export PKG_CONFIG_PATH=$1/${CMAKE_INSTALL_LIBDIR}/pkgconfig
$2 -std=c++20 $3 $4/host.cpp -o $5 $($6 --cflags --libs tilefold-host)
exec $5" - ${prefix} ${CMAKE_CXX_COMPILER} "${CMAKE_CXX_FLAGS}" ${source} ${binary}/use_pkg_config
      ${TILEFOLD_PKG_CONFIG})
  set_tests_properties(consumer.pkg_config PROPERTIES FIXTURES_REQUIRED consumer_prefix)
else()
  message(STATUS "tilefold: no pkg-config for these libraries, so no test of tilefold-host.pc")
endif()
