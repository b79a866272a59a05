# SPDX-License-Identifier: Apache-2.0
#
# tilefold_own_target(<target>): how tilefold compiles its own sources. Nothing here reaches those who
# link the target.
include_guard()

function(tilefold_own_target target)
  # GCC 12 sees overlapping copies in every inlined "literal" + std::string (GCC bug 105651).
  # It collects garbage from half a GB on, not a quarter of that: a tenth less time for 100 to 250 MB.
  set(cxx_flags -Wall -Wextra
                $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;--param=ggc-min-heapsize=524288>)
  set(cuda_flags -Xcompiler=-Wall,-Wextra $<$<CXX_COMPILER_ID:GNU>:-Xcompiler=-Wno-restrict>)
  if(TILEFOLD_WERROR)
    list(APPEND cxx_flags -Werror)
    list(APPEND cuda_flags -Werror=all-warnings)
  endif()
  target_compile_options(
    ${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:${cxx_flags}>"
                      "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${cuda_flags}>")
endfunction()
