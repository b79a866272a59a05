// SPDX-License-Identifier: Apache-2.0
//
// What a user derives from the library's reducers on a GPU: the bits of the host, where
// derived_test.cpp holds them against the neighbour tree. Of each way that a base has and a derived
// type must not take.
#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>

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

}  // namespace
}  // namespace tilefold::test
