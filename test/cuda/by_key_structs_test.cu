// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key of structs that do not come through a ring, and of computed ones.
#include <cstdint>
#include <string>

#include <thrust/iterator/transform_iterator.h>

#include <gtest/gtest.h>

#include "by_key_structs.cuh"

namespace tilefold::test {
namespace {

static_assert(!comes_through_ring<item<12, 4>> && !comes_through_ring<item<40, 8>>);
static_assert(!comes_through_ring<item<16, 4>> && !comes_through_ring<item<16, 8>>);
using structs = ::testing::Types<item<12, 4>, item<40, 8>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfSomeSizes, CudaByKeyOfStructs, structs);

template <class Item>
struct as_it_is {
  TILEFOLD_HD Item operator()(const Item& x) const { return x; }
};

// What is computed does not come through the ring.
TEST(CudaByKeyOfStructsByIterators, HaveTheSameTrees) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  using value = item<24, 8>;
  constexpr std::int64_t n = 60'000;
  const auto items = mixed_items<value>(n);
  const placed_items<value> on_gpu(items, 8);
  cuda_executor exec;
  const auto computed = thrust::make_transform_iterator(on_gpu.data(), as_it_is<value>{});
  expect_trees(exec, items, computed, picked_lengths<value>(n, seed()));
}

TEST(SanitizeByKeyOfStructs, Memory) { fold_from_both_ends_of_memory<item<12, 4>>(); }

}  // namespace
}  // namespace tilefold::test
