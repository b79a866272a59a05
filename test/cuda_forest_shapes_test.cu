// SPDX-License-Identifier: Apache-2.0
//
// 10^5 random shapes of segments on a GPU, a call each, all in flight at once; and offsets of every
// width. Every segment's value spells its neighbour tree.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "support/index_forest.cuh"
#include "support/random_forest.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

// One call: segments next to each other from some item on.
struct shape {
  std::int64_t first_offset;  // among the offsets of all calls
  std::int64_t first_result;
  std::int64_t segments;
};

class random_shapes {
 public:
  void add(std::int64_t begin, const std::vector<std::int64_t>& lengths) {
    shapes_.push_back({static_cast<std::int64_t>(offsets_.size()),
                       static_cast<std::int64_t>(all_.size()),
                       static_cast<std::int64_t>(lengths.size())});
    offsets_.push_back(static_cast<std::int32_t>(begin));
    for (const std::int64_t length : lengths) {
      all_.emplace_back(begin, begin + length);
      begin += length;
      offsets_.push_back(static_cast<std::int32_t>(begin));
    }
    num_items_ = std::max(num_items_, begin);
  }

  // Whether every segment of every call has its own tree.
  ::testing::AssertionResult fold_like(const std::vector<lifted_hash>& expected) const {
    const index_items items(num_items_);
    const gpu_array<std::int32_t> offsets(offsets_);
    gpu_array<lifted_hash> out(static_cast<std::int64_t>(all_.size()));
    must(cudaMemset(out.data(), 0xee, all_.size() * sizeof(lifted_hash)));
    cuda_executor exec;
    int shift = 0;
    for (const shape& s : shapes_) {
      segmented_reduce_into(exec, items.at(shift++ % 4), offsets.data() + s.first_offset,
                            s.segments, out.data() + s.first_result, initial, lifted_node_hash{});
    }
    exec.synchronize();
    return same_trees(out.to_host(), expected, all_);
  }

  const segments& all() const { return all_; }

 private:
  std::vector<shape> shapes_;
  std::vector<std::int32_t> offsets_;
  segments all_;
  std::int64_t num_items_ = 0;
};

std::int64_t below(std::mt19937_64& bits, std::int64_t bound) {
  return static_cast<std::int64_t>((bits() >> 1) % static_cast<std::uint64_t>(bound));
}

TEST(CudaForestShapes, HundredThousandOfSegmentsUpTo300) {
  std::mt19937_64 bits(seed());
  random_shapes shapes;
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t longest = below(bits, 301);
    const std::int64_t count = 1 + below(bits, std::int64_t{1} << below(bits, 7));
    shapes.add(below(bits, 1000), random_lengths(bits, count, longest));
  }
  EXPECT_TRUE(shapes.fold_like(trees_of(shapes.all())));
}

TEST(CudaForestShapes, OfSegmentsUpToAMillion) {
  std::mt19937_64 bits(seed());
  random_shapes shapes;
  for (int i = 0; i < 60; ++i) {
    const std::int64_t longest = 1 + below(bits, std::int64_t{1} << below(bits, 21));
    const std::int64_t most = std::max<std::int64_t>(1, 3000000 / longest);
    const std::int64_t count = 1 + below(bits, std::min<std::int64_t>(most, 20000));
    shapes.add(below(bits, 1000), random_lengths(bits, count, longest));
  }
  EXPECT_TRUE(shapes.fold_like(trees_of(shapes.all())));
}

template <class Offset>
class CudaForestOffsets : public ::testing::Test {};
using offset_types = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                      std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(CudaForestOffsets, offset_types);

// As far as the type goes: the last offset is its largest number, or 2^20.
TYPED_TEST(CudaForestOffsets, OfThisWidth) {
  std::mt19937_64 bits(seed());
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<TypeParam>::max());
  const auto last = static_cast<std::int64_t>(std::min<std::uint64_t>(largest, 1 << 20));
  std::vector<TypeParam> offsets{0};
  segments all;
  while (all.empty() || all.back().second < last) {
    const std::int64_t begin = all.empty() ? 0 : all.back().second;
    const std::int64_t longest = below(bits, 100) == 0 ? last : 60;
    const std::int64_t end = std::min(last, begin + below(bits, longest));
    all.emplace_back(begin, end);
    offsets.push_back(static_cast<TypeParam>(end));
  }
  const index_items items(last);
  const gpu_array<TypeParam> device_offsets(offsets);
  gpu_array<lifted_hash> out(static_cast<std::int64_t>(all.size()));
  cuda_executor exec;
  segmented_reduce(exec, items.at(1), device_offsets.data(), all.size(), out.data(), initial,
                   lifted_node_hash{});
  EXPECT_TRUE(same_trees(out.to_host(), trees_of(all), all));
}

}  // namespace
}  // namespace tilefold::test
