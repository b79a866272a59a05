// SPDX-License-Identifier: Apache-2.0
//
// The suite of structs by segment of one length, some structs to a program: the host's bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "staged_struct_trees.cuh"

namespace tilefold::test {

template <class Item>
class CudaStructTreesOfOneLength : public testing::Test {};
TYPED_TEST_SUITE_P(CudaStructTreesOfOneLength);

// Of lengths 2^k there are so many that every warp of the GPU has stripes: levels of one tree,
// staged if structs have more than 32 bytes and trees 768. Trees longer than a chunk of stripes go
// other ways.
TYPED_TEST_P(CudaStructTreesOfOneLength, HaveTheHostsBits) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto mix = if_empty(mix_words{}, TypeParam{});
  constexpr std::int64_t n = (std::int64_t{96} << 20) / sizeof(TypeParam) + 77;
  const auto items = mixed_structs<TypeParam>(n);
  constexpr auto off = static_cast<std::int64_t>(alignof(TypeParam));
  const gpu_array<TypeParam> device(items);
  const gpu_array<unsigned char> memory(n * static_cast<std::int64_t>(sizeof(TypeParam)) + off);
  auto* const off_16_bytes = reinterpret_cast<TypeParam*>(memory.data() + off);
  must(cudaMemcpy(off_16_bytes, items.data(), items.size() * sizeof(TypeParam), cudaMemcpyDefault));
  cuda_executor exec;
  for (const std::int64_t length : {4, 8, 16, 32, 64, 128, 256, 512}) {
    const std::int64_t trees = n / length;
    const gpu_array<TypeParam> out(trees);
    std::vector<TypeParam> expected(static_cast<std::size_t>(trees));
    tilefold::segmented_reduce_into(host_executor{}, items.data(), trees, length, expected.data(),
                                    mix);
    for (const TypeParam* const first : {device.data(), off_16_bytes}) {
      must(cudaMemset(out.data(), 0xee, sizeof(TypeParam) * expected.size()));
      tilefold::segmented_reduce_into(exec, first, trees, length, out.data(), mix);
      const std::string place = first == off_16_bytes ? "off" : "at";
      expect_same_trees(out.to_host(), expected,
                        std::to_string(length) + " items, from " + place + " a multiple of 16");
      if (this->HasFatalFailure()) return;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaStructTreesOfOneLength, HaveTheHostsBits);

}  // namespace tilefold::test
