// SPDX-License-Identifier: Apache-2.0
//
// Reducers that select elements, on a GPU: of floats; and of halves and doubles, whose packets are
// of other widths, each kind of accumulator.
#include "cuda_reducers.cuh"
#include "extremes.hpp"

namespace tilefold::test {
namespace {

TEST(CudaExtremes, HaveTheBitsOfTheHost) {
  cuda_executor exec;
  visit_extremes<float>(check_on_gpu<float>{exec});
}

// The others differ from these in which of two is taken, which no width of items changes.
TEST(CudaExtremes, OfHalvesHaveTheBitsOfTheHost) {
  cuda_executor exec;
  const check_on_gpu<half> check{exec};
  check("max ignoring NaN", r::max<nan_rule::ignore>{});
  check("minmax", r::minmax{});
  check("arg_min", r::arg_min{});
  check("arg_minmax", r::arg_minmax{});
  check("first", r::first{});
  check("top_k", r::top_k<3>{});
  check("bottom_k ignoring NaN", r::bottom_k<8, nan_rule::ignore>{});
}

TEST(CudaExtremes, OfDoublesHaveTheBitsOfTheHost) {
  cuda_executor exec;
  const check_on_gpu<double> check{exec};
  check("min", r::min{});
  check("minmax ignoring NaN", r::minmax<nan_rule::ignore>{});
  check("arg_max ignoring NaN", r::arg_max<nan_rule::ignore>{});
  check("arg_minmax", r::arg_minmax{});
  check("last", r::last{});
  check("top_k", r::top_k<3>{});
}

}  // namespace
}  // namespace tilefold::test
