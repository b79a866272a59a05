// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers as items: those of std on the host. Device code cannot make a std::complex.
#pragma once

#if defined(__CUDACC__)
#include <cuda/std/complex>
#endif

#include "types.hpp"

namespace tilefold::capi {

#if defined(__CUDACC__)
template <class Real>
using complex = cuda::std::complex<Real>;
template <>
inline constexpr dtype dtype_of<complex<float>> = dtype::complex64;
template <>
inline constexpr dtype dtype_of<complex<double>> = dtype::complex128;
#else
template <class Real>
using complex = std::complex<Real>;
#endif

}  // namespace tilefold::capi
