// SPDX-License-Identifier: Apache-2.0
//
// A GPU over host memory: every verb of one value, pieces and ranks have the bits of the host.
#include <tilefold/streamed.cuh>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/transform_reduce.hpp>

#include "streamed.cuh"

namespace {

namespace r = tilefold::reducers;

TEST(Streamed, EveryVerbOfOneValue) {
  const auto x = mixed_floats(200003);
  const std::vector<double> y(x.rbegin(), x.rend());
  const tilefold::host_executor host;
  tilefold::cuda_executor gpu;
  const auto stream = tilefold::streamed(gpu, 30000);
  EXPECT_TRUE(same(tilefold::reduce(stream, x, 2.0), tilefold::reduce(host, x, 2.0)));
  EXPECT_TRUE(same(tilefold::reduce(stream, x, tilefold::maximum{}),
                   tilefold::reduce(host, x, tilefold::maximum{})));
  EXPECT_TRUE(
      same(tilefold::reduce(stream, x, r::exact_sum{}), tilefold::reduce(host, x, r::exact_sum{})));
  EXPECT_TRUE(same(tilefold::transform_reduce(stream, x.begin(), x.end(), y.begin(), r::dot{}),
                   tilefold::transform_reduce(host, x.begin(), x.end(), y.begin(), r::dot{})));
  const auto op = r::fuse(r::variance{}, r::arg_min{});
  const auto got = tilefold::reduce(stream, x, op);
  const auto expected = tilefold::reduce(host, x, op);
  EXPECT_TRUE(same(tilefold::get<0>(got), tilefold::get<0>(expected)));
  EXPECT_EQ(tilefold::get<1>(got).index, tilefold::get<1>(expected).index);
  double out = 0;
  tilefold::reduce_into(stream, x, &out, r::mean{});
  EXPECT_TRUE(same(out, tilefold::reduce(host, x, r::mean{})));
}

TEST(Streamed, PiecesAndRanks) {
  const auto x = mixed_floats(100000);
  const float expected = tilefold::reduce(tilefold::host_executor(), x);
  tilefold::cuda_executor gpu;
  const auto stream = tilefold::streamed(gpu, 4096);
  auto part = tilefold::reduce_piece(stream, x.data(), x.data() + 33333, 0);
  part.append(tilefold::host_executor(), x.data() + 33333, x.data() + 50000);
  part.append(stream, x.data() + 50000, x.data() + 100000);
  EXPECT_TRUE(same(part.value(), expected));
  tilefold::thread_communicator::run(3, [&](tilefold::thread_communicator& comm) {
    tilefold::cuda_executor own;
    const auto own_stream = tilefold::streamed(own, 8192);
    const std::int64_t begin = 100000 * comm.rank() / 3;
    const std::int64_t end = 100000 * (comm.rank() + 1) / 3;
    EXPECT_TRUE(
        same(tilefold::reduce(tilefold::ranks(comm, own_stream), x.data() + begin, x.data() + end),
             expected));
  });
}

}  // namespace
