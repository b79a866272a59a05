// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU over integers of one and two bytes and structs of two and three,
// at every address that they may have; and rows of lengths that come as a stream and of others, few
// and many.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

template <class T>
using offsets = segments_run<on_gpu, by_offsets<>, sums<T>>;
template <class T>
using begins_and_ends = segments_run<on_gpu, by_begins_and_ends<>, sums<T>>;
template <class T>
using equals = segments_run<on_gpu, of_one_length, narrow<T>>;

using runs =
    ::testing::Types<offsets<std::uint8_t>, begins_and_ends<std::uint8_t>, offsets<std::uint16_t>,
                     equals<std::uint8_t>, equals<std::uint16_t>, offsets<pair_of_bytes>,
                     offsets<three_bytes>, begins_and_ends<three_bytes>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfNarrowItems, Segments, runs);
using sanitized = ::testing::Types<offsets<std::uint8_t>, equals<std::uint8_t>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfNarrowItems, SanitizeSegments, sanitized);

// ---- rows

template <class T>
class NarrowRows : public ::testing::Test {};
using item_types = ::testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(NarrowRows, item_types);

struct rows {
  std::int64_t num, length;
};

TYPED_TEST(NarrowRows, HaveTheirTrees) {
  using fold = narrow<TypeParam>;
  const auto items = fold::items(4100 * 12288 + 64);
  const gpu_array<TypeParam> array(items);
  const auto combine = [](std::uint32_t a, std::uint32_t b) { return fold::combine(a, b); };
  cuda_executor exec;
  for (const rows shape :
       {rows{513, 2048}, rows{600, 4096}, rows{4099, 4096}, rows{4200, 6144}, rows{4200, 6000},
        rows{4100, 12288}, rows{1500, 16384}, rows{4, 16384}, rows{513, 4095}}) {
    for (const std::int64_t shift : {0, 1, 16}) {
      gpu_array<std::uint32_t> out(shape.num);
      segmented_reduce(exec, static_cast<const TypeParam*>(array.data()) + shift, shape.num,
                       shape.length, out.data(), fold::initial(), fold::op());
      const auto got = out.to_host();
      // The first one, some, and the last one.
      for (std::int64_t i = 0; i < shape.num + 96; i += 97) {
        const std::int64_t r = std::min(i, shape.num - 1);
        std::vector<std::uint32_t> leaves;
        const TypeParam* const first = items.data() + shift + r * shape.length;
        for (std::int64_t k = 0; k < shape.length; ++k) leaves.push_back(fold::lift(first[k], k));
        ASSERT_EQ(got[static_cast<std::size_t>(r)],
                  combine(fold::initial(), neighbour_tree(combine, leaves)))
            << "row " << r << " of " << shape.num << " of " << shape.length << " items, shift "
            << shift;
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::test
