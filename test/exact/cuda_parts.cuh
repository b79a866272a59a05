// SPDX-License-Identifier: Apache-2.0
//
// Exact reducers over parts of which GPUs fold some: pieces, streams and ranks whose executors are
// GPUs have the bits of one call on the host, which others compare with MPFR.
#pragma once

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
#include <tilefold/streamed.cuh>

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

}  // namespace
}  // namespace tilefold
