// SPDX-License-Identifier: Apache-2.0
//
// One program for CUB and for cub_compat: only the names of the two classes differ, and results
// that no order can change are equal. Segments without items, too.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/util_type.cuh>

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
  const int* const begins = offsets.data();
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceSegmentedReduce::Sum(tmp, bytes, in, out, segments, begins, begins + 1, stream);
  });
  keep(segments);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceSegmentedReduce::Max(tmp, bytes, in, out, segments, begins, begins + 1, stream);
  });
  keep(segments);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceSegmentedReduce::Reduce(tmp, bytes, in, out, segments, begins, begins + 1,
                                         larger{}, -5, stream);
  });
  keep(segments);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceSegmentedReduce::ArgMin(tmp, bytes, in, pairs.data(), segments, begins, begins + 1,
                                         stream);
  });
  keep_pairs(segments);
  call([&](void* tmp, std::size_t& bytes) {
    return DeviceSegmentedReduce::ArgMax(tmp, bytes, in, pairs.data(), segments, begins, begins + 1,
                                         stream);
  });
  keep_pairs(segments);
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

}  // namespace
}  // namespace tilefold::test
