// SPDX-License-Identifier: Apache-2.0
//
// The suite of segments on a GPU, in every form, over items that are their own index; and 10^5
// random shapes, a call each, all in flight at once.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "on_gpu.cuh"
#include "suite.hpp"

#include "../support/index_forest.cuh"

namespace tilefold::test {
namespace {

using runs = ::testing::Types<segments_run<on_gpu, of_one_length, index_hashes>,
                              segments_run<on_gpu, by_offsets<>, index_hashes>,
                              segments_run<on_gpu, by_begins_and_ends<>, index_hashes>,
                              segments_run<on_gpu, as_arrays, index_hashes>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfIndices, Segments, runs);
using sanitized = ::testing::Types<segments_run<on_gpu, of_one_length, index_hashes>,
                                   segments_run<on_gpu, by_offsets<>, index_hashes>>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfIndices, SanitizeSegments, sanitized);

// One width without a sign, besides those of the suite, which have one; the host has all
// (host_test.cpp).
TEST(SegmentsOnGpu, TakeOffsetsWithoutASign) { takes_offsets_of<on_gpu, std::uint32_t>(); }

// ---- many calls in flight

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
    for (const auto& segment : in_a_row(lengths, begin)) {
      all_.push_back(segment);
      offsets_.push_back(static_cast<std::int32_t>(segment.second));
    }
  }

  // Whether every segment of every call has its own tree.
  ::testing::AssertionResult have_their_trees() const {
    const index_items items(end_of(all_));
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
    return same_trees(out.to_host(), trees_of(all_), all_);
  }

 private:
  std::vector<shape> shapes_;
  std::vector<std::int32_t> offsets_;
  segments all_;
};

TEST(ManyCallsInFlight, HundredThousandOfSegmentsUpTo300) {
  shape_stream random(seed());
  random_shapes shapes;
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t longest = random.below(301);
    const std::int64_t count = 1 + random.below(std::int64_t{1} << random.below(7));
    shapes.add(random.below(1000), random_lengths(random, count, longest));
  }
  EXPECT_TRUE(shapes.have_their_trees());
}

TEST(ManyCallsInFlight, OfSegmentsUpToAMillion) {
  shape_stream random(seed());
  random_shapes shapes;
  for (int i = 0; i < 60; ++i) {
    const std::int64_t longest = 1 + random.below(std::int64_t{1} << random.below(21));
    const std::int64_t most = std::max<std::int64_t>(1, 3000000 / longest);
    const std::int64_t count = 1 + random.below(std::min<std::int64_t>(most, 20000));
    shapes.add(random.below(1000), random_lengths(random, count, longest));
  }
  EXPECT_TRUE(shapes.have_their_trees());
}

}  // namespace
}  // namespace tilefold::test
