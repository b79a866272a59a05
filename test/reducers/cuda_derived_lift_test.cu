// SPDX-License-Identifier: Apache-2.0
//
// Reducers on a GPU that a user derives with another lift.
#include <gtest/gtest.h>

#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "../support/items.hpp"
#include "cuda_derived.cuh"
#include "derived.hpp"

namespace tilefold::test {
namespace {

// The squares are products before a sum.
TEST_F(CudaDerived, WithAnotherLift) {
  expect_squares("sum", r::sum{});
  expect_squares("variance", r::variance{});
  expect_squares("logsumexp", r::logsumexp{});
  expect_squares("any", r::any{positive{}});
  expect_squares("arg_minmax", r::arg_minmax{});
  expect_squares("top_k", r::top_k<3>{});
}

}  // namespace
}  // namespace tilefold::test
