// SPDX-License-Identifier: Apache-2.0
//
// nvcc's -use_fast_math and -ftz=true flush subnormal numbers to zero, in the library's operations
// as well, and define no macro. Only the compiler's last stage knows of them.
#pragma once

// Answered by that stage, as LLVM's guide to its NVPTX back end says; there is no such function.
extern "C" __device__ int __nvvm_reflect(const char* question);

namespace tilefold::detail::cuda {

/// Called where every kernel that folds begins. Is nothing, or an instruction that does not exist,
/// so that the assembler stops with its name.
__device__ __forceinline__ void refuse_flush_to_zero() {
  if (__nvvm_reflect("__CUDA_FTZ") != 0) {
    asm volatile("tilefold_does_not_go_with_use_fast_math_or_ftz_true;");
  }
}

}  // namespace tilefold::detail::cuda
