// SPDX-License-Identifier: Apache-2.0
//
// Functors from everywhere, on a GPU and on the host: the C++ standard library's, libcu++'s, a
// user's own, lambdas for both sides, and lambdas for the device alone. No compiler flag but the
// one that extended lambdas need.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cuda/functional>
#include <cuda/std/functional>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "conformance.hpp"

namespace tilefold::test {
namespace {

// Both executors against the oracle, which applies `meaning` on the host.
template <class T, class Op, class Meaning>
void expect_on_both(Op op, Meaning meaning, pattern p = pattern::mixed) {
  cuda_executor gpu;
  host_executor host;
  for (const std::int64_t n : {1, 2, 31, 33, 1000, 4097, 100003}) {
    const auto items = make_items<T>(p, n);
    const gpu_array<T> array(items);
    using accumulator = decltype(reduce(gpu, array.begin(), array.end(), op));
    const auto expected = reference::fold<accumulator>(meaning, items);
    EXPECT_TRUE(same_bits(reduce(gpu, array.begin(), array.end(), op), expected)) << "n = " << n;
    EXPECT_TRUE(same_bits(reduce(host, items.begin(), items.end(), op), expected)) << "n = " << n;
  }
}

TEST(CudaFunctors, OfTheStandardLibrary) {
  expect_on_both<float>(std::plus<>{}, reference::plus{});
  expect_on_both<float>(std::plus<float>{}, reference::plus{});
  expect_on_both<float>(std::plus<double>{}, reference::plus{});
  expect_on_both<double>(std::multiplies<>{}, reference::multiplies{}, pattern::near_one);
  expect_on_both<std::uint32_t>(std::bit_xor<>{}, reference::bit_xor{});
  expect_on_both<std::uint16_t>(std::bit_or<>{}, reference::bit_or{});
}

TEST(CudaFunctors, OfLibcuxx) {
  expect_on_both<float>(cuda::std::plus<>{}, reference::plus{});
  expect_on_both<float>(cuda::std::plus<float>{}, reference::plus{});
  expect_on_both<double>(cuda::std::multiplies<>{}, reference::multiplies{}, pattern::near_one);
  expect_on_both<std::uint32_t>(cuda::std::bit_xor<>{}, reference::bit_xor{});
  expect_on_both<float>(cuda::minimum<>{}, reference::minimum{});
  expect_on_both<double>(cuda::maximum<>{}, reference::maximum{});
  expect_on_both<std::int32_t>(cuda::minimum<std::int32_t>{}, reference::minimum{});
}

struct scaled_difference {
  float scale;
  TILEFOLD_HD float operator()(float a, float b) const { return scale * (a - b); }
};

TEST(CudaFunctors, OfTheUser) {
  const scaled_difference op{0.75f};
  expect_on_both<float>(
      op, [=](float a, float b) { return reference::rounded(0.75f * reference::rounded(a - b)); });
}

// A product that meets a sum in one thread or another, depending on the tile's shape: fused or
// not, the bits must be the host's.
struct product_of_difference {
  TILEFOLD_HD float operator()(float a, float b) const { return (a - b) * 1.0000001f; }
};

TEST(CudaFunctors, AreNotFusedWithOneAnother) {
  expect_on_both<float>(product_of_difference{}, [](float a, float b) {
    return reference::rounded(reference::rounded(a - b) * 1.0000001f);
  });
}

// In functions of their own: extended lambdas cannot stand in a test's private body.
void lambdas_for_both() {
  const float half_of = 0.5f;
  expect_on_both<float>([half_of] __host__ __device__(float a, float b) { return a - half_of * b; },
                        [](float a, float b) { return reference::rounded(a - 0.5f * b); });
}

TEST(CudaFunctors, ThatAreLambdasForBoth) { lambdas_for_both(); }

void device_lambda(const gpu_array<float>& array, float expected) {
  cuda_executor gpu;
  const float half_of = 0.5f;
  const float got =
      reduce(gpu, array.begin(), array.end(),
             [half_of] __device__(float a, float b) -> float { return a - half_of * b; });
  EXPECT_TRUE(same_bits(got, expected));
  // The accumulator named, as a lambda without a result type needs it.
  const float named =
      transform_reduce<float>(gpu, array.begin(), array.end(), 0.0f, plus{},
                              [half_of] __device__(float a) -> float { return half_of * a; });
  const auto items = array.to_host();
  std::vector<float> halves;
  for (const float item : items) halves.push_back(0.5f * item);
  EXPECT_TRUE(same_bits(named, 0.0f + reference::fold<float>(reference::plus{}, halves)));
}

TEST(CudaFunctors, ThatAreLambdasForTheDevice) {
  const auto items = make_items<float>(pattern::mixed, 100003);
  // Halving is exact, so nothing is rounded twice.
  const float expected = reference::fold<float>(
      [](float a, float b) { return reference::rounded(a - 0.5f * b); }, items);
  device_lambda(gpu_array<float>(items), expected);
}

}  // namespace
}  // namespace tilefold::test
