// SPDX-License-Identifier: Apache-2.0
//
// Norms and means of other kinds on a GPU: of floats; and of halves, each kind of accumulator.
#include "cuda_reducers.cuh"
#include "norms.hpp"

namespace tilefold::test {
namespace {

TEST(CudaNorms, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_norms<float>(check_on_gpu<float>{exec});
}

// The others are sums of other numbers, or results of the same sums.
TEST(CudaNorms, OfHalvesHaveTheBitsOfTheHost) {
  cuda_executor exec;
  const check_on_gpu<half> check{exec};
  check("l2", r::l2{});
  check("linf", r::linf{});
  check("logsumexp", r::logsumexp{});
  check("geometric_mean", r::geometric_mean{});
  check("compensated_sum", r::compensated_sum{});
}

}  // namespace
}  // namespace tilefold::test
