// SPDX-License-Identifier: Apache-2.0
//
// The first and the last of equal extremes on a GPU, against std: small and default tiles, aligned
// and shifted, short and long ranges.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/extrema.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "ties.hpp"

namespace tilefold::test {
namespace {

constexpr tile_policy small{64, 8};

template <class T>
class CudaTies : public ::testing::Test {
 protected:
  void expect_places_of_std(const std::vector<T>& x) {
    const auto n = static_cast<std::int64_t>(x.size());
    const auto expected = places_by_std(x);
    gpu_array<T> device(n + 1);
    for (const std::int64_t shift : {0, 1}) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", shift = " + std::to_string(shift));
      device.assign(x.data(), n, shift);
      const T* first = device.data() + shift;
      ASSERT_EQ(places_by_pairs(exec_, first, n), expected);
      ASSERT_EQ(places_by_pairs(with_policy<small>(exec_), first, n), expected);
    }
  }

  cuda_executor exec_;
};
using values = ::testing::Types<float, std::uint8_t>;
TYPED_TEST_SUITE(CudaTies, values);

TYPED_TEST(CudaTies, AreThoseOfStd) {
  for (const std::int64_t n : {1, 2, 33, 255, 1000, 4097, 100003, 3000003}) {
    for (const std::int64_t kinds : {1, 2, 100}) {
      this->expect_places_of_std(items_with_ties<TypeParam>(n, kinds, seed()));
    }
  }
}

// One equal pair, in every corner of lanes, rows, warps and tiles.
TYPED_TEST(CudaTies, OfTwoAreTheOneAskedFor) {
  constexpr std::int64_t n = 20011;
  for (const std::int64_t a : {0, 3, 4, 127, 128, 255, 511, 512, 4095, 8192, 19999}) {
    for (const std::int64_t b : {1, 5, 129, 256, 510, 513, 4096, 10000, 20010}) {
      auto x = items_with_ties<TypeParam>(n, 50, seed());
      for (const std::int64_t i : {a, b}) x[static_cast<std::size_t>(i)] = 100;
      this->expect_places_of_std(x);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(CudaTiesOfFloats, OfVerbsAndSegmentsAreThoseOfStd) {
  const auto x = items_with_ties<float>(70001, 3, seed());
  const gpu_array<float> device(x);
  const auto expected = places_by_std(x);
  EXPECT_EQ(min_element(device.begin(), device.end(), last_of_equal) - device.begin(), expected[1]);
  EXPECT_EQ(max_element(device.begin(), device.end(), last_of_equal) - device.begin(), expected[3]);
  const auto both = minmax_element(device.begin(), device.end(), first_of_equal, last_of_equal);
  EXPECT_EQ(both.first - device.begin(), expected[0]);
  EXPECT_EQ(both.second - device.begin(), expected[3]);

  const std::vector<std::int64_t> offsets{0, 1, 300, 301, 60000, 70001};
  const gpu_array<std::int64_t> device_offsets(offsets);
  gpu_array<r::indexed_extremes<float>> found(5);
  tilefold::segmented_reduce(device.data(), device_offsets.data(), 5, found.data(),
                             if_empty(first_and_last{}, r::indexed_extremes<float>{}));
  const auto places = found.to_host();
  for (std::size_t s = 0; s < 5; ++s) {
    const auto by_std =
        places_by_std(std::vector<float>(x.begin() + offsets[s], x.begin() + offsets[s + 1]));
    EXPECT_EQ(places[s].min.index, by_std[0]) << s;
    EXPECT_EQ(places[s].max.index, by_std[3]) << s;
  }
}

}  // namespace
}  // namespace tilefold::test
