// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of integers, of floats and integers fused with counts, and of complex numbers on a GPU
// under tile policies of the caller's. (cuda_policies_float_test.cu has floats alone.)
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/exact_accumulator.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "cuda_policies.cuh"
#include "many_items.hpp"

namespace tilefold {
namespace {

using CudaExactPoliciesOfInt32 = CudaExactPolicies<std::int32_t>;

TEST_F(CudaExactPoliciesOfInt32, ChangeNoBits) {
  expect_host_bits<tile_policy{256, 4}>();
  expect_host_bits_by_key<tile_policy{256, 4}>();
}

TEST_F(CudaExactPoliciesOfInt32, ChangeNoBitsOfFusedSums) {
  expect_fused_host_bits<tile_policy{32, 1}>();
  expect_fused_host_bits<tile_policy{256, 4}>();
}

using CudaExactPoliciesOfFusedFloats = CudaExactPolicies<float>;

TEST_F(CudaExactPoliciesOfFusedFloats, ChangeNoBits) {
  expect_fused_host_bits<tile_policy{32, 1}>();
  expect_fused_host_bits<tile_policy{256, 4}>();
}

// In this program, which compiles for a shorter time than cuda_policies_float_test.
TEST_F(CudaExactPoliciesOfFusedFloats, ByKeyTheSmallestChangesNoBits) {
  expect_host_bits_by_key<tile_policy{32, 1}>();
}

TEST(CudaExactPoliciesOfComplex, ChangeNoBits) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const auto items = test::any_items<float>(0, 2 * num_items, random);
  std::vector<std::complex<float>> z(num_items);
  exact_accumulator<float> re, im;
  for (std::size_t i = 0; i < num_items; ++i) {
    z[i] = {items[2 * i], items[2 * i + 1]};
    re.add(z[i].real());
    im.add(z[i].imag());
  }
  const test::gpu_array<std::complex<float>> x(z);
  const std::complex<float>* const first = x.data();
  const auto expect_both = [&](const std::complex<float>& got) {
    EXPECT_EQ(bytes_of(got.real()), bytes_of(re.value()));
    EXPECT_EQ(bytes_of(got.imag()), bytes_of(im.value()));
  };
  expect_both(
      reduce(with_policy<tile_policy{32, 1}>(gpu), first, first + num_items, r::exact_sum{}));
  expect_both(
      reduce(with_policy<tile_policy{128, 2}>(gpu), first, first + num_items, r::exact_sum{}));
}

}  // namespace
}  // namespace tilefold
