// SPDX-License-Identifier: Apache-2.0
//
// Segments on a GPU whose accumulators are large for their items, so many that warps fold them by
// rows in shared memory: as levels of one tree, a tree a warp, and in slices; around a row's
// length, and where rows of bytes would overread. Some folds to a program.
#pragma once

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "../support/random.hpp"
#include "on_gpu.cuh"
#include "suite.hpp"

namespace tilefold::test {
namespace {

constexpr std::int64_t items_of_all = 9 << 20;
constexpr std::int64_t some_items = 1 << 20;

template <class Fold>
class StagedSegments : public ::testing::Test {
 protected:
  template <class Form>
  using items = segments_of<segments_run<on_gpu, Form, Fold>>;
};
TYPED_TEST_SUITE_P(StagedSegments);

// Enough that every warp has a group of rows.
TYPED_TEST_P(StagedSegments, LevelsOfOneTree) {
  typename TestFixture::template items<of_one_length> of(items_of_all);
  for (const std::int64_t length : {32, 4096}) {
    const std::int64_t number = (items_of_all - 100) / length;
    const std::size_t item = sizeof(typename TypeParam::item);
    ASSERT_TRUE(of.have_their_trees(of_length(number, length), length < 100 ? 0 : item)) << length;
  }
}

TYPED_TEST_P(StagedSegments, OfOneLength) {
  typename TestFixture::template items<of_one_length> of(some_items);
  for (const std::int64_t length : {1000, 1025, 2051, 40000, 600000}) {
    ASSERT_TRUE(of.have_their_trees(of_length(some_items / length, length), 0)) << length;
  }
}

TYPED_TEST_P(StagedSegments, ByOffsets) {
  typename TestFixture::template items<by_offsets<>> of(some_items);
  shape_stream random(seed());
  for (const std::int64_t mean : {64, 700, 1024, 1500, 5000, 70000}) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t all = 0; all < some_items - 3 * mean;) {
      lengths.push_back(random.one_in(3) ? mean : random.below(2 * mean));
      all += lengths.back();
    }
    ASSERT_TRUE(of.have_their_trees(in_a_row(lengths, 3), 0)) << mean;
  }
}

REGISTER_TYPED_TEST_SUITE_P(StagedSegments, LevelsOfOneTree, OfOneLength, ByOffsets);

}  // namespace
}  // namespace tilefold::test
