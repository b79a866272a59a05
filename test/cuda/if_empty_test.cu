// SPDX-License-Identifier: Apache-2.0
//
// Results for nothing on a GPU, and fused results in device code: as on the host.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/batched_reduce.hpp>
#include <tilefold/block_fold.cuh>
#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "reducers/cases.hpp"
#include "support/device.cuh"
#include "support/seed.hpp"

namespace tilefold::test {

constexpr r::indexed_value<float> nowhere{-7, -1};

template <class Result, class R>
__global__ void by_warp(const float* items, int count, R reducer, Result* out) {
  const Result result = warp_fold(items[threadIdx.x], count, reducer);
  if (threadIdx.x == 0) *out = result;
}

template <class R>
__global__ void by_block(const float* items, int count, R reducer, double* out) {
  __shared__ block_storage<64, accumulated_t<float, R>> storage;
  const double result = block_fold(storage, items[threadIdx.x], count, reducer);
  if (threadIdx.x == 0) *out = result;
}

struct sum_of_all {
  template <class N, class Mean, class Place>
  __device__ double operator()(const N& n, const Mean& mean, const Place& place) const {
    return static_cast<double>(n) + mean + place.value;
  }
};

/// get<I>(), structured bindings and apply() of one result each, in this order.
template <class Fused>
__global__ void take_apart(const Fused* fused, double* out) {
  out[0] = static_cast<double>(get<0>(*fused)) + get<1>(*fused) + get<2>(*fused).value;
  const auto [n, mean, place] = *fused;
  out[1] = static_cast<double>(n) + mean + place.value;
  out[2] = apply(sum_of_all{}, *fused);
  auto copy = *fused;
  get<1>(copy) = 100;
  out[3] = get<1>(copy);
}

namespace {

TEST(CudaIfEmpty, IsTheResultOfAnEmptyRange) {
  cuda_executor exec;
  const gpu_array<float> items(std::vector<float>{3, 1, 2});
  const auto reducer = if_empty(r::arg_min{}, nowhere);
  EXPECT_EQ(reduce(exec, items.begin(), items.begin(), reducer).index, -1);
  EXPECT_EQ(reduce(exec, items.begin(), items.end(), reducer).index, 1);
  gpu_array<double> out(2);
  reduce_into(exec, items.begin(), items.begin(), out.data(), if_empty(r::mean{}, 5));
  reduce_into(exec, items.begin(), items.end(), out.data() + 1, if_empty(r::mean{}, 5));
  EXPECT_EQ(out.to_host(), (std::vector<double>{5, 2}));
}

// Few and many segments, short and long ones, which take kernels of their own.
TEST(CudaIfEmpty, IsTheResultOfEmptySegmentsOnly) {
  cuda_executor exec;
  bit_stream random(seed());
  for (const std::int64_t num : {1, 7, 5000}) {
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t s = 0; s < num; ++s) {
      const std::int64_t length = random.one_in(2) ? 0 : random.below(s == 3 ? 100000 : 40);
      offsets.push_back(offsets.back() + length);
    }
    const auto x = make_items<float>(pattern::mixed, offsets.back() + 1, seed());
    const gpu_array<float> items(x);
    const gpu_array<std::int64_t> device_offsets(offsets);
    const auto compare = [&](const auto& reducer, auto zero) {
      using result = decltype(zero);
      std::vector<result> expected(static_cast<std::size_t>(num));
      segmented_reduce(host_executor(), x.begin(), offsets.begin(), num, expected.begin(), reducer);
      gpu_array<result> out(num);
      segmented_reduce(exec, items.data(), device_offsets.data(), num, out.data(), reducer);
      const auto got = out.to_host();
      for (std::size_t s = 0; s < got.size(); ++s) {
        ASSERT_EQ(bits_of(got[s]), bits_of(expected[s])) << "segment " << s << " of " << num;
        if (offsets[s] == offsets[s + 1]) {
          ASSERT_EQ(bits_of(got[s]), bits_of(reduce(std::vector<float>{}, reducer))) << s;
        }
      }
    };
    compare(if_empty(r::arg_max{}, nowhere), r::indexed_value<float>{});
    compare(if_empty(r::mean{}, -3), 0.0);
    compare(if_empty(plus{}, 77), 0.0f);
    compare(r::sum{}, 0.0f);
    if (HasFatalFailure()) return;
  }
}

TEST(CudaIfEmpty, IsTheResultOfEmptyArraysAndOfSegmentsOfNoLength) {
  cuda_executor exec;
  const gpu_array<float> items(std::vector<float>{3, 1, 2});
  const gpu_array<const float*> arrays(std::vector<const float*>{items.data(), nullptr});
  const gpu_array<int> lengths(std::vector<int>{3, 0});
  gpu_array<double> out(2);
  batched_reduce(exec, arrays.data(), lengths.data(), 2, out.data(), if_empty(r::mean{}, 9));
  EXPECT_EQ(out.to_host(), (std::vector<double>{2, 9}));
  segmented_reduce(exec, items.data(), 2, 0, out.data(), if_empty(r::mean{}, 4));
  EXPECT_EQ(out.to_host(), (std::vector<double>{4, 4}));
}

TEST(CudaIfEmpty, IsTheResultOfNoItemsInAKernel) {
  const gpu_array<float> items(std::vector<float>(64, 2.5f));
  const gpu_array<r::indexed_value<float>> place(1);
  const gpu_array<double> mean(1);
  for (const int count : {0, 1, 20}) {
    by_warp<<<1, 32>>>(items.data(), count, if_empty(r::arg_min{}, nowhere), place.data());
    by_block<<<1, 64>>>(items.data(), count, if_empty(r::mean{}, -4), mean.data());
    EXPECT_EQ(place.to_host()[0].index, count == 0 ? -1 : 0) << count;
    EXPECT_EQ(mean.to_host()[0], count == 0 ? -4.0 : 2.5) << count;
  }
}

TEST(CudaFusedResults, AreTakenApartOnTheDevice) {
  cuda_executor exec;
  const auto reducer = r::fuse(r::count{}, if_empty(r::mean{}, 6), if_empty(r::arg_min{}, nowhere));
  using result = decltype(reduce(std::vector<float>{1}, reducer));
  const gpu_array<float> items(std::vector<float>{3, 1, 2});
  gpu_array<result> fused(1);
  const gpu_array<double> out(4);
  reduce_into(exec, items.begin(), items.end(), fused.data(), reducer);
  exec.synchronize();
  take_apart<<<1, 1>>>(fused.data(), out.data());
  EXPECT_EQ(out.to_host(), (std::vector<double>{6, 6, 6, 100}));
  reduce_into(exec, items.begin(), items.begin(), fused.data(), reducer);
  exec.synchronize();
  take_apart<<<1, 1>>>(fused.data(), out.data());
  EXPECT_EQ(out.to_host(), (std::vector<double>{-1, -1, -1, 100}));
}

}  // namespace
}  // namespace tilefold::test
