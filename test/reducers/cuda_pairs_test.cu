// SPDX-License-Identifier: Apache-2.0
//
// Reducers of two ranges on a GPU: of floats; of doubles, each size of accumulator; and some of
// halves and integers.
#include <cstdint>

#include "cuda_reducers.cuh"
#include "pairs.hpp"

namespace tilefold::test {
namespace {

TEST(CudaPairs, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_pair_reducers<float>(check_pairs_on_gpu<float>{exec});
}

TEST(CudaPairs, OfDoublesHaveTheBitsOfTheHost) {
  cuda_executor exec;
  const check_pairs_on_gpu<double> check{exec};
  check("correlation", reducers::correlation{});
  check("weighted_mean", reducers::weighted_mean{});
  check("dot", reducers::dot{});
  check("compensated_dot", reducers::compensated_dot{});
}

TEST(CudaPairs, OfOtherItemsHaveTheBitsOfTheHost) {
  cuda_executor exec;
  check_pairs_on_gpu<half>{exec}("dot", reducers::dot{});
  check_pairs_on_gpu<std::int32_t>{exec}("covariance", reducers::covariance{});
}

}  // namespace
}  // namespace tilefold::test
