// SPDX-License-Identifier: Apache-2.0
//
// Fused reducers on a GPU, functions before reducers, initial values, and the asynchronous form.
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/basic.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "cuda_reducers.cuh"

namespace tilefold::test {
namespace {

TEST(CudaFuse, StatisticsHaveTheBitsOfTheHost) {
  cuda_executor exec;
  const auto five = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});
  expect_host_bits<float>(exec, "five statistics of float", five);
  expect_host_bits<double>(exec, "five statistics of double", five);
  expect_host_bits<std::int32_t>(exec, "five statistics of int", five);
}

TEST(CudaFuse, NestsAndMixesIndexedReducers) {
  cuda_executor exec;
  expect_host_bits<float>(
      exec, "nested",
      r::fuse(r::fuse(r::arg_min{}, r::last{}), r::logsumexp{}, r::fuse(r::top_k<2>{}, r::l2{})));
}

struct square {
  TILEFOLD_HD float operator()(float x) const { return x * x; }
};

TEST(CudaFuse, FollowsAFunction) {
  cuda_executor exec;
  const auto x = make_items<float>(pattern::mixed, 50021, 3);
  const gpu_array<float> device(x);
  const auto both = r::fuse(r::sum{}, r::arg_max{}, r::variance{});
  EXPECT_EQ(bits_of(tilefold::transform_reduce(exec, device.begin(), device.end(), both, square{})),
            bits_of(tilefold::transform_reduce(x.begin(), x.end(), both, square{})));
}

TEST(CudaFuse, StartsFromAnAccumulator) {
  cuda_executor exec;
  const auto x = make_items<float>(pattern::near_one, 50021, 3);
  const gpu_array<float> device(x);
  const detail::mean_state so_far{3.0, 1e9};
  EXPECT_EQ(bits_of(tilefold::reduce(exec, device.begin(), device.end(), so_far, r::mean{})),
            bits_of(tilefold::reduce(x, so_far, r::mean{})));
}

TEST(CudaFuse, WritesItsResultInStreamOrder) {
  cuda_executor exec;
  const auto x = make_items<float>(pattern::mixed, 50021, 3);
  const gpu_array<float> device(x);
  const auto both = r::fuse(r::mean{}, r::arg_min{});
  const auto expected = tilefold::reduce(x, both);
  const gpu_array<std::remove_const_t<decltype(expected)>> out(1);
  tilefold::reduce_into(exec, device.begin(), device.end(), out.data(), both);
  exec.synchronize();
  EXPECT_EQ(bits_of(out.to_host()[0]), bits_of(expected));
}

}  // namespace
}  // namespace tilefold::test
