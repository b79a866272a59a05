// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers over parts of which GPUs fold some: pieces, streams and ranks whose executors are
// GPUs have the bits of one call on the host, which others compare with MPFR.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/streamed.cuh>
#include <tilefold/transform_reduce.hpp>

#include "../support/device.cuh"
#include "../support/seed.hpp"
#include "many_items.hpp"

namespace tilefold {
namespace {

namespace r = reducers;
using test::bytes_of;
using test::gpu_array;
using test::random_cuts;

/// One value over a GPU and its host, with any reducer.
template <class T, class Op>
void expect_in_parts(const std::vector<T>& x, Op op) {
  std::mt19937_64 random(test::seed());
  const auto n = static_cast<std::int64_t>(x.size());
  const T* const first = x.data();
  const host_executor host;
  const auto expected = bytes_of(tilefold::reduce(host, first, first + n, op));
  const gpu_array<T> on_gpu(x);
  const T* const items = on_gpu.data();
  cuda_executor gpu;
  const auto stream = streamed(gpu, 30'000);
  EXPECT_EQ(bytes_of(tilefold::reduce(stream, first, first + n, op)), expected) << "streamed";
  for (int round = 0; round < 5; ++round) {
    const auto cuts = random_cuts(x.size(), 4, random);
    auto whole = reduce_piece(gpu, items, items + cuts[1], 0, op);
    whole.append(stream, first + cuts[1], first + cuts[2]);
    auto next = reduce_piece(gpu, items + cuts[2], items + cuts[3], cuts[2], op);
    next.append(host, first + cuts[3], first + n);
    whole.merge(next.from_bytes(next.to_bytes()));
    EXPECT_EQ(bytes_of(whole.value()), expected) << "pieces, round " << round;
  }
  const auto cuts = random_cuts(x.size(), 3, random);
  thread_communicator::run(3, [&](thread_communicator& comm) {
    cuda_executor own;
    const std::int64_t begin = cuts[static_cast<std::size_t>(comm.rank())];
    const std::int64_t end = cuts[static_cast<std::size_t>(comm.rank()) + 1];
    EXPECT_EQ(bytes_of(tilefold::reduce(ranks(comm, own), items + begin, items + end, op)),
              expected)
        << "rank " << comm.rank();
    const auto own_stream = streamed(own, 8192);
    EXPECT_EQ(bytes_of(tilefold::reduce(ranks(comm, own_stream), first + begin, first + end, op)),
              expected)
        << "streamed, rank " << comm.rank();
  });
}

template <class T>
std::vector<T> mixed_items(std::size_t n) {
  std::mt19937_64 random(test::seed() + 1);
  return test::items_of<T>(test::num_exact_kinds, n, random);
}

TEST(CudaExactInParts, MeansOfDoubles) {
  expect_in_parts(mixed_items<double>(200'003), r::exact_mean{});
}
TEST(CudaExactInParts, NormsOfFloatsAsDoubles) {
  expect_in_parts(mixed_items<float>(200'003), r::exact_l2<double>{});
}
TEST(CudaExactInParts, SumsOfBfloat16AsFloats) {
  expect_in_parts(mixed_items<bfloat16>(200'003), r::exact_sum<float>{});
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
