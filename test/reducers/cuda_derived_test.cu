// SPDX-License-Identifier: Apache-2.0
//
// What a user derives from the library's reducers on a GPU: the bits of the host, where
// derived_test.cpp holds them against the neighbour tree. Of each way that a base has and a derived
// type must not take.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"
#include "../support/items.hpp"
#include "../support/seed.hpp"
#include "derived.hpp"

namespace tilefold::test {
namespace {

class CudaDerived : public ::testing::Test {
 protected:
  template <class R>
  void expect_host_bits(const char* name, const R& reducer) {
    for (const std::int64_t n : {1, 2, 33, 1000, 20011, 3000003}) {
      const auto x = make_items<float>(pattern::mixed, n, seed());
      const gpu_array<float> device(x);
      ASSERT_EQ(bits_of(tilefold::reduce(exec_, device.begin(), device.end(), reducer)),
                bits_of(tilefold::reduce(host_executor(), x, reducer)))
          << name << ", n = " << n;
    }
  }
  template <class Base>
  void expect_squares(const char* name, const Base& base) {
    if (!HasFatalFailure()) expect_host_bits(name, of_squares<Base>{base});
  }
  template <class Base>
  void expect_the_right(const char* name, const Base& base) {
    if (!HasFatalFailure()) expect_host_bits(name, of_the_right<Base>{base});
  }

  cuda_executor exec_;
};

// The squares are products before a sum.
TEST_F(CudaDerived, WithAnotherLift) {
  expect_squares("sum", r::sum{});
  expect_squares("variance", r::variance{});
  expect_squares("logsumexp", r::logsumexp{});
  expect_squares("any", r::any{positive{}});
  expect_squares("arg_minmax", r::arg_minmax{});
  expect_squares("top_k", r::top_k<3>{});
}

TEST_F(CudaDerived, WithAnotherCombine) {
  expect_the_right("mean", r::mean{});
  expect_the_right("min", r::min{});
  expect_the_right("count_if", r::count_if{positive{}});
  expect_the_right("arg_max", r::arg_max{});
}

TEST_F(CudaDerived, FusedWithOthers) {
  expect_host_bits("fuse", r::fuse(of_squares<r::mean>{}, r::variance{}, of_squares<r::max<>>{}));
}

TEST_F(CudaDerived, OverSegments) {
  const auto x = make_items<float>(pattern::mixed, 20011, seed());
  const std::vector<std::int64_t> offsets{0, 0, 5, 1000, 20011};
  const gpu_array<float> items(x);
  const gpu_array<std::int64_t> device_offsets(offsets);
  const gpu_array<float> out(4);
  tilefold::segmented_reduce(exec_, items.data(), device_offsets.data(), 4, out.data(),
                             of_squares<r::sum>{});
  std::vector<float> expected(4);
  tilefold::segmented_reduce(x.begin(), offsets.begin(), 4, expected.begin(), of_squares<r::sum>{});
  const auto got = out.to_host();
  for (std::size_t s = 0; s < 4; ++s) EXPECT_EQ(bits_of(got[s]), bits_of(expected[s])) << s;
}

}  // namespace
}  // namespace tilefold::test
