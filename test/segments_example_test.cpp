// SPDX-License-Identifier: Apache-2.0
//
// The examples of docs/segments.md, as they stand there, and what they give.
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace {

TEST(SegmentsExample, ArraysByThemselves) {
  std::vector<float> a{3, 1, 2}, b{5, 4};
  std::vector<const float*> arrays{a.data(), nullptr, b.data()};  // null where there is nothing
  std::vector<int> lengths{3, 0, 2};
  std::vector<float> sums(3), largest(3);

  tilefold::batched_reduce(arrays.begin(), lengths.begin(), 3, sums.begin());
  tilefold::batched_reduce(arrays.begin(), lengths.begin(), 3, largest.begin(),
                           tilefold::maximum{});

  EXPECT_EQ(sums, (std::vector<float>{6, 0, 9}));
  EXPECT_EQ(largest[0], 3);
  EXPECT_EQ(largest[2], 5);
}

long long first_wrong_segment() {
  tilefold::host_executor exec;
  std::vector<float> items{1, 2, 4, 8}, sums(3);
  std::vector<int> offsets{0, 3, 2, 4};
  try {
    tilefold::segmented_reduce(tilefold::checked(exec, items.size()), items.begin(),
                               offsets.begin(), 3, sums.begin());
  } catch (const tilefold::segment_error& e) {
    std::puts(e.what());  // tilefold: segment 1, [3, 2), ends before it begins
    return e.index();     // 1
  }
  return -1;
}

TEST(SegmentsExample, EveryItemWithItsRowsValue) {
  tilefold::host_executor exec;
  std::vector<float> logits{1, 2, 3, 1, 1, 1}, out(6), scaled(6);
  tilefold::log_softmax(exec, logits.data(), 2, 3, out.data());
  tilefold::transform_rows(exec, logits.data(), 2, 3, scaled.data(), tilefold::reducers::l2{},
                           [](float x, double norm) { return static_cast<float>(x / norm); });

  EXPECT_FLOAT_EQ(out[2], -0.40760596f);
  EXPECT_FLOAT_EQ(out[4], -1.0986123f);
  EXPECT_FLOAT_EQ(scaled[1], 0.5345225f);
}

TEST(SegmentsExample, OffsetsFromElsewhere) { EXPECT_EQ(first_wrong_segment(), 1); }

}  // namespace
