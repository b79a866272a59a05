// SPDX-License-Identifier: Apache-2.0
//
// Sums and moments on a GPU: of floats; and of doubles, each size of accumulator.
#include "cuda_reducers.cuh"
#include "moments.hpp"

namespace tilefold::test {
namespace {

TEST(CudaMoments, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_moments<float>(check_on_gpu<float>{exec});
}

TEST(CudaMoments, OfDoublesHaveTheBitsOfTheHost) {
  cuda_executor exec;
  const check_on_gpu<double> check{exec};
  check("sum", r::sum{});
  check("mean", r::mean{});
  check("variance", r::variance{});
  check("skewness", r::skewness{});
  check("kurtosis", r::kurtosis{});
}

}  // namespace
}  // namespace tilefold::test
