// SPDX-License-Identifier: Apache-2.0
//
// min_element and its kin with a comparator on a GPU, against std on the host: elements of equal
// rank, values without <; functors of std and lambdas, over iterators of thrust.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <thrust/device_vector.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/extrema.hpp>

#include "support/device.cuh"
#include "support/items.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

// Without < and ==; elements of equal rank are told apart by their number.
struct item {
  std::int16_t rank;
  int number;
};
struct lower_rank {
  TILEFOLD_HD bool operator()(const item& a, const item& b) const { return a.rank < b.rank; }
};

std::vector<item> make_ranked(std::int64_t n, std::uint64_t ranks, bit_stream& random) {
  std::vector<item> items;
  for (std::int64_t i = 0; i < n; ++i) {
    items.push_back({static_cast<std::int16_t>(random.below(ranks)), static_cast<int>(i)});
  }
  return items;
}

TEST(CudaComparators, FindTheFirstOfEqualElements) {
  bit_stream random(seed());
  cuda_executor exec;
  const lower_rank comp;
  for (const std::int64_t n : {1, 2, 33, 1000, 40000, 3000001}) {
    for (const std::uint64_t ranks : {1, 3, 30000}) {
      const std::vector<item> x = make_ranked(n, ranks, random);
      const gpu_array<item> device(x);
      const item* first = device.begin();
      const item* last = device.end();
      const auto least = std::min_element(x.begin(), x.end(), comp) - x.begin();
      const auto greatest = std::max_element(x.begin(), x.end(), comp) - x.begin();
      EXPECT_EQ(tilefold::min_element(exec, first, last, comp) - first, least) << n;
      EXPECT_EQ(tilefold::max_element(first, last, comp) - first, greatest) << n;
      const auto both = tilefold::minmax_element(exec, first, last, comp);
      EXPECT_EQ(both.first - first, least) << n;
      EXPECT_EQ(both.second - first, greatest) << n;
      EXPECT_EQ(tilefold::min_value(exec, first, last, comp).number, least) << n;
      EXPECT_EQ(tilefold::minmax_value(first, last, comp).max.number, greatest) << n;
      const gpu_array<item> out(1);
      tilefold::max_value_into(exec, first, last, out.data(), comp);
      exec.synchronize();
      EXPECT_EQ(out.to_host()[0].number, greatest) << n;
    }
  }
}

TEST(CudaComparators, FindNothingInNothing) {
  cuda_executor exec;
  const gpu_array<item> device(1);
  const item* first = device.begin();
  EXPECT_EQ(tilefold::min_element(exec, first, first, lower_rank()), first);
  EXPECT_EQ(tilefold::minmax_element(exec, first, first, lower_rank()).second, first);
  EXPECT_THROW((void)tilefold::min_value(exec, first, first, lower_rank()), empty_range_error);
}

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
