// SPDX-License-Identifier: Apache-2.0
//
// Floating numbers where integers are wanted, on the GPU: as on the host
// (detail/core/to_integer_test.cpp).
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"
#include "support/integers_of_reals.hpp"

namespace tilefold::test {
namespace {

template <class Int, class Real>
__global__ void convert_all(const Real* from, Int* to, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = detail::convert<Int>(from[i]);
}

struct converted_on_the_gpu {
  template <class Int, class Real>
  std::vector<Int> operator()(Int, const std::vector<Real>& reals) const {
    const auto n = static_cast<int>(reals.size());
    const gpu_array<Real> from(reals);
    gpu_array<Int> to(n);
    convert_all<<<(n + 255) / 256, 256>>>(from.data(), to.data(), n);
    must(cudaGetLastError());
    return to.to_host();
  }
};

TEST(CudaToInteger, OfFloats) { expect_integers_of_every_type<float>(converted_on_the_gpu{}); }
TEST(CudaToInteger, OfDoubles) { expect_integers_of_every_type<double>(converted_on_the_gpu{}); }

constexpr int least = std::numeric_limits<int>::min();
constexpr int most = std::numeric_limits<int>::max();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(CudaToInteger, OfResults) {
  cuda_executor exec;
  const gpu_array<double> items(std::vector<double>{1e20, 1.0, -1e20, 1.0, nan, 1.0, 2.5, 3.0});
  gpu_array<int> out(4);
  segmented_reduce(exec, items.begin(), 4, 2, out.begin());
  EXPECT_EQ(out.to_host(), (std::vector<int>{most, least, 0, 5}));
  reduce_into(exec, items, out.begin());
  exec.synchronize();
  EXPECT_EQ(out.to_host()[0], 0);
}

TEST(CudaToInteger, OfKeys) {
  cuda_executor exec;
  const gpu_array<float> keys(std::vector<float>{-5e9f, -5e9f, 7.5f, 7.5f, 8.0f, 8.0f, nan, 5e9f});
  const gpu_array<float> items(
      std::vector<float>{1e20f, 1.0f, -1e20f, 1.0f, nan, 1.0f, 2.5f, 3e38f});
  gpu_array<int> keys_out(8), out(8);
  EXPECT_EQ(
      reduce_by_key(exec, keys.begin(), keys.end(), items.begin(), keys_out.begin(), out.begin()),
      5);
  auto ranks = keys_out.to_host(), sums = out.to_host();
  ranks.resize(5);
  sums.resize(5);
  EXPECT_EQ(ranks, (std::vector<int>{least, 7, 8, 0, most}));
  EXPECT_EQ(sums, (std::vector<int>{most, least, 0, 2, most}));
}

TEST(CudaToInteger, OfItems) {
  cuda_executor exec;
  const std::vector<double> reals{1e300, -1e300, 5.9, nan};
  const gpu_array<double> items(reals);
  EXPECT_EQ(reduce<int>(exec, items), most + least + 5);
  EXPECT_EQ(reduce<int>(exec, items), reduce<int>(reals));
}

}  // namespace
}  // namespace tilefold::test
