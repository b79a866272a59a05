// SPDX-License-Identifier: Apache-2.0
//
// Counts of predicates on a GPU, where a thread counts its tiles by itself, against a loop: none,
// some and all of them, tiles of every width, ranges that are long enough for that by default.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/count.hpp>
#include <tilefold/cuda.cuh>

#include "../support/device.cuh"
#include "../support/items.hpp"
#include "../support/seed.hpp"

namespace tilefold::test {
namespace {

struct below {
  int bound;
  template <class T>
  TILEFOLD_HD bool operator()(T x) const {
    return x < bound;
  }
};

// As many as a loop finds, from memory at and behind an aligned address.
template <class Exec, class T>
void expect_counts(Exec&& exec, const gpu_array<T>& device, const std::vector<T>& x,
                   std::int64_t n) {
  for (const int bound : {0, 1, 100, 1000}) {
    for (const std::int64_t first : {0, 1}) {
      ASSERT_EQ(tilefold::count_if(exec, device.begin() + first, device.begin() + n, below{bound}),
                std::count_if(x.begin() + first, x.begin() + n, below{bound}))
          << "n = " << n << ", bound = " << bound << ", first = " << first;
    }
  }
}

template <class T>
class Counts : public ::testing::Test {
 protected:
  static std::vector<T> items(std::int64_t n) {
    bit_stream random(seed());
    std::vector<T> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<T>(random.below(128)));
    return x;
  }
};
using values = ::testing::Types<std::uint8_t, float>;
TYPED_TEST_SUITE(Counts, values);

TYPED_TEST(Counts, AreThoseOfALoop) {
  cuda_executor exec;
  const auto x = this->items(200003);
  const gpu_array<TypeParam> device(x);
  for (const std::int64_t n : {1, 1000, 16384, 33000, 65536, 200003}) {
    expect_counts(with_policy<tile_policy{32, 1}>(exec), device, x, n);
    expect_counts(with_policy<tile_policy{64, 256}>(exec), device, x, n);
    expect_counts(with_policy<tile_policy{512, 64}>(exec), device, x, n);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Counts, OfLongRanges) {
  cuda_executor exec;
  const auto x = this->items(9000001);
  const gpu_array<TypeParam> device(x);
  for (const std::int64_t n : {8388608, 8388609, 9000001}) expect_counts(exec, device, x, n);
}

using point = words<float, 3>;

struct first_below {
  float bound;
  TILEFOLD_HD bool operator()(const point& p) const { return p.word[0] < bound; }
};

// Of 12 bytes, which have the smallest short ranges for their tiles.
TEST(CountsOfPoints, AreThoseOfALoop) {
  cuda_executor exec;
  for (const std::int64_t n : {1000, 8191, 600003}) {
    const auto x = make_items<point>(pattern::near_one, n, seed());
    const gpu_array<point> device(x);
    EXPECT_EQ(tilefold::count_if(exec, device.begin(), device.end(), first_below{0.5f}),
              std::count_if(x.begin(), x.end(), first_below{0.5f}))
        << n;
    EXPECT_FALSE(tilefold::any_of(exec, device.begin(), device.end(), first_below{-100.0f})) << n;
    EXPECT_TRUE(tilefold::any_of(exec, device.begin(), device.end(), first_below{0.5f})) << n;
  }
}

}  // namespace
}  // namespace tilefold::test
