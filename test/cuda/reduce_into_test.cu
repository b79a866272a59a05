// SPDX-License-Identifier: Apache-2.0
//
// Call forms on the GPU: with and without initial value and operator, empty ranges, outputs of
// every kind, and input that is read and never written.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include <cuda_fp16.h>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/conformance.hpp"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

struct times_itself {
  TILEFOLD_HD int operator()(int x) const { return x * x; }
};

class CudaCalls : public ::testing::Test {
 protected:
  template <class T>
  T written(const gpu_array<T>& out) {
    executor_.synchronize();
    return out.to_host()[0];
  }

  cuda_executor executor_;
  gpu_array<int> small_{std::vector<int>{3, 1, 2}};
  std::vector<float> items_ = make_items<float>(pattern::mixed, 300007);
  gpu_array<float> array_{items_};
};

TEST_F(CudaCalls, ReturnTheValue) {
  const int* first = small_.begin();
  const int* last = small_.end();
  EXPECT_EQ(reduce(executor_, first, last), 6);
  EXPECT_EQ(reduce(executor_, first, last, maximum{}), 3);
  EXPECT_EQ(reduce(executor_, first, last, 10), 16);
  EXPECT_EQ(reduce(executor_, first, last, 10, std::multiplies<>{}), 60);
  EXPECT_EQ(reduce(executor_, small_), 6);
  EXPECT_EQ(reduce(executor_, small_, minimum{}), 1);
  EXPECT_EQ(reduce<double>(executor_, small_, 0.5), 6.5);
  EXPECT_EQ(tilefold::reduce(first, last), 6);
  EXPECT_EQ(tilefold::reduce(small_, 10, maximum{}), 10);
}

TEST_F(CudaCalls, WriteTheValue) {
  gpu_array<int> out(1);
  reduce_into(executor_, small_.begin(), small_.end(), out.data());
  EXPECT_EQ(written(out), 6);
  reduce_into(executor_, small_.begin(), small_.end(), out.data(), minimum{});
  EXPECT_EQ(written(out), 1);
  reduce_into(executor_, small_.begin(), small_.end(), out.data(), 10);
  EXPECT_EQ(written(out), 16);
  reduce_into(executor_, small_.begin(), small_.end(), out.data(), 10, maximum{});
  EXPECT_EQ(written(out), 10);
}

TEST_F(CudaCalls, TakeRangesToo) {
  gpu_array<int> out(1);
  reduce_into(executor_, small_, out.data());
  EXPECT_EQ(written(out), 6);
  reduce_into(executor_, small_, out.data(), minimum{});
  EXPECT_EQ(written(out), 1);
  reduce_into(executor_, small_, out.data(), 10);
  EXPECT_EQ(written(out), 16);
  reduce_into(with_policy<tile_policy{32, 1}>(executor_), small_, out.data(), 10, maximum{});
  EXPECT_EQ(written(out), 10);
  EXPECT_EQ(transform_reduce(executor_, small_, 100, plus{}, times_itself{}), 114);
  EXPECT_EQ(tilefold::transform_reduce(small_, 100, plus{}, times_itself{}), 114);
  transform_reduce_into(executor_, small_, out.data(), 100, plus{}, times_itself{});
  EXPECT_EQ(written(out), 114);
  transform_reduce_into(executor_, small_.begin(), small_.end(), small_.begin(), out.data(), 100);
  EXPECT_EQ(written(out), 114);
}

TEST_F(CudaCalls, InitialValueStandsLeftOfTheTree) {
  const float folded = reference::fold<float>(reference::plus{}, items_);
  for (const float init : {1.0e6f, -0.0f, 3.0e-30f, -INFINITY}) {
    EXPECT_TRUE(same_bits(reduce(executor_, array_, init), init + folded)) << init;
    // One item, a few, and a whole tile.
    for (const std::int64_t n : {1, 5, 4096}) {
      const std::vector<float> some(items_.begin(), items_.begin() + n);
      const float expected = init + reference::fold<float>(reference::plus{}, some);
      EXPECT_TRUE(same_bits(reduce(executor_, array_.begin(), array_.begin() + n, init), expected));
    }
  }
}

TEST_F(CudaCalls, WriteToEveryKindOfMemory) {
  const float expected = reference::fold<float>(reference::plus{}, items_);
  gpu_array<float, memory::pinned> pinned(2);
  gpu_array<float, memory::managed> managed(2);
  gpu_array<double> wide(1);
  gpu_array<half> narrow(1);
  pinned.data()[1] = managed.data()[1] = 7.0f;
  reduce_into(executor_, array_.begin(), array_.end(), pinned.data());
  reduce_into(executor_, array_.begin(), array_.end(), managed.data());
  reduce_into(executor_, array_.begin(), array_.end(), wide.data());
  reduce_into(executor_, array_.begin(), array_.begin() + 9, narrow.data());
  executor_.synchronize();
  EXPECT_TRUE(same_bits(pinned.data()[0], expected));
  EXPECT_TRUE(same_bits(managed.data()[0], expected));
  EXPECT_EQ(pinned.data()[1], 7.0f);
  EXPECT_EQ(managed.data()[1], 7.0f);
  EXPECT_EQ(wide.to_host()[0], static_cast<double>(expected));
  const std::vector<float> nine(items_.begin(), items_.begin() + 9);
  EXPECT_EQ(narrow.to_host()[0].bits, half(reference::fold<float>(reference::plus{}, nine)).bits);
}

// The GPU makes NaNs of its own in every conversion; what is written is the output type's one NaN.
TEST_F(CudaCalls, WriteOneNaNInTheTypeOfTheOutput) {
  const double odd = std::bit_cast<double>(0xfff8000012345678ull);
  for (const auto& x :
       {std::vector<double>{odd}, std::vector<double>{1.0, odd, 2.0},
        std::vector<double>{INFINITY, -INFINITY}, std::vector<double>{1e308, 1e308, -INFINITY}}) {
    gpu_array<double> array(x);
    gpu_array<double> wide(2);
    gpu_array<float> narrow(2);
    gpu_array<half> narrower(2);
    gpu_array<__half> cuda_half(2);
    gpu_array<bfloat16> brain(2);
    reduce_into(executor_, array, wide.data());
    reduce_into(executor_, array, narrow.data());
    reduce_into(executor_, array, narrower.data());
    reduce_into(executor_, array, cuda_half.data());
    reduce_into(executor_, array, brain.data());
    // The value of an empty range takes another way to its output.
    reduce_into(executor_, array.begin(), array.begin(), wide.data() + 1, odd);
    reduce_into(executor_, array.begin(), array.begin(), narrow.data() + 1, odd);
    reduce_into(executor_, array.begin(), array.begin(), narrower.data() + 1, odd);
    reduce_into(executor_, array.begin(), array.begin(), cuda_half.data() + 1, odd);
    reduce_into(executor_, array.begin(), array.begin(), brain.data() + 1, odd);
    executor_.synchronize();
    for (const std::size_t i : {0u, 1u}) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(wide.to_host()[i]), 0x7ff8000000000000ull);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow.to_host()[i]), 0x7fc00000u);
      EXPECT_EQ(narrower.to_host()[i].bits, 0x7e00);
      EXPECT_EQ(std::bit_cast<std::uint16_t>(cuda_half.to_host()[i]), 0x7e00);
      EXPECT_EQ(brain.to_host()[i].bits, 0x7fc0);
    }
  }
}

TEST_F(CudaCalls, OverflowToInfinityInTheTypeOfTheOutput) {
  gpu_array<float> narrow(1);
  gpu_array<half> narrower(1);
  for (const double sign : {1.0, -1.0}) {
    gpu_array<double> huge(std::vector<double>{sign * 1e300, sign * 1e300});
    reduce_into(executor_, huge, narrow.data());
    EXPECT_TRUE(same_bits(written(narrow), static_cast<float>(sign) * INFINITY));
    gpu_array<double> halfway(std::vector<double>{sign * 65504.0, sign * 16.0});
    reduce_into(executor_, halfway, narrower.data());
    EXPECT_EQ(written(narrower).bits, sign > 0 ? 0x7c00 : 0xfc00);
    gpu_array<double> below(std::vector<double>{sign * 65504.0, sign * 15.5});
    reduce_into(executor_, below, narrower.data());
    EXPECT_EQ(written(narrower).bits, sign > 0 ? 0x7bff : 0xfbff);
  }
}

TEST_F(CudaCalls, OnEmptyRanges) {
  const float* none = array_.begin();
  EXPECT_TRUE(same_bits(reduce(executor_, none, none), -0.0f));
  EXPECT_EQ(reduce(executor_, none, none, 2.5f), 2.5f);
  EXPECT_EQ(reduce(executor_, none, none, minimum{}), INFINITY);
  gpu_array<float> out(1);
  reduce_into(executor_, none, none, out.data());
  EXPECT_TRUE(same_bits(written(out), -0.0f));
  reduce_into(executor_, none, none, out.data(), 2.5f, multiplies{});
  EXPECT_EQ(written(out), 2.5f);
  reduce_into(executor_, none, none, out.data(), maximum{});
  EXPECT_EQ(written(out), -INFINITY);
  const float odd = std::bit_cast<float>(0xffc12345u);
  reduce_into(executor_, none, none, out.data(), odd);
  EXPECT_TRUE(same_bits(written(out), std::numeric_limits<float>::quiet_NaN()));
}

TEST_F(CudaCalls, TransformAndFold) {
  const auto a = make_items<float>(pattern::mixed, 70001, 5);
  const auto b = make_items<float>(pattern::mixed, 70001, 6);
  gpu_array<float> device_a(a);
  gpu_array<float> device_b(70002);
  std::vector<float> products;
  for (std::size_t i = 0; i < a.size(); ++i) products.push_back(reference::rounded(a[i] * b[i]));
  const float expected = -0.0f + reference::fold<float>(reference::plus{}, products);
  for (const int shift : {0, 1}) {
    device_b.assign(b.data(), 70001, shift);
    EXPECT_TRUE(same_bits(transform_reduce(executor_, device_a.begin(), device_a.end(),
                                           device_b.begin() + shift, -0.0f),
                          expected))
        << "shift = " << shift;
  }
  device_b.assign(b.data(), 70001);
  EXPECT_TRUE(same_bits(
      tilefold::transform_reduce(device_a.begin(), device_a.end(), device_b.begin(), -0.0f),
      expected));
}

struct squared {
  TILEFOLD_HD float operator()(float x) const { return x * x; }
};

struct added {
  TILEFOLD_HD float operator()(float x, float y) const { return x + y; }
};

TEST_F(CudaCalls, TransformAndFoldInto) {
  const auto a = make_items<float>(pattern::mixed, 70001, 7);
  gpu_array<float> device_a(a);
  gpu_array<float> out(2);
  const squared square;
  transform_reduce_into(executor_, device_a.begin(), device_a.end(), out.data(), 3.0f, plus{},
                        square);
  transform_reduce_into(executor_, device_a.begin(), device_a.end(), device_a.begin(),
                        out.data() + 1, 3.0f, plus{}, multiplies{});
  executor_.synchronize();
  const host_executor host;
  const float expected = transform_reduce(host, a.begin(), a.end(), 3.0f, plus{}, square);
  EXPECT_TRUE(same_bits(out.to_host()[0], expected));
  EXPECT_TRUE(same_bits(out.to_host()[1], expected)) << "a dot product with itself";
}

// The product at the end of the transform and the user's own sum meet in one thread or not, as the
// tile shape has it; the compiler must not make one rounding of the two where they do.
TEST_F(CudaCalls, DoNotFuseTheTransformWithTheSum) {
  const added add;
  const squared square;
  const auto items = make_items<float>(pattern::mixed, 30011, 8);
  gpu_array<float> array(items);
  const float expected =
      transform_reduce(host_executor(), items.begin(), items.end(), 0.0f, add, square);
  const auto agrees = [&](auto&& exec) {
    return same_bits(transform_reduce(exec, array.begin(), array.end(), 0.0f, add, square),
                     expected);
  };
  EXPECT_TRUE(agrees(executor_));
  EXPECT_TRUE(agrees(with_policy<tile_policy{32, 1}>(executor_)));
  EXPECT_TRUE(agrees(with_policy<tile_policy{128, 8}>(executor_)));
}

TEST_F(CudaCalls, NeverWriteTheInput) {
  // The range lies in the middle of memory that holds other things.
  std::vector<float> all = make_items<float>(pattern::any_bits, 100003);
  gpu_array<float> guarded(all);
  for (const int start : {0, 1, 2, 3, 1001}) {
    const float* first = guarded.data() + start;
    const float* last = guarded.data() + 99001;
    (void)reduce(executor_, first, last);
    (void)reduce(executor_, first, last, minimum{});
    (void)reduce(with_policy<tile_policy{32, 1}>(executor_), first, last, maximum{});
    (void)transform_reduce(executor_, first, last, first, 0.0f);
  }
  const auto after = guarded.to_host();
  EXPECT_EQ(std::memcmp(after.data(), all.data(), all.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace tilefold::test
