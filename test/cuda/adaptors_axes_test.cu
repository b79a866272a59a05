// SPDX-License-Identifier: Apache-2.0
//
// Adaptors in reductions of axes: the bits that the host makes of the transformed items, whatever
// the alignment of each range.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>

#include "adaptors.cuh"

namespace tilefold::test {
namespace {

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
