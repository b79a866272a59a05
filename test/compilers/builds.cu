// SPDX-License-Identifier: Apache-2.0
//
// Objects for different GPUs have kernels of different types: the compiler's list of architectures
// is in them, or with clang 19, which has no such list, the user's. Compiled for sm_80 and sm_90
// with -DTILEFOLD_CUDA_ARCHS=800,900, never run.
#include <type_traits>

#include <tilefold/tilefold.cuh>

using tilefold::detail::cuda::build;
using tilefold::detail::cuda::this_build;

static_assert(std::is_same_v<this_build, build<false, 800, 900>>);
