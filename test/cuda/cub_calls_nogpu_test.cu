// SPDX-License-Identifier: Apache-2.0
//
// Calls of cub_compat that a program written for CUB makes, on a runtime that only claims to have a
// GPU: which calls there are, and what they write for segments without items.
// (cub_program_test.cu sees the results on a GPU.)
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cuda/std/limits>
#include <cuda/std/utility>
#if __has_include(<cuda/std/execution>)  // CCCL 3.1 on
#include <cuda/std/execution>
#include <cuda/stream>
#else
#include <cuda/stream_ref>
#endif

#include <gtest/gtest.h>

#include <tilefold/cub_compat.cuh>

#include "support/fake_runtime.cuh"

namespace tilefold::test {

/// What only cuda::std::numeric_limits knows.
struct cents {
  int value;
  friend TILEFOLD_HD bool operator<(const cents& a, const cents& b) { return a.value < b.value; }
};

/// What no numeric_limits know, and no identity is known of.
struct vector2 {
  float x, y;
  friend TILEFOLD_HD bool operator<(const vector2& a, const vector2& b) { return a.x < b.x; }
  friend TILEFOLD_HD vector2 operator+(const vector2& a, const vector2& b) {
    return {a.x + b.x, a.y + b.y};
  }
};

}  // namespace tilefold::test

template <>
class cuda::std::numeric_limits<tilefold::test::cents> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr tilefold::test::cents max() { return {1000}; }
  static constexpr tilefold::test::cents lowest() { return {-1000}; }
};

namespace tilefold::test {
namespace {

using cub_compat::DeviceReduce;
using cub_compat::DeviceSegmentedReduce;

template <class T>
struct pair_of {
  int key;
  T value;
};

template <class T>
auto bits(const T& value) {
  if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(std::uint8_t, value);
  } else {
    return __builtin_bit_cast(std::uint16_t, value);
  }
}

// The values of segments without items: Min and ArgMin; Max and ArgMax.
template <class T, class Check>
void expect_of_nothing(const Check& check) {
  namespace compat = cub_compat::detail;
  using pairs = pair_of<T>*;
  const auto arg_min = compat::place_in_segment<const T*, pairs, reducers::arg_min<>>(false).value;
  const auto arg_max = compat::place_in_segment<const T*, pairs, reducers::arg_max<>>(true).value;
  EXPECT_EQ(arg_min.key, 1);
  EXPECT_EQ(arg_max.key, 1);
  check(arg_min.value, arg_max.value);
  check(compat::min_of<const T*>().value, compat::max_of<const T*>().value);
}

template <class T>
void expect_bits(unsigned greatest, unsigned lowest) {
  expect_of_nothing<T>([&](const T& of_min, const T& of_max) {
    EXPECT_EQ(bits(of_min), greatest);
    EXPECT_EQ(bits(of_max), lowest);
  });
}

TEST(CudaCubSegments, WithoutItemsHaveTheExtremesOfNarrowFloats) {
  expect_bits<__half>(0x7bff, 0xfbff);  // 65504
  expect_bits<half>(0x7bff, 0xfbff);
  expect_bits<__nv_bfloat16>(0x7f7f, 0xff7f);  // 3.39e38
  expect_bits<bfloat16>(0x7f7f, 0xff7f);
  expect_bits<__nv_fp8_e4m3>(0x7e, 0xfe);  // 448
  expect_bits<__nv_fp8_e5m2>(0x7b, 0xfb);  // 57344
  EXPECT_EQ(bits(cuda::std::numeric_limits<__half>::max()), 0x7bff);
  EXPECT_EQ(bits(cuda::std::numeric_limits<__nv_bfloat16>::lowest()), 0xff7f);
}

TEST(CudaCubSegments, WithoutItemsHaveTheExtremesOfOtherTypes) {
  const auto is = [](auto greatest, auto lowest) {
    using T = decltype(greatest);
    expect_of_nothing<T>([&](const T& of_min, const T& of_max) {
      EXPECT_TRUE(of_min == greatest);
      EXPECT_TRUE(of_max == lowest);
    });
  };
  is(std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest());
  is(std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest());
  is(std::uint8_t{255}, std::uint8_t{0});
  const auto most = static_cast<__int128>(~static_cast<unsigned __int128>(0) >> 1);
  is(most, static_cast<__int128>(-most - 1));
  expect_of_nothing<cents>([](const cents& of_min, const cents& of_max) {
    EXPECT_EQ(of_min.value, 1000);
    EXPECT_EQ(of_max.value, -1000);
  });
  expect_of_nothing<vector2>([](const vector2& of_min, const vector2& of_max) {
    EXPECT_EQ(of_min.x, 0);
    EXPECT_EQ(of_max.y, 0);
  });
}

struct not_const {
  template <class T>
  TILEFOLD_HD T operator()(const T& a, const T& b) {
    return a < b ? b : a;
  }
};
struct doubled {
  TILEFOLD_HD int operator()(int a) { return 2 * a; }
};

class CudaCubCalls : public ::testing::Test {
 protected:
  CudaCubCalls() { fake::state().log.clear(); }
  ~CudaCubCalls() override { release_kept_memory(); }

  // The launches since the last question.
  static std::int64_t launches() {
    const auto count = std::ranges::count(fake::state().log, "launch");
    fake::state().log.clear();
    return count;
  }

  int* items_ = fake::items_in<int>(cudaMemoryTypeDevice, 64);
  const int* begins_ = items_;
  cudaStream_t stream_ = reinterpret_cast<cudaStream_t>(std::uintptr_t{0x300});
  std::size_t bytes_ = 1;
};

TEST_F(CudaCubCalls, InOnePhaseTakeAStream) {
  const cuda::stream_ref ref(stream_);
  EXPECT_EQ(DeviceReduce::ReduceByKey(items_, items_, items_, items_, items_, plus{}, 9),
            cudaSuccess);
  EXPECT_EQ(DeviceReduce::ReduceByKey(items_, items_, items_, items_, items_, plus{}, 9, stream_),
            cudaSuccess);
  EXPECT_EQ(DeviceReduce::ReduceByKey(items_, items_, items_, items_, items_, plus{}, 9, ref),
            cudaSuccess);
  EXPECT_EQ(launches(), 3);
  const auto segmented = [&](auto... stream) {
    using fold = DeviceSegmentedReduce;
    auto* const pairs = fake::items_in<pair_of<int>>(cudaMemoryTypeDevice, 4);
    const auto* const ends = begins_ + 1;
    EXPECT_EQ(fold::Sum(items_, items_, 3, begins_, ends, stream...), cudaSuccess);
    EXPECT_EQ(fold::Min(items_, items_, 3, begins_, ends, stream...), cudaSuccess);
    EXPECT_EQ(fold::Max(items_, items_, 3, begins_, ends, stream...), cudaSuccess);
    EXPECT_EQ(fold::ArgMin(items_, pairs, 3, begins_, ends, stream...), cudaSuccess);
    EXPECT_EQ(fold::ArgMax(items_, pairs, 3, begins_, ends, stream...), cudaSuccess);
    EXPECT_EQ(fold::Reduce(items_, items_, 3, begins_, ends, maximum{}, 5, stream...), cudaSuccess);
    EXPECT_EQ(launches(), 6);
    EXPECT_EQ(fold::Sum(items_, items_, 3, 4, stream...), cudaSuccess);
    EXPECT_EQ(fold::Min(items_, items_, 3, 4, stream...), cudaSuccess);
    EXPECT_EQ(fold::Max(items_, items_, 3, 4, stream...), cudaSuccess);
    EXPECT_EQ(fold::ArgMin(items_, pairs, 3, 4, stream...), cudaSuccess);
    EXPECT_EQ(fold::ArgMax(items_, pairs, 3, 4, stream...), cudaSuccess);
    EXPECT_EQ(fold::Reduce(items_, items_, 3, 4, maximum{}, 5, stream...), cudaSuccess);
    EXPECT_EQ(launches(), 6);
  };
  segmented();
  segmented(stream_);
  segmented(ref);
  // With storage and a stream.
  EXPECT_EQ(
      DeviceSegmentedReduce::Reduce(items_, bytes_, items_, items_, 3, 4, maximum{}, 5, stream_),
      cudaSuccess);
  EXPECT_EQ(launches(), 1);
}

#if __has_include(<cuda/std/execution>)
TEST_F(CudaCubCalls, InOnePhaseTakeAnEnvironment) {
  const cuda::std::execution::env in_stream{cuda::stream_ref(stream_)};
  const cuda::std::execution::env<> of_nothing;
  EXPECT_EQ(cub_compat::detail::stream_of(in_stream), stream_);
  EXPECT_EQ(cub_compat::detail::stream_of(of_nothing), nullptr);
  EXPECT_EQ(DeviceReduce::Sum(items_, items_, 9, in_stream), cudaSuccess);
  EXPECT_EQ(DeviceSegmentedReduce::Sum(items_, items_, 3, begins_, begins_ + 1, of_nothing),
            cudaSuccess);
  EXPECT_EQ(launches(), 2);
}
#endif

TEST_F(CudaCubCalls, OfOneSizeWritePairs) {
  using pair = cuda::std::pair<int, int>;
  auto* const pairs = fake::items_in<pair>(cudaMemoryTypeDevice, 4);
  EXPECT_EQ(DeviceSegmentedReduce::ArgMin(items_, bytes_, items_, pairs, 3, 4, stream_),
            cudaSuccess);
  EXPECT_EQ(DeviceSegmentedReduce::ArgMax(items_, pairs, 3, 4, stream_), cudaSuccess);
  EXPECT_EQ(launches(), 2);
  const auto place = cub_compat::detail::as_pair<pair, reducers::arg_min<>>::of(
      reducers::indexed_value<int>{7, 3});
  EXPECT_EQ(place.first, 3);
  EXPECT_EQ(place.second, 7);
}

TEST_F(CudaCubCalls, TakeTypesWithoutIdentity) {
  auto* const vectors = fake::items_in<vector2>(cudaMemoryTypeDevice, 64);
  EXPECT_EQ(DeviceSegmentedReduce::Sum(vectors, vectors, 3, begins_, begins_ + 1), cudaSuccess);
  EXPECT_EQ(DeviceSegmentedReduce::Min(vectors, vectors, 3, 4), cudaSuccess);
  EXPECT_EQ(DeviceSegmentedReduce::Max(items_, bytes_, vectors, vectors, 3, begins_, begins_ + 1),
            cudaSuccess);
  EXPECT_EQ(launches(), 3);
}

TEST_F(CudaCubCalls, TakeNarrowFloatsWithAnOperatorOfTheCaller) {
  auto* const halves = fake::items_in<__half>(cudaMemoryTypeDevice, 64);
  EXPECT_EQ(DeviceReduce::Reduce(halves, halves, 9, not_const{}, __half(3)), cudaSuccess);
  auto* const brains = fake::items_in<__nv_bfloat16>(cudaMemoryTypeDevice, 64);
  EXPECT_EQ(DeviceReduce::Reduce(brains, bytes_, brains, brains, 9, not_const{}, __nv_bfloat16(3)),
            cudaSuccess);
  EXPECT_EQ(launches(), 2);
}

TEST_F(CudaCubCalls, TakeFunctionsThatAreNotConst) {
  EXPECT_EQ(DeviceReduce::Reduce(items_, items_, 9, not_const{}, 3), cudaSuccess);
  EXPECT_EQ(DeviceReduce::Reduce(items_, bytes_, items_, items_, 9, not_const{}, 3.0), cudaSuccess);
  EXPECT_EQ(DeviceReduce::TransformReduce(items_, items_, 9, not_const{}, doubled{}, 3),
            cudaSuccess);
  EXPECT_EQ(DeviceReduce::ReduceByKey(items_, items_, items_, items_, items_, not_const{}, 9),
            cudaSuccess);
  EXPECT_EQ(DeviceSegmentedReduce::Reduce(items_, items_, 3, begins_, begins_ + 1, not_const{}, 5),
            cudaSuccess);
  EXPECT_EQ(DeviceSegmentedReduce::Reduce(items_, items_, 3, 4, not_const{}, 5), cudaSuccess);
  EXPECT_EQ(launches(), 6);
}

}  // namespace
}  // namespace tilefold::test
