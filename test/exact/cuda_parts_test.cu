// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers of floats, of bfloat16 and of doubles over parts of which GPUs fold some.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/streamed.cuh>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "cuda_parts.cuh"

namespace tilefold {
namespace {

TEST(CudaExactInParts, NormsOfFloatsAsDoubles) {
  expect_in_parts(mixed_items<float>(200'003), r::exact_l2<double>{});
}

TEST(CudaExactInParts, SumsOfBfloat16AsFloats) {
  expect_in_parts(mixed_items<bfloat16>(200'003), r::exact_sum<float>{});
}

TEST(CudaExactInParts, MeansOfDoubles) {
  expect_in_parts(mixed_items<double>(200'003), r::exact_mean{});
}

TEST(CudaExactInParts, DotsOfDoubles) {
  const auto x = mixed_items<double>(60'001);
  const std::vector<double> y(x.rbegin(), x.rend());
  const auto n = static_cast<std::int64_t>(x.size());
  const auto expected = bytes_of(tilefold::transform_reduce(host_executor(), x.data(), x.data() + n,
                                                            y.data(), r::exact_dot{}));
  const gpu_array<double> x_on_gpu(x), y_on_gpu(y);
  cuda_executor gpu;
  EXPECT_EQ(bytes_of(tilefold::transform_reduce(streamed(gpu, 30'000), x.data(), x.data() + n,
                                                y.data(), r::exact_dot{})),
            expected);
  thread_communicator::run(3, [&](thread_communicator& comm) {
    cuda_executor own;
    const std::int64_t begin = n * comm.rank() / 3;
    const std::int64_t end = n * (comm.rank() + 1) / 3;
    const double* const first = x_on_gpu.data();
    EXPECT_EQ(bytes_of(tilefold::transform_reduce(ranks(comm, own), first + begin, first + end,
                                                  y_on_gpu.data() + begin, r::exact_dot{})),
              expected)
        << "rank " << comm.rank();
  });
}

}  // namespace
}  // namespace tilefold
