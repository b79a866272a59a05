# SPDX-License-Identifier: Apache-2.0
#
# tilefold_require_cuda_20(<interface target>): .cu files that link the target are C++20. Also installed,
# because the CMake that counts is the one that builds those files; hence BUILD_INTERFACE, which keeps
# this build's answer out of the exported target.
function(tilefold_require_cuda_20 target)
  if(cuda_std_20 IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
    target_compile_features(${target} INTERFACE $<BUILD_INTERFACE:cuda_std_20>)
  else()
    # CMake before 3.26 knows no C++20 for nvcc; without CUDA enabled yet, no CMake can tell.
    target_compile_options(${target}
                           INTERFACE $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>>)
  endif()
endfunction()
