// SPDX-License-Identifier: Apache-2.0
//
// The conformance body for CUDA's own value types: __half, __nv_bfloat16 and cuda::std::complex, on
// a GPU and on the host executor as nvcc compiles it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/std/complex>

#include <gtest/gtest.h>

#include "cuda_backend.cuh"

namespace tilefold::test {

template <>
struct float_layout<__half> : ieee_layout<5, 10, std::uint16_t> {};
template <>
struct float_layout<__nv_bfloat16> : ieee_layout<8, 7, std::uint16_t> {};

namespace {

template <class Real>
using complex = cuda::std::complex<Real>;

// Other tests have more operators of the types of the same sizes that stand for these.
using cuda_types_cases =
    ::testing::Types<fold_case<__half, plus, r::plus, float>,                //
                     fold_case<__half, minimum, r::minimum, __half>,         //
                     fold_case<__half, plus, r::plus, __half, __half>,       //
                     fold_case<__nv_bfloat16, std::plus<>, r::plus, float>,  //
                     fold_case<__nv_bfloat16, maximum_number, r::maximum_number, __nv_bfloat16>,
                     fold_case<complex<float>, multiplies, r::multiplies, complex<float>>,  //
                     fold_case<complex<double>, std::plus<>, r::plus, complex<double>>>;

template <class Case>
class CudaTypes : public CudaConformance<Case> {};
TYPED_TEST_SUITE(CudaTypes, cuda_types_cases);
TYPED_TEST(CudaTypes, HaveTheBitsOfTheOracle) { this->run(); }

}  // namespace
}  // namespace tilefold::test
