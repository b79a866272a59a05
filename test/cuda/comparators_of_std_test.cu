// SPDX-License-Identifier: Apache-2.0
//
// min_element and its kin with comparators of std and lambdas on a GPU, over iterators of thrust,
// against std on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <thrust/device_vector.h>
#include <tilefold/cuda.cuh>
#include <tilefold/extrema.hpp>

#include "support/device.cuh"
#include "support/items.hpp"

namespace tilefold::test {
namespace {

// Extended lambdas may not stand in a test's body.
template <class It>
It farthest_by_lambda(It first, It last) {
  return tilefold::max_element(first, last, [] __host__ __device__(float a, float b) {
    return (a < 0 ? -a : a) < (b < 0 ? -b : b);
  });
}
template <class It>
It farthest_by_device_lambda(cuda_executor& exec, It first, It last) {
  return tilefold::max_element(exec, first, last, [] __device__(float a, float b) -> bool {
    return (a < 0 ? -a : a) < (b < 0 ? -b : b);
  });
}

TEST(CudaComparatorsOfStd, AreThoseOfStdAndLambdas) {
  const auto x = make_items<float>(pattern::mixed, 70001, 9);
  const thrust::device_vector<float> device(x.begin(), x.end());
  cuda_executor exec;
  const auto first = device.begin();
  const auto last = device.end();
  const auto least = std::min_element(x.begin(), x.end()) - x.begin();
  const auto greatest = std::max_element(x.begin(), x.end()) - x.begin();
  EXPECT_EQ(tilefold::min_element(first, last, std::less<>()) - first, least);
  EXPECT_EQ(tilefold::min_element(exec, first, last, std::greater<float>()) - first, greatest);
  EXPECT_EQ(tilefold::max_element(device, std::less<float>()) - first, greatest);
  const auto by_magnitude = [](float a, float b) { return std::abs(a) < std::abs(b); };
  const auto farthest = std::max_element(x.begin(), x.end(), by_magnitude) - x.begin();
  EXPECT_EQ(farthest_by_lambda(first, last) - first, farthest);
  EXPECT_EQ(farthest_by_device_lambda(exec, first, last) - first, farthest);
}

}  // namespace
}  // namespace tilefold::test
