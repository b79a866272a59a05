// SPDX-License-Identifier: Apache-2.0
//
// Reducers whose accumulators are large for their items, over ranges long enough for staged tiles:
// the host's bits at the ends of tiles, rows and runs, at every alignment, and at the lengths where
// another kernel's ranges end.
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <thrust/iterator/transform_iterator.h>

#include <tilefold/tilefold.cuh>

#include "reducers/cases.hpp"
#include "support/device.cuh"

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

// Tiles of 16384 floats, one for each SM at least; rows of 1024, runs of 32.
constexpr std::int64_t tile = 16384;

std::vector<std::int64_t> long_sizes() {
  int sms = 0;
  must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const std::int64_t least = sms * tile;
  return {least - 1,         least,        least + 1,    least + 31,       least + 33,
          least + 1023,      least + 1025, least + 4095, least + 3 * 4096, least + tile - 1,
          2 * least + 12345, 7 * least + 5};
}

// Around the longest short range of items of so many bytes, behind which accumulators of up to 32
// bytes are staged. On a GPU of 132 SMs there are fewer staged tiles than SMs up to long_sizes().
std::vector<std::int64_t> seam_sizes(int item_bytes) {
  namespace gpu = detail::cuda;
  const std::int64_t seam = gpu::most_short_items(gpu::short_policy_for(item_bytes), 32);
  const int staged_tile = gpu::staged_reducer_shape(item_bytes).policy().tile();
  return {seam - 1,
          seam,
          seam + 1,
          seam + 31,
          seam + staged_tile - 1,
          seam + staged_tile,
          seam + staged_tile + 1};
}

template <class T, class R>
void expect_host_bits(const char* name, const R& reducer,
                      const std::vector<std::int64_t>& sizes = long_sizes()) {
  cuda_executor exec;
  for (const std::int64_t n : sizes) {
    const auto x = make_items<T>(pattern::near_one, n, 3);
    const auto expected = bits_of(tilefold::reduce(x, reducer));
    gpu_array<T> device(n + 3);
    for (const std::int64_t shift : {0, 1, 3}) {
      device.assign(x.data(), n, shift);
      const T* first = device.data() + shift;
      ASSERT_EQ(bits_of(tilefold::reduce(exec, first, first + n, reducer)), expected)
          << name << ", n = " << n << ", shift = " << shift;
    }
  }
}

TEST(CudaStagedTiles, FusedStatistics) {
  expect_host_bits<float>("fuse",
                          r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{}));
}

TEST(CudaStagedTiles, BytesAndDoublesAndIndices) {
  expect_host_bits<std::uint8_t>("variance", r::variance{});
  expect_host_bits<double>("kurtosis", r::kurtosis{});
  expect_host_bits<float>("arg_min and mean", r::fuse(r::mean{}, r::arg_min{}));
}

TEST(CudaStagedTiles, SeamOfShortRanges) {
  expect_host_bits<float>("mean", r::mean{}, seam_sizes(4));
  expect_host_bits<float>("fuse", r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{}),
                          seam_sizes(4));
  expect_host_bits<half>("variance", r::variance{}, seam_sizes(2));
  expect_host_bits<double>("mean", r::mean{}, seam_sizes(8));
  expect_host_bits<std::uint8_t>("variance", r::variance{}, seam_sizes(1));
  // Of more than 32 bytes: the tile kernel serves these lengths.
  expect_host_bits<double>("kurtosis", r::kurtosis{}, seam_sizes(8));
}

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

TEST(CudaStagedTiles, TwoRanges) {
  const std::int64_t n = long_sizes().back();
  const auto x = make_items<float>(pattern::near_one, n, 4);
  const auto y = make_items<float>(pattern::mixed, n, 5);
  const gpu_array<float> first(x);
  const gpu_array<float> second(y);
  const auto pair = r::fuse(r::covariance{}, r::cosine{});
  EXPECT_EQ(bits_of(tilefold::transform_reduce(first.begin(), first.end(), second.begin(), pair)),
            bits_of(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), pair)));
}

// Runs of two words beside runs of sixteen.
TEST(CudaStagedTiles, TwoRangesOfDifferentWidths) {
  cuda_executor exec;
  for (const std::int64_t n : {long_sizes()[1], long_sizes()[5]}) {
    const auto x = make_items<std::uint8_t>(pattern::mixed, n + 1, 11);
    const auto y = make_items<double>(pattern::near_one, n, 12);
    const gpu_array<std::uint8_t> first(x);
    const gpu_array<double> second(y);
    const auto of = r::fuse(r::covariance{}, r::weighted_mean{});
    ASSERT_EQ(bits_of(tilefold::transform_reduce(exec, first.begin() + 1, first.end(),
                                                 second.begin(), of)),
              bits_of(tilefold::transform_reduce(x.begin() + 1, x.end(), y.begin(), of)))
        << n;
  }
}

TEST(CudaStagedTiles, NaNAndInfinities) {
  cuda_executor exec;
  const std::int64_t n = long_sizes().front() + 1;
  for (const float odd : {NAN, INFINITY}) {
    auto x = make_items<float>(pattern::near_one, n, 6);
    x[static_cast<std::size_t>(n / 3)] = odd;
    const gpu_array<float> device(x);
    const auto of = r::fuse(r::mean{}, r::variance{}, r::logsumexp{});
    EXPECT_EQ(bits_of(tilefold::reduce(exec, device.begin(), device.end(), of)),
              bits_of(tilefold::reduce(x, of)))
        << odd;
  }
}

TEST(CudaStagedTiles, SanitizeOneLongRange) {
  cuda_executor exec;
  const std::int64_t n = long_sizes().front() + 100;
  const auto x = make_items<float>(pattern::near_one, n, 7);
  const gpu_array<float> device(x);
  EXPECT_EQ(bits_of(tilefold::reduce(exec, device.begin() + 1, device.end(), r::variance{})),
            bits_of(tilefold::reduce(x.begin() + 1, x.end(), r::variance{})));
}

}  // namespace
}  // namespace tilefold::test
