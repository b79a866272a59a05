// SPDX-License-Identifier: Apache-2.0
//
// Rows of narrow items on a GPU, of lengths that come as a stream of chunks and of others, few and
// many, aligned and not: every row looked at has its neighbour tree.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.cuh>

#include "support/device.cuh"
#include "support/oracle.hpp"
#include "support/seed.hpp"

namespace tilefold::test {

// 32 bits that tell of the tree and of all items.
struct scrambled_item {
  template <class T>
  TILEFOLD_HD std::uint32_t operator()(T item) const {
    return (item + 1u) * 0x9e3779b9u;
  }
};
struct scrambled_pair {
  TILEFOLD_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t x = (a ^ (a >> 15)) * 0x85ebca6bu + (b ^ (b >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
  }
};
struct as_it_is {
  TILEFOLD_HD std::uint32_t operator()(std::uint32_t x) const { return x; }
};

namespace {

template <class T>
class CudaNarrowRows : public ::testing::Test {};
using item_types = ::testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(CudaNarrowRows, item_types);

struct rows {
  std::int64_t num, length;
};

TYPED_TEST(CudaNarrowRows, HaveTheirTrees) {
  std::mt19937_64 bits(seed());
  std::vector<TypeParam> items(4100 * 12288 + 64);
  for (TypeParam& item : items) item = static_cast<TypeParam>(bits() >> 20);
  const gpu_array<TypeParam> array(items);
  const auto hash = reducers::make_reducer(scrambled_item{}, scrambled_pair{}, as_it_is{});
  cuda_executor exec;
  for (const rows shape :
       {rows{513, 2048}, rows{600, 4096}, rows{4099, 4096}, rows{4200, 6144}, rows{4200, 6000},
        rows{4100, 12288}, rows{1500, 16384}, rows{4, 16384}, rows{513, 4095}}) {
    for (const std::int64_t shift : {0, 1, 16}) {
      gpu_array<std::uint32_t> out(shape.num);
      segmented_reduce(exec, static_cast<const TypeParam*>(array.data()) + shift, shape.num,
                       shape.length, out.data(), std::uint32_t{7}, hash);
      const auto got = out.to_host();
      // The first one, some, and the last one.
      for (std::int64_t i = 0; i < shape.num + 96; i += 97) {
        const std::int64_t r = std::min(i, shape.num - 1);
        std::vector<std::uint32_t> leaves;
        const TypeParam* const first = items.data() + shift + r * shape.length;
        for (std::int64_t k = 0; k < shape.length; ++k)
          leaves.push_back(scrambled_item{}(first[k]));
        const std::uint32_t tree = neighbour_tree(scrambled_pair{}, leaves);
        ASSERT_EQ(got[static_cast<std::size_t>(r)], scrambled_pair{}(7, tree))
            << "row " << r << " of " << shape.num << " of " << shape.length << " items, shift "
            << shift;
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::test
