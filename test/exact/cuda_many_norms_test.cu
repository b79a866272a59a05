// SPDX-License-Identifier: Apache-2.0
//
// Exact norms of floats as doubles by offsets and by axis on a GPU, against the host.
#include <gtest/gtest.h>

#include <tilefold/reducers/exact.hpp>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactManyNorms, OfSegmentsOfFloatsAsDoubles) {
  check_forests<float, double>(reducers::exact_l2<double>{},
                               [](auto& forest) { forest.by_offsets(); });
}
TEST(CudaExactManyNorms, OfAxesOfFloatsAsDoubles) {
  check_axes<float, double>(reducers::exact_l2<double>{});
}

}  // namespace
}  // namespace tilefold::test
