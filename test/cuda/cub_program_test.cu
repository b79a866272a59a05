// SPDX-License-Identifier: Apache-2.0
//
// One program for CUB and for cub_compat: only the names of the two classes differ, and results
// that no order can change are equal. (cub_extremes_test.cu has segments without items.)
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/util_type.cuh>
#include <cuda/std/utility>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <tilefold/cub_compat.cuh>
#include <tilefold/cuda.cuh>

#include "conformance/conformance.hpp"
#include "support/device.cuh"
#include "support/seed.hpp"

// CUB calls the forms with pairs deprecated, and has them.
#if defined(__NVCC__)
#pragma nv_diag_suppress 1444
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tilefold::test {
namespace {

using pair = cub::KeyValuePair<int, int>;

struct twice {
  __host__ __device__ int operator()(int x) const { return 2 * x; }
};
struct larger {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

struct results {
  std::vector<int> numbers;
  std::vector<pair> pairs;
};

template <class DeviceReduce, class DeviceSegmentedReduce>
results program(const gpu_array<int>& items, const gpu_array<int>& offsets, int segments,
                cudaStream_t stream) {
  const int n = static_cast<int>(items.size());
  results found;
  gpu_array<int> numbers(segments);
  gpu_array<std::int64_t> place(1);
  gpu_array<pair> pairs(segments);
  const auto call = [&](const auto& fold) {
    std::size_t bytes = 0;
    must(fold(static_cast<void*>(nullptr), bytes));
    gpu_array<char> storage(static_cast<std::int64_t>(bytes) + 1);
    must(fold(static_cast<void*>(storage.data()), bytes));
    must(cudaStreamSynchronize(stream));
  };
  const auto keep = [&](int count) {
    const auto all = numbers.to_host();
    found.numbers.insert(found.numbers.end(), all.begin(), all.begin() + count);
  };
  const auto keep_pairs = [&](int count) {
    const auto all = pairs.to_host();
    found.pairs.insert(found.pairs.end(), all.begin(), all.begin() + count);
  };
  const int* const in = items.data();
  int* const out = numbers.data();
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceReduce::Sum(tmp, bytes, in, out, n, stream);
  });
  keep(1);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceReduce::Min(tmp, bytes, in, out, n, stream);
  });
  keep(1);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceReduce::Reduce(tmp, bytes, in, out, n, larger{}, 17, stream);
  });
  keep(1);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceReduce::TransformReduce(tmp, bytes, in, out, n, larger{}, twice{}, 17, stream);
  });
  keep(1);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceReduce::ArgMax(tmp, bytes, in, out, place.data(), n, stream);
  });
  keep(1);
  found.numbers.push_back(static_cast<int>(place.to_host()[0]));
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceReduce::ArgMin(tmp, bytes, in, pairs.data(), n, stream);
  });
  keep_pairs(1);
  // (cub_extremes_test.cu has extremes of segments.)
  const int* const begins = offsets.data();
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceSegmentedReduce::Sum(tmp, bytes, in, out, segments, begins, begins + 1, stream);
  });
  keep(segments);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceSegmentedReduce::Reduce(tmp, bytes, in, out, segments, begins, begins + 1,
                                         larger{}, -5, stream);
  });
  keep(segments);
  return found;
}

TEST(CudaCubProgram, ChangesItsNamespaceAlone) {
  const scoped_stream stream;
  const auto items = make_items<std::int32_t>(pattern::mixed, 100003, seed());
  std::vector<int> offsets{0, 1, 1, 4, 40, 40, 9000, 60000};
  const gpu_array<int> on_gpu(std::vector<int>(items.begin(), items.end()));
  const gpu_array<int> begins(offsets);
  const int segments = static_cast<int>(offsets.size()) - 1;
  const results theirs =
      program<cub::DeviceReduce, cub::DeviceSegmentedReduce>(on_gpu, begins, segments, stream);
  const results ours = program<cub_compat::DeviceReduce, cub_compat::DeviceSegmentedReduce>(
      on_gpu, begins, segments, stream);
  EXPECT_EQ(ours.numbers, theirs.numbers);
  ASSERT_EQ(ours.pairs.size(), theirs.pairs.size());
  for (std::size_t i = 0; i < ours.pairs.size(); ++i) {
    EXPECT_EQ(ours.pairs[i].key, theirs.pairs[i].key) << i;
    EXPECT_EQ(ours.pairs[i].value, theirs.pairs[i].value) << i;
  }
}

// Forms of later CUBs, against the host.
struct larger_not_const {
  __host__ __device__ int operator()(int a, int b) { return a < b ? b : a; }
};
struct vector2 {
  float x, y;
  friend TILEFOLD_HD vector2 operator+(const vector2& a, const vector2& b) {
    return {a.x + b.x, a.y + b.y};
  }
};

TEST(CudaCubProgram, InOnePhaseOfOneSize) {
  const scoped_stream stream;
  const std::vector<int> items{3, 1, 2, 9, 7, 8, 4, 5, 4};
  const gpu_array<int> on_gpu(items);
  gpu_array<cuda::std::pair<int, int>> places(3);
  const cudaStream_t where = stream;
  using fold = cub_compat::DeviceSegmentedReduce;
  must(fold::ArgMin(on_gpu.data(), places.data(), 3, 3, where));
  must(cudaStreamSynchronize(stream));
  const std::vector<std::pair<int, int>> expected{{1, 1}, {1, 7}, {0, 4}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(places.to_host()[i].first, expected[i].first) << i;
    EXPECT_EQ(places.to_host()[i].second, expected[i].second) << i;
  }
  must(fold::ArgMax(on_gpu.data(), places.data(), 3, 0, where));
  must(cudaStreamSynchronize(stream));
  EXPECT_EQ(places.to_host()[2].first, 1);
  EXPECT_EQ(places.to_host()[2].second, std::numeric_limits<int>::lowest());
  gpu_array<int> out(3);
  must(fold::Reduce(on_gpu.data(), out.data(), 3, 3, larger_not_const{}, 8, where));
  must(cudaStreamSynchronize(stream));
  EXPECT_EQ(out.to_host(), (std::vector<int>{8, 9, 8}));
}

// The greatest of the items and an initial value, once the one and once the other.
template <class T>
void expect_largest_narrow_float(const T& initial, float expected) {
  const scoped_stream stream;
  const gpu_array<T> items(std::vector<T>{T(2), T(-7), T(3), T(1)});
  gpu_array<T> out(1);
  const cudaStream_t where = stream;
  std::size_t bytes = 0;
  const auto fold = [&](void* tmp) {
    must(cub_compat::DeviceReduce::Reduce(tmp, bytes, items.data(), out.data(), 4, larger{},
                                          initial, where));
  };
  fold(nullptr);
  const gpu_array<unsigned char> tmp(static_cast<std::int64_t>(bytes) + 1);
  fold(tmp.data());
  must(cudaStreamSynchronize(stream));
  EXPECT_EQ(static_cast<float>(out.to_host()[0]), expected);
}

TEST(CudaCubProgram, NarrowFloatsMeetTheirInitialValue) {
  expect_largest_narrow_float(__half(5), 5);
  expect_largest_narrow_float(__half(-5), 3);
  expect_largest_narrow_float(__nv_bfloat16(5), 5);
  expect_largest_narrow_float(__nv_bfloat16(-5), 3);
}

TEST(CudaCubProgram, SumsOfTypesWithoutIdentityStartFromNothing) {
  const scoped_stream stream;
  const gpu_array<vector2> items(std::vector<vector2>{{1, 2}, {3, 4}, {5, 6}});
  const gpu_array<int> offsets(std::vector<int>{0, 2, 2, 3});
  gpu_array<vector2> out(3);
  const cudaStream_t where = stream;
  must(cub_compat::DeviceSegmentedReduce::Sum(items.data(), out.data(), 3, offsets.data(),
                                              offsets.data() + 1, where));
  must(cudaStreamSynchronize(stream));
  const auto sums = out.to_host();
  EXPECT_EQ(sums[0].y, 6);
  EXPECT_EQ(sums[1].x, 0);
  EXPECT_EQ(sums[2].x, 5);
}

}  // namespace
}  // namespace tilefold::test
