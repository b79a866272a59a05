// SPDX-License-Identifier: Apache-2.0
//
// Exact norms of doubles by every verb that has many results on a GPU, against the host. Other
// programs have the other reducers: each takes minutes to compile.
#include <gtest/gtest.h>

#include "cuda_forests.cuh"

namespace tilefold::test {
namespace {

TEST(CudaExactVerbsOfDouble, Norms) { check_many<double, double>(reducers::exact_l2{}); }

}  // namespace
}  // namespace tilefold::test
