// SPDX-License-Identifier: Apache-2.0
//
// checked() on the host: the first wrong segment or array is named, and nothing is read or written.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

namespace tilefold {
namespace {

// What a call says, and of which segment; "" and -1 if it does not throw.
struct complaint {
  std::string text;
  long long index = -1;
};

template <class Call>
complaint complaint_of(const Call& call) {
  try {
    call();
  } catch (const segment_error& e) {
    return {e.what(), e.index()};
  }
  return {};
}

const std::vector<float> items{1, 2, 4, 8, 16, 32};

template <class Offset>
complaint of_offsets(const std::vector<Offset>& offsets) {
  host_executor exec;
  std::vector<float> out(offsets.size() - 1, 7.0f);
  const complaint found = complaint_of([&] {
    segmented_reduce(checked(exec, items.size()), items.begin(), offsets.begin(), out.size(),
                     out.begin());
  });
  if (found.index < 0) return found;
  EXPECT_EQ(out, std::vector<float>(out.size(), 7.0f));
  return found;
}

TEST(Checked, LetsSoundOffsetsPass) {
  EXPECT_EQ(of_offsets<int>({0, 3, 3, 6}).text, "");
  EXPECT_EQ(of_offsets<std::uint8_t>({6, 6, 6}).text, "");
  host_executor exec;
  const std::vector<std::int8_t> begins{4, 0, 2}, ends{6, 6, 2};
  std::vector<float> out(3);
  segmented_reduce(checked(exec, 6), items.begin(), begins.begin(), ends.begin(), 3, out.begin());
  EXPECT_EQ(out, (std::vector<float>{48, 63, -0.0f}));
}

TEST(Checked, NamesTheFirstWrongSegment) {
  EXPECT_EQ(of_offsets<int>({0, 3, 2, 1, 6}).text,
            "tilefold: segment 1, [3, 2), ends before it begins");
  EXPECT_EQ(of_offsets<int>({0, 3, 2, 1, 6}).index, 1);
  EXPECT_EQ(of_offsets<std::int64_t>({-4, 3, 2}).text,
            "tilefold: segment 0, [-4, 3), begins before the first item");
  EXPECT_EQ(of_offsets<std::int8_t>({0, 1, -1}).text,
            "tilefold: segment 1, [1, -1), ends before it begins");
  EXPECT_EQ(of_offsets<std::uint16_t>({0, 6, 7, 9}).text,
            "tilefold: segment 1, [6, 7), ends after the last of 6 items");
  EXPECT_EQ(of_offsets<std::uint64_t>({0, 1, ~std::uint64_t{0}}).text,
            "tilefold: segment 1, [1, 18446744073709551615), ends after the last of 6 items");
  EXPECT_EQ(of_offsets<std::uint64_t>({0, ~std::uint64_t{0}, 1}).index, 0);
  // Even of no items, where nothing would be read.
  EXPECT_EQ(of_offsets<int>({7, 7}).text,
            "tilefold: segment 0, [7, 7), ends after the last of 6 items");
}

TEST(Checked, FindsTheFirstOfManyFaults) {
  std::vector<std::int64_t> begins, ends;
  for (std::int64_t i = 0; i < 300000; ++i) {
    begins.push_back(i % 6);
    ends.push_back(i % 6 + (i % 1000 == 999 && i > 150000 ? -1 : 1));
  }
  host_executor exec;
  std::vector<float> out(begins.size());
  EXPECT_EQ(complaint_of([&] {
              segmented_reduce(checked(exec, 6), items.begin(), begins.begin(), ends.begin(),
                               begins.size(), out.begin());
            }).text,
            "tilefold: segment 150999, [3, 2), ends before it begins");
}

TEST(Checked, KnowsNoEndUnlessItIsTold) {
  host_executor exec;
  std::vector<float> out(1);
  const std::vector<int> offsets{5, 6}, decreasing{6, 5};
  segmented_reduce(checked(exec), items.begin(), offsets.begin(), 1, out.begin());
  EXPECT_EQ(out[0], 32);
  EXPECT_EQ(complaint_of([&] {
              segmented_reduce(checked(exec), items.begin(), decreasing.begin(), 1, out.begin());
            }).index,
            0);
  EXPECT_THROW((void)checked(exec, -1), invalid_range_error);
}

TEST(Checked, ChecksEqualLengths) {
  host_executor exec;
  std::vector<float> out(3, 7.0f);
  segmented_reduce(checked(exec, 6), items.begin(), 3, 2, out.begin());
  EXPECT_EQ(out[2], 48);
  const complaint found =
      complaint_of([&] { segmented_reduce(checked(exec, 5), items.begin(), 3, 2, out.begin()); });
  EXPECT_EQ(found.text, "tilefold: 3 segments of 2 items end after the last of 5 items");
  EXPECT_EQ(found.index, 2);
  segmented_reduce(checked(exec, 0), items.begin(), 3, 0, out.begin());
  EXPECT_EQ(out[2], 0);
}

TEST(Checked, ChecksArrays) {
  host_executor exec;
  const std::vector<const float*> arrays{items.data(), nullptr, nullptr};
  std::vector<float> out(3, 7.0f);
  const auto of_lengths = [&](const std::vector<int>& lengths) {
    return complaint_of(
        [&] { batched_reduce(checked(exec), arrays.begin(), lengths.begin(), 3, out.begin()); });
  };
  const complaint null = of_lengths({6, 0, 2});
  EXPECT_EQ(null.text, "tilefold: array 2 is a null pointer, but has 2 items");
  EXPECT_EQ(null.index, 2);
  EXPECT_EQ(of_lengths({6, -3, 2}).text, "tilefold: array 1 cannot have -3 items");
  EXPECT_EQ(out, std::vector<float>(3, 7.0f));
  EXPECT_EQ(of_lengths({6, 0, 0}).text, "");
  EXPECT_EQ(out[0], 63);
  const std::vector<std::uint64_t> too_many{0, std::uint64_t{1} << 63, 0};
  EXPECT_EQ(complaint_of([&] {
              batched_reduce(checked(exec), arrays.begin(), too_many.begin(), 3, out.begin());
            }).text,
            "tilefold: array 1 cannot have 9223372036854775808 items");
}

TEST(Checked, KeepsThePolicyAndTakesOne) {
  host_executor exec;
  const std::vector<int> offsets{0, 3, 2};
  std::vector<float> out(2);
  const auto tuned = with_policy<tile_policy{64, 4}>(exec);
  const auto checked_tuned = checked(tuned, 6);
  const auto plain = checked(exec, 6);
  const auto tuned_checked = with_policy<tile_policy{64, 4}>(plain);
  static_assert(std::same_as<decltype(checked_tuned), decltype(tuned_checked)>);
  EXPECT_EQ(tuned_checked.num_items(), 6);
  const auto refuses = [&](const auto& checked_exec) {
    return complaint_of([&] {
             segmented_reduce(checked_exec, items.begin(), offsets.begin(), 2, out.begin());
           }).index == 1;
  };
  EXPECT_TRUE(refuses(checked_tuned));
  EXPECT_TRUE(refuses(tuned_checked));
  EXPECT_TRUE(refuses(checked(plain)));
}

TEST(Checked, IsAnExecutorForEveryVerb) {
  host_executor exec;
  EXPECT_EQ(tilefold::reduce(checked(exec, 1), items), 63);
  EXPECT_EQ(tilefold::count_if(checked(exec), items, [](float x) { return x > 5; }), 3);
  float out = 0;
  reduce_into(checked(exec), items.begin(), items.end(), &out, maximum{});
  EXPECT_EQ(out, 32);
}

TEST(Checked, LooksAtNothingForNoSegments) {
  host_executor exec;
  float out = 5;
  const std::vector<int> offsets{7};
  segmented_reduce(checked(exec, 6), items.begin(), offsets.begin(), 0, &out);
  EXPECT_EQ(out, 5);
}

}  // namespace
}  // namespace tilefold
