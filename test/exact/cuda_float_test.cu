// SPDX-License-Identifier: Apache-2.0
//
// The suite of exact reducers on a GPU, of float; through functions and adaptors; the workspace.
#include <thrust/iterator/transform_iterator.h>

#include "cuda_suite.cuh"

namespace tilefold {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Exact, CudaExact, float);

struct halved {
  __host__ __device__ float operator()(float x) const { return 0.5f * x; }
};

TEST(CudaExactSum, OfFunctionsAndAdaptors) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const auto items = items_of<float>(test::num_exact_kinds, 100000, random);
  const thrust::device_vector<float> x(items);
  exact_accumulator<float> expected;
  for (const float item : items) expected.add(0.5f * item);
  const float* const first = x.data().get();
  EXPECT_EQ(bytes_of(transform_reduce(gpu, first, first + 100000, r::exact_sum{}, halved{})),
            bytes_of(expected.value()));
  const auto adaptor = thrust::make_transform_iterator(first, halved{});
  EXPECT_EQ(bytes_of(reduce(gpu, adaptor, adaptor + 100000, r::exact_sum{})),
            bytes_of(expected.value()));
}

// The same workspace again and again, other sizes between: sums are zero between launches.
TEST(CudaExactSum, SanitizeLeavesTheWorkspaceAsItWas) {
  std::mt19937_64 random(test::seed());
  cuda_executor gpu;
  const auto items = items_of<double>(0, 70001, random);
  const thrust::device_vector<double> x(items);
  const double* const first = x.data().get();
  const double expected = sum_of(items, 0, 70001).value();
  const double plain = reduce(gpu, first, first + 70001, r::max{});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bytes_of(reduce(gpu, first, first + 70001, r::exact_sum{})), bytes_of(expected));
    EXPECT_EQ(reduce(gpu, first, first + 70001, r::max{}), plain);
    EXPECT_EQ(bytes_of(reduce(gpu, first, first + 5000, r::exact_sum{})),
              bytes_of(sum_of(items, 0, 5000).value()));
  }
}

}  // namespace
}  // namespace tilefold
