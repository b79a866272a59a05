// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor's bits against the committed ones.
#include "golden.hpp"

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "../support/device.cuh"

namespace tilefold::test {
namespace {

// A named functor: a generic lambda cannot instantiate kernels with types of its own scope.
struct fold_on_gpu {
  template <class T, class Op>
  auto operator()(const std::vector<T>& items, std::int64_t n, Op op) const {
    gpu_array<T> array(n);
    array.assign(items.data(), n);
    return tilefold::reduce(array.data(), array.data() + n, op);
  }
};

TEST(Golden, CudaBitsAreTheCommittedOnes) { golden::expect_all(fold_on_gpu{}); }

}  // namespace
}  // namespace tilefold::test
