// SPDX-License-Identifier: Apache-2.0
//
// A combine that copies its left operand and changes the copy word by word, while it reads both. If
// a fold made the result in the place of an operand, it would read words that it has overwritten.
// Long and short ranges, segments, keys, columns: the host's bits.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cuda/std/mdspan>

#include <tilefold/axis_reduce.hpp>
#include <tilefold/cuda.cuh>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reduce_by_key.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "support/device.cuh"

namespace tilefold::test {

struct mixed_four {
  std::uint32_t word[4];
};

// The same operator, whether its operands are apart or not; not commutative, with no identity.
struct copies_left {
  using reducer_concept = reducer_tag;
  static constexpr bool separately_rounded = true;

  TILEFOLD_HD mixed_four lift(std::uint32_t x) const { return {{x, x * 3u, x * 5u, x * 7u}}; }
  TILEFOLD_HD mixed_four combine(const mixed_four& a, const mixed_four& b) const {
    mixed_four both = a;
    for (int i = 0; i < 4; ++i) {
      both.word[i] = 3u * both.word[i] + b.word[(i + 1) % 4] + a.word[(i + 3) % 4];
    }
    return both;
  }
  TILEFOLD_HD mixed_four project(const mixed_four& x) const { return x; }
};

// Copies the right one.
struct copies_right : copies_left {
  TILEFOLD_HD mixed_four combine(const mixed_four& a, const mixed_four& b) const {
    mixed_four both = b;
    for (int i = 3; i >= 0; --i) {
      both.word[i] = 5u * both.word[i] + a.word[(i + 1) % 4] + b.word[(i + 2) % 4];
    }
    return both;
  }
};

namespace {

std::string bytes_of(const mixed_four& x) { return {reinterpret_cast<const char*>(&x), sizeof x}; }
std::vector<std::string> bytes_of(const std::vector<mixed_four>& values) {
  std::vector<std::string> all;
  for (const mixed_four& x : values) all.push_back(bytes_of(x));
  return all;
}

std::vector<std::uint32_t> items(std::int64_t n) {
  std::vector<std::uint32_t> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(static_cast<std::uint32_t>(i * 2654435761u));
  return all;
}

template <class R>
class CudaCombineInPlace : public testing::Test {};
using reducers_that_copy = testing::Types<copies_left, copies_right>;
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

TYPED_TEST(CudaCombineInPlace, SegmentsAndRuns) {
  cuda_executor exec;
  // Many of one length: by lanes, by a warp's rows, by blocks. Then mixed ones.
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

}  // namespace
}  // namespace tilefold::test
