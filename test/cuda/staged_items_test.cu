// SPDX-License-Identifier: Apache-2.0
//
// Staged tiles of halves, integers, structs and computed items, of NaNs, infinities and zeros: the
// host's bits.
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>
#include <thrust/iterator/transform_iterator.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>

#include "staged.cuh"

namespace tilefold::test {

// Not unnamed: nvcc would say that nobody refers to what only a concept asks for.
namespace staged {

using three_floats = words<float, 3>;

struct centre {
  double weight;
  double x;
  double y;
  double last_x;  // so that order shows
};

// A reducer of a user's: of points with weights.
struct weighted_centre {
  using reducer_concept = reducer_tag;
  static constexpr bool separately_rounded = true;

  TILEFOLD_HD centre lift(const three_floats& p) const {
    return {p.word[0], detail::rounded_product(p.word[0], p.word[1]),
            detail::rounded_product(p.word[0], p.word[2]), p.word[1]};
  }
  TILEFOLD_HD centre combine(const centre& a, const centre& b) const {
    return {detail::rounded_sum(a.weight, b.weight), detail::rounded_sum(a.x, b.x),
            detail::rounded_sum(a.y, b.y), b.last_x};
  }
  TILEFOLD_HD centre project(const centre& c) const { return c; }
};

struct half_of {
  TILEFOLD_HD float operator()(float x) const { return x * 0.5f; }
};

}  // namespace staged

namespace {

using namespace staged;

// Items of two bytes, which may begin inside a word.
TEST(CudaStagedTiles, HalvesAndIntegers) {
  expect_host_bits<half>("fuse", r::fuse(r::mean{}, r::variance{}, r::max{}));
  expect_host_bits<std::int32_t>("fuse", r::fuse(r::variance{}, r::max{}));
}

// NaNs, infinities, zeros of both signs, subnormals: what packets look out for.
TEST(CudaStagedTiles, EveryPattern) {
  cuda_executor exec;
  const auto of = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::softmax_pair{});
  const std::int64_t n = long_sizes().front() + 34;
  for (const pattern p : reducer_patterns<float>()) {
    const auto x = make_items<float>(p, n, 10);
    const gpu_array<float> device(x);
    ASSERT_EQ(bits_of(tilefold::reduce(exec, device.begin(), device.end(), of)),
              bits_of(tilefold::reduce(x, of)))
        << name_of(p);
  }
}

// Items whose runs are no power of two of words.
TEST(CudaStagedTiles, StructsOfThreeWords) {
  cuda_executor exec;
  for (const std::int64_t n : long_sizes()) {
    const auto x = make_items<three_floats>(pattern::near_one, n, 8);
    const auto expected = tilefold::reduce(x, weighted_centre{});
    const gpu_array<three_floats> device(x);
    const auto got = tilefold::reduce(exec, device.begin(), device.end(), weighted_centre{});
    ASSERT_EQ(0, std::memcmp(&got, &expected, sizeof(got))) << n;
  }
}

// Items that an iterator computes, one by one.
TEST(CudaStagedTiles, ComputedItems) {
  cuda_executor exec;
  const auto of = r::fuse(r::mean{}, r::variance{}, r::min{});
  for (const std::int64_t n : long_sizes()) {
    const auto x = make_items<float>(pattern::near_one, n, 9);
    const gpu_array<float> device(x);
    const auto on_host =
        thrust::make_transform_iterator(static_cast<const float*>(x.data()), half_of{});
    const auto on_device =
        thrust::make_transform_iterator(static_cast<const float*>(device.data()), half_of{});
    ASSERT_EQ(bits_of(tilefold::reduce(exec, on_device, on_device + n, of)),
              bits_of(tilefold::reduce(host_executor{}, on_host, on_host + n, of)))
        << n;
  }
}

}  // namespace
}  // namespace tilefold::test
