// SPDX-License-Identifier: Apache-2.0
//
// Public reducers in warp_fold and block_fold: the bits of reduce() over the same items, and no
// element lifted that does not exist.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "reducers/cases.hpp"
#include "support/device.cuh"

namespace tilefold::test {

template <class Result, class R>
__global__ void by_warp(const float* items, int count, R reducer, Result* out) {
  const float mine = items[threadIdx.x];
  out[threadIdx.x] = warp_fold(mine, count, reducer);
}

template <class Result, class R>
__global__ void by_full_warp(const float* items, R reducer, Result* out) {
  const float mine[2] = {items[2 * threadIdx.x], items[2 * threadIdx.x + 1]};
  out[threadIdx.x] = warp_fold(mine, reducer);
}

template <int Nt, class Result, class R>
__global__ void by_block(const float* items, int count, R reducer, Result* out) {
  __shared__ block_storage<Nt, accumulated_t<float, R>> storage;
  float mine[4];
  for (int j = 0; j < 4; ++j) mine[j] = items[4 * threadIdx.x + j];
  const Result result = block_fold(storage, mine, count, reducer);
  if (threadIdx.x < 32) out[threadIdx.x] = result;
}

template <int Nt, class Result, class R>
__global__ void by_block_each(const float* items, R reducer, Result* out) {
  __shared__ block_storage<Nt, accumulated_t<float, R>, 2> storage;
  const float mine[2] = {items[threadIdx.x], items[Nt + threadIdx.x]};
  const Result result = block_fold_each(storage, mine, reducer);
  if (threadIdx.x < 2) out[threadIdx.x] = result;
}

/// A vector of bool would have no memory to copy to.
template <class Result>
struct held {
  Result value;
};

/// NaN where nothing may be lifted.
inline std::vector<float> guarded(std::vector<float> x, int count) {
  for (std::size_t i = static_cast<std::size_t>(count); i < x.size(); ++i) x[i] = NAN;
  return x;
}

template <class R>
void expect_bits_of_reduce(const char* name, const R& reducer) {
  using result = decltype(tilefold::reduce(std::vector<float>{1}, reducer));
  const auto reduced = [&](const std::vector<float>& x, int first, int n) {
    return bits_of(tilefold::reduce(x.data() + first, x.data() + first + n, reducer));
  };
  const auto x = make_items<float>(pattern::near_one, 1000);
  gpu_array<float> items(x);
  const gpu_array<held<result>> results(32);
  auto* const out = reinterpret_cast<result*>(results.data());
  const auto expect = [&](const std::string& expected, int threads, int count) {
    must(cudaDeviceSynchronize());
    const auto got = results.to_host();
    for (int t = 0; t < threads; ++t) {
      ASSERT_EQ(bits_of(got[static_cast<std::size_t>(t)].value), expected)
          << name << ", thread " << t << ", count = " << count;
    }
  };
  for (const int count : {1, 2, 17, 31, 32}) {
    items.assign(guarded(x, count).data(), items.size());
    by_warp<<<1, 32>>>(items.data(), count, reducer, out);
    expect(reduced(x, 0, count), 32, count);
  }
  for (const int count : {1, 5, 127, 128, 395, 400}) {
    items.assign(guarded(x, count).data(), items.size());
    by_block<100><<<1, 100>>>(items.data(), count, reducer, out);
    expect(reduced(x, 0, count), 32, count);
  }
  items.assign(x.data(), items.size());
  by_full_warp<<<1, 32>>>(items.data(), reducer, out);
  expect(reduced(x, 0, 64), 32, 64);
  by_block_each<96><<<1, 96>>>(items.data(), reducer, out);
  must(cudaDeviceSynchronize());
  const auto got = results.to_host();
  EXPECT_EQ(bits_of(got[0].value), reduced(x, 0, 96)) << name;
  EXPECT_EQ(bits_of(got[1].value), reduced(x, 96, 96)) << name;
}

namespace {

TEST(KernelReducers, HaveTheBitsOfReduce) {
  expect_bits_of_reduce("mean_variance", r::mean_variance{});
  expect_bits_of_reduce("fuse", r::fuse(r::count{}, r::mean{}, r::arg_min{}, r::max{}));
  expect_bits_of_reduce("logsumexp", r::logsumexp{});
  expect_bits_of_reduce("top_k", r::top_k<3>{});
  expect_bits_of_reduce("any", r::any{positive{}});
  expect_bits_of_reduce("sum", r::sum{});
  expect_bits_of_reduce("last", r::last{});
  expect_bits_of_reduce("custom", r::make_reducer(lift_sign{}, join_runs{}, count_changes{}));
}

}  // namespace
}  // namespace tilefold::test
