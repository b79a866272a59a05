// SPDX-License-Identifier: Apache-2.0
//
// Structs that are folded in staged tiles: of up to 64 bytes, and larger ones, whose blocks have 64
// threads.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/custom.hpp>
#include <tilefold/transform_reduce.hpp>

#include "conformance/cases.hpp"
#include "staged_structs.cuh"
#include "support/device.cuh"

namespace tilefold::test {
namespace {

// Cells of 8 structs, of 4, of 4 since 2 are no whole vectors of 16 bytes, and of 2.
using structs = testing::Types<words<std::uint32_t, 3>, words<std::uint32_t, 5>,
                               words<std::uint32_t, 9>, words<std::uint64_t, 8>>;
static_assert(cell_of<words<std::uint32_t, 3>> == 8 && cell_of<words<std::uint32_t, 5>> == 4 &&
              cell_of<words<std::uint32_t, 9>> == 4 && cell_of<words<std::uint64_t, 8>> == 2);
INSTANTIATE_TYPED_TEST_SUITE_P(OfUpTo64Bytes, CudaStagedStructs, structs);

// Few registers for a stripe and many.
using large_structs = testing::Types<words<std::uint32_t, 18>, words<std::uint32_t, 32>>;
static_assert(cell_of<words<std::uint32_t, 18>> == 2 && cell_of<words<std::uint32_t, 32>> == 2);
INSTANTIATE_TYPED_TEST_SUITE_P(OfMoreThan64Bytes, CudaStagedStructs, large_structs);

// Items of which a copy of 16 bytes holds parts of two, and more bytes than a bank line's.
TEST(CudaStagedStructsAndMore, SanitizeCopies) {
  expect_same_from_both(
      mixed_structs<words<std::uint32_t, 3>>(lengths<words<std::uint32_t, 3>>()[3]));
  expect_same_from_both(
      mixed_structs<words<std::uint32_t, 9>>(lengths<words<std::uint32_t, 9>>()[5]));
  expect_same_from_both(
      mixed_structs<words<std::uint64_t, 8>>(lengths<words<std::uint64_t, 8>>()[7]));
}

TEST(CudaStagedStructsAndMore, SanitizeCopiesOfLargeOnes) {
  expect_same_from_both(
      mixed_structs<words<std::uint32_t, 32>>(lengths<words<std::uint32_t, 32>>()[9]));
}

using twelve_words = words<std::uint32_t, 12>;
struct rotation {
  TILEFOLD_HD twelve_words operator()(const twelve_words& x) const {
    twelve_words result = x;
    for (int i = 0; i < 12; ++i) result.word[i] = x.word[(i + 5) % 12] * 7u;
    return result;
  }
};

struct unchanged {
  TILEFOLD_HD twelve_words operator()(const twelve_words& x) const { return x; }
};

// A public reducer over structs, and one with a function of each item.
TEST(CudaStagedStructsAndMore, ByReducersAndFunctions) {
  const auto items = mixed_structs<twelve_words>(lengths<twelve_words>()[9]);
  const gpu_array<twelve_words> device(items);
  cuda_executor exec;
  std::vector<twelve_words> lifted;
  for (const twelve_words& x : items) lifted.push_back(rotation{}(x));
  EXPECT_EQ(bytes_of(tilefold::transform_reduce(exec, device.begin(), device.end(), mix_words{},
                                                rotation{})),
            bytes_of(tilefold::reduce(lifted, mix_words{})));
  const auto mixing = reducers::make_reducer(rotation{}, mix_words{}, unchanged{});
  EXPECT_EQ(bytes_of(tilefold::reduce(exec, device.begin(), device.end(), mixing)),
            bytes_of(tilefold::reduce(lifted, mix_words{})));
}

}  // namespace
}  // namespace tilefold::test
