// SPDX-License-Identifier: Apache-2.0
//
// The CUDA executor against what PyTorch gave.
#include "torch_golden.hpp"

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/segmented_reduce.hpp>

#include "../support/device.cuh"

namespace tilefold::test {
namespace {

struct gpu_folds {
  template <class Acc, class T, class Op>
  std::vector<Acc> axes(const std::vector<T>& items, unsigned set, Op op) const {
    const auto layout = golden::torch_layout();
    const auto results = right_layout(result_extents(layout, set, false));
    const gpu_array<T> array(items);
    gpu_array<Acc> out(results.span());
    axis_reduce<Acc>(cuda_executor(), test_view{array.data(), layout},
                     test_view{out.data(), results}, named(set), op);
    return out.to_host();
  }
  template <class Acc, class T, class Op>
  std::vector<Acc> segments(const std::vector<T>& items, Op op) const {
    const gpu_array<T> array(items);
    const gpu_array<std::int64_t> offsets(golden::torch_offsets());
    gpu_array<Acc> out(offsets.size() - 1);
    segmented_reduce<Acc>(cuda_executor(), array.data(), offsets.data(), offsets.size() - 1,
                          out.data(), op);
    return out.to_host();
  }
};

TEST(Golden, CudaResultsAreThoseOfPyTorch) { golden::expect_torch_results(gpu_folds{}); }

}  // namespace
}  // namespace tilefold::test
