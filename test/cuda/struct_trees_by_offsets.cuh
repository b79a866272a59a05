// SPDX-License-Identifier: Apache-2.0
//
// The suite of structs by segment that offsets cut, some structs to a program: the host's bits, at
// the ends of cells, stripes and slices, and at every alignment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "staged_struct_trees.cuh"

namespace tilefold::test {

template <class Item>
class CudaStructTrees : public testing::Test {};
TYPED_TEST_SUITE_P(CudaStructTrees);

TYPED_TEST_P(CudaStructTrees, HaveTheHostsBits) {
  constexpr int bytes = sizeof(TypeParam);
  // A run of 44 or 88 bytes would be too long for shared memory.
  static_assert(gpu::pays_to_stage_trees_of_structs(bytes, bytes) == (bytes % 44 != 0));
  SCOPED_TRACE("seed " + std::to_string(seed()));
  cuda_executor exec;
  // One launch folds up to 1024 trees; of more, lanes, warps and blocks take a launch each.
  for (const std::size_t trees : {std::size_t{200}, std::size_t{1500}, std::size_t{5000}}) {
    const std::vector<std::int64_t> offsets = offsets_of<TypeParam>(trees);
    const auto items = mixed_structs<TypeParam>(offsets.back());
    const gpu_array<unsigned char> memory((offsets.back() + 1) * bytes);
    // Items begin at a multiple of 16 bytes, and as far off as their alignment allows.
    for (const std::int64_t off : {std::int64_t{0}, std::int64_t{alignof(TypeParam)}}) {
      auto* const first = reinterpret_cast<TypeParam*>(memory.data() + off);
      must(cudaMemcpy(first, items.data(), items.size() * sizeof(TypeParam), cudaMemcpyDefault));
      SCOPED_TRACE(std::to_string(off) + " bytes after a multiple of 16");
      expect_the_hosts_bits(exec, items, first, offsets);
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaStructTrees, HaveTheHostsBits);

}  // namespace tilefold::test
