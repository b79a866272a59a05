// SPDX-License-Identifier: Apache-2.0
//
// Adaptors in reductions of segments and of axes: the bits that the host makes of the transformed
// items, whatever the alignment of each range; functions that are lambdas; nothing is read beside
// the memory.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/segmented_reduce.hpp>

#include "adaptors.cuh"
#include "support/seed.hpp"
#include "support/segment_shapes.hpp"

namespace tilefold::test {
namespace {

TEST_F(CudaAdaptors, Segments) {
  shape_stream bits(seed());
  SCOPED_TRACE("TILEFOLD_TEST_SEED=" + std::to_string(seed()));
  for (const int late : {0, 1, 2, 3, 5}) {
    for (const std::int64_t longest : {20, 3000, 100000}) {
      std::vector<int> offsets{0};
      for (const std::int64_t length :
           random_lengths(bits, longest == 100000 ? 3 : 1500, longest)) {
        if (offsets.back() + length > most - 16) break;
        offsets.push_back(offsets.back() + static_cast<int>(length));
      }
      const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
      const gpu_array<int> device_offsets(offsets);
      for_each_adaptor(late, [&](const std::string& name, auto first, const auto& items) {
        SCOPED_TRACE(name + ", segments of up to " + std::to_string(longest));
        std::vector<float> expected(static_cast<std::size_t>(segments));
        segmented_reduce_into(host_, items.data(), offsets.data(), segments, expected.data());
        gpu_array<float> out(segments);
        segmented_reduce_into(gpu_, first, device_offsets.data(), segments, out.data());
        gpu_.synchronize();
        const std::vector<float> got = out.to_host();
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_TRUE(same_bits(got[i], expected[i])) << "segment " << i;
        }
      });
    }
  }
}

struct sum_of_pair {
  template <class Pair>
  TILEFOLD_HD float operator()(const Pair& pair) const {
    return thrust::get<0>(pair) + thrust::get<1>(pair);
  }
};

// Its type in host code is not trivially copyable.
void segments_of_a_lambda(cuda_executor& gpu, const float* first, float by, const int* offsets,
                          std::int64_t segments, float* out) {
  const auto times = [by] __host__ __device__(float x) { return by * x; };
  segmented_reduce_into(gpu, thrust::make_transform_iterator(first, times), offsets, segments, out);
  gpu.synchronize();
}

TEST_F(CudaAdaptors, FunctionsThatAreLambdas) {
  const std::vector<int> offsets{0, 5, 5, 1000, 100000};
  const gpu_array<int> device_offsets(offsets);
  gpu_array<float> out(4);
  segments_of_a_lambda(gpu_, floats_.device.data() + 1, 0.3f, device_offsets.data(), 4, out.data());
  std::vector<float> items;
  for (std::size_t i = 1; i <= 100000; ++i) {
    items.push_back(reference::rounded(0.3f * floats_.host[i]));
  }
  std::vector<float> expected(4);
  segmented_reduce_into(host_, items.data(), offsets.data(), 4, expected.data());
  const std::vector<float> got = out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(same_bits(got[i], expected[i])) << "segment " << i;
  }
}

// Ends of memory: nothing of the array's follows its last item, nor stands before its first.
TEST_F(CudaAdaptors, ReadNothingBesideTheirMemory) {
  constexpr std::int64_t n = std::int64_t{1} << 21;
  const auto items = make_items<float>(pattern::mixed, n, 9);
  const gpu_array<float> x(items);
  const gpu_array<float> y(items);
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(x.data(), y.data()));
  std::vector<int> offsets;
  for (std::int64_t i = 0; i < n; i += 2) offsets.push_back(static_cast<int>(i));
  offsets.push_back(static_cast<int>(n));
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const gpu_array<int> device_offsets(offsets);
  gpu_array<float> out(segments);
  segmented_reduce_into(gpu_, thrust::make_transform_iterator(pairs, sum_of_pair{}),
                        device_offsets.data(), segments, out.data());
  gpu_.synchronize();
  const std::vector<float> got = out.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float expected = 2.0f * items[2 * i] + 2.0f * items[2 * i + 1];
    ASSERT_TRUE(same_bits(got[i], expected)) << "segment " << i;
  }
}

/// A matrix over any iterator, with rows `stride` items apart.
template <class It>
struct matrix {
  It first;
  std::int64_t rows, columns, row_stride;

  static constexpr int rank() { return 2; }
  std::int64_t extent(std::size_t i) const { return i == 0 ? rows : columns; }
  std::int64_t stride(std::size_t i) const { return i == 0 ? row_stride : 1; }
  It data_handle() const { return first; }
};
template <class It>
struct row {
  It first;
  std::int64_t size;

  static constexpr int rank() { return 1; }
  std::int64_t extent(std::size_t) const { return size; }
  std::int64_t stride(std::size_t) const { return 1; }
  It data_handle() const { return first; }
};

// Columns in packets, columns off by some items, one column whose rows lie one after the other, and
// rows of one length.
TEST_F(CudaAdaptors, AxesOfMatrices) {
  struct shape {
    std::int64_t rows, columns, stride;
  };
  for (const int late : {0, 1, 2, 4}) {
    for (const shape s : {shape{500, 96, 96}, {700, 31, 33}, {4000, 4, 64}, {16, 9000, 9000}}) {
      for_each_adaptor(late, [&](const std::string& name, auto first, const auto& items) {
        for (const int axis : {0, 1}) {
          const std::int64_t results = axis == 0 ? s.columns : s.rows;
          SCOPED_TRACE(name + ", " + std::to_string(s.rows) + " x " + std::to_string(s.columns) +
                       ", axis " + std::to_string(axis));
          std::vector<float> expected(static_cast<std::size_t>(results));
          axis_reduce(host_, matrix<const float*>{items.data(), s.rows, s.columns, s.stride},
                      row<float*>{expected.data(), results}, axis);
          gpu_array<float> out(results);
          axis_reduce(gpu_, matrix<decltype(first)>{first, s.rows, s.columns, s.stride},
                      row<float*>{out.data(), results}, axis);
          gpu_.synchronize();
          const std::vector<float> got = out.to_host();
          for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_TRUE(same_bits(got[i], expected[i])) << "result " << i;
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace tilefold::test
