// SPDX-License-Identifier: Apache-2.0
//
// The verbs made of reducers on a GPU: with and without an executor, and through an output.
#include <gtest/gtest.h>

#include <tilefold/count.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/extrema.hpp>
#include <tilefold/inner_product.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/statistics.hpp>

#include "support/device.cuh"
#include "support/items.hpp"

namespace tilefold::test {
namespace {

struct above {
  float limit;
  TILEFOLD_HD bool operator()(float x) const { return x > limit; }
};

class CudaVerbs : public ::testing::Test {
 protected:
  std::vector<float> x = make_items<float>(pattern::mixed, 70001, 9);
  gpu_array<float> device{x};
  const float* first = device.begin();
  const float* last = device.end();
  cuda_executor exec;

  /// The value that `call(out)` writes in stream order.
  template <class T, class Call>
  T written(Call call) {
    const gpu_array<T> out(1);
    call(out.data());
    exec.synchronize();
    return out.to_host()[0];
  }
};

TEST_F(CudaVerbs, AskQuestions) {
  const auto positive = tilefold::count_if(x, above{0});
  EXPECT_EQ(tilefold::count_if(exec, first, last, above{0}), positive);
  EXPECT_EQ(tilefold::count_if(first, last, above{0}), positive);
  EXPECT_EQ(written<std::int64_t>([&](std::int64_t* out) {
              tilefold::count_if_into(exec, first, last, out, above{0});
            }),
            positive);
  EXPECT_EQ(tilefold::count(exec, first, last, x[7]), tilefold::count(x, x[7]));
  EXPECT_EQ(tilefold::count(first, last, x[7]), tilefold::count(x, x[7]));
  EXPECT_TRUE(tilefold::any_of(exec, first, last, above{0}));
  EXPECT_FALSE(tilefold::all_of(exec, first, last, above{0}));
  EXPECT_FALSE(tilefold::none_of(first, last, above{0}));
  EXPECT_TRUE(
      written<int>([&](int* out) { tilefold::any_of_into(exec, first, last, out, above{0}); }));
}

TEST_F(CudaVerbs, FindPlaces) {
  EXPECT_EQ(tilefold::min_element(exec, first, last) - first, tilefold::min_element(x) - x.begin());
  EXPECT_EQ(tilefold::max_element(first, last) - first, tilefold::max_element(x) - x.begin());
  const auto [low, high] = tilefold::minmax_element(exec, first, last);
  EXPECT_EQ(low, tilefold::min_element(first, last));
  EXPECT_EQ(high, tilefold::max_element(exec, first, last));
  EXPECT_EQ(tilefold::min_element(exec, first, first), first);
}

TEST_F(CudaVerbs, GiveValues) {
  EXPECT_EQ(tilefold::min_value(exec, first, last), tilefold::min_value(x));
  EXPECT_EQ(tilefold::max_value(first, last), tilefold::max_value(x));
  EXPECT_EQ(tilefold::minmax_value(exec, first, last).max, tilefold::max_value(x));
  EXPECT_EQ(tilefold::mean(exec, first, last), tilefold::mean(x));
  EXPECT_EQ(tilefold::mean(first, last), tilefold::mean(x));
  EXPECT_EQ(tilefold::variance(exec, first, last, divisor::population),
            tilefold::variance(x, divisor::population));
  EXPECT_EQ(tilefold::norm(exec, first, last), tilefold::norm(x));
  EXPECT_EQ(tilefold::norm(first, last, reducers::linf{}), tilefold::norm(x, reducers::linf{}));
  EXPECT_EQ(tilefold::logsumexp(exec, first, last), tilefold::logsumexp(x));
  EXPECT_EQ(written<double>([&](double* out) { tilefold::mean_into(exec, first, last, out); }),
            tilefold::mean(x));
  EXPECT_EQ(tilefold::inner_product(exec, first, last, first, 0.5f),
            tilefold::inner_product(x.begin(), x.end(), x.begin(), 0.5f));
  EXPECT_EQ(tilefold::inner_product(first, last, first, 0.5f),
            tilefold::inner_product(x.begin(), x.end(), x.begin(), 0.5f));
  EXPECT_EQ(written<float>([&](float* out) {
              tilefold::inner_product_into(exec, first, last, first, out, 0.5f);
            }),
            tilefold::inner_product(x.begin(), x.end(), x.begin(), 0.5f));
}

}  // namespace
}  // namespace tilefold::test
