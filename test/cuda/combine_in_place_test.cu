// SPDX-License-Identifier: Apache-2.0
//
// A combine that changes a copy of an operand while it reads both, over long and short ranges and
// columns, by segment and by key: the host's bits.
#include <cstdint>
#include <vector>

#include <cuda/std/mdspan>

#include <gtest/gtest.h>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "combine_in_place.cuh"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

TYPED_TEST_SUITE(CudaCombineInPlace, reducers_that_copy);

TYPED_TEST(CudaCombineInPlace, Ranges) {
  cuda_executor exec;
  for (const std::int64_t n : {1, 2, 33, 1000, 70000, 3000001}) {
    const auto x = items(n);
    const gpu_array<std::uint32_t> device(x);
    EXPECT_EQ(bytes_of(tilefold::reduce(exec, device.begin(), device.end(), TypeParam{})),
              bytes_of(tilefold::reduce(x, TypeParam{})))
        << "n = " << n;
  }
}

TYPED_TEST(CudaCombineInPlace, Columns) {
  cuda_executor exec;
  constexpr std::int64_t rows = 3001;
  constexpr std::int64_t width = 70;
  const auto x = items(rows * width);
  const gpu_array<std::uint32_t> device(x);
  gpu_array<mixed_four> out(width);
  using matrix = cuda::std::mdspan<const std::uint32_t, cuda::std::dextents<std::int64_t, 2>>;
  using vector = cuda::std::mdspan<mixed_four, cuda::std::dextents<std::int64_t, 1>>;
  std::vector<mixed_four> expected(width);
  for (std::int64_t c = 0; c < width; ++c) {
    std::vector<std::uint32_t> column;
    for (std::int64_t r = 0; r < rows; ++r) {
      column.push_back(x[static_cast<std::size_t>(r * width + c)]);
    }
    expected[static_cast<std::size_t>(c)] = tilefold::reduce(column, TypeParam{});
  }
  tilefold::axis_reduce(exec, matrix(device.data(), rows, width), vector(out.data(), width), 0,
                        TypeParam{});
  exec.synchronize();
  EXPECT_EQ(bytes_of(out.to_host()), bytes_of(expected));
}

TYPED_TEST(CudaCombineInPlace, SegmentsAndRuns) {
  cuda_executor exec;
  // Many of one length: by lanes, by a warp's stripes, by blocks. Then mixed ones.
  for (const std::int64_t length : {3, 100, 700, 5000, 40000}) {
    const std::int64_t segments = 2000000 / length;
    const auto x = items(segments * length);
    std::vector<std::int64_t> offsets;
    std::vector<int> keys;
    for (std::int64_t s = 0; s <= segments; ++s) {
      offsets.push_back(s * length + (s > 0 && s < segments ? s * 7 % 3 : 0));
    }
    for (std::int64_t s = 0; s < segments; ++s) {
      keys.insert(keys.end(),
                  static_cast<std::size_t>(offsets[static_cast<std::size_t>(s) + 1] -
                                           offsets[static_cast<std::size_t>(s)]),
                  static_cast<int>(s % 5));
    }
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      return tilefold::reduce(x.data() + begin, x.data() + end, TypeParam{});
    };
    std::vector<mixed_four> equal, by_offsets;
    for (std::int64_t s = 0; s < segments; ++s) {
      const auto at = static_cast<std::size_t>(s);
      equal.push_back(part(s * length, (s + 1) * length));
      by_offsets.push_back(part(offsets[at], offsets[at + 1]));
    }

    const gpu_array<std::uint32_t> device(x);
    const gpu_array<std::int64_t> device_offsets(offsets);
    const gpu_array<int> device_keys(keys);
    gpu_array<int> device_keys_out(segments);
    gpu_array<mixed_four> out(segments);
    tilefold::segmented_reduce_into(exec, device.data(), segments, length, out.data(),
                                    tilefold::if_empty(TypeParam{}, mixed_four{}));
    exec.synchronize();
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(equal)) << "equal lengths of " << length;
    tilefold::segmented_reduce_into(exec, device.data(), device_offsets.data(), segments,
                                    out.data(), tilefold::if_empty(TypeParam{}, mixed_four{}));
    exec.synchronize();
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(by_offsets)) << "offsets, about " << length;
    tilefold::reduce_by_key(exec, device_keys.data(), device_keys.data() + device_keys.size(),
                            device.data(), device_keys_out.data(), out.data(), TypeParam{});
    EXPECT_EQ(bytes_of(out.to_host()), bytes_of(by_offsets)) << "runs of about " << length;
  }
}

}  // namespace
}  // namespace tilefold::test
