// SPDX-License-Identifier: Apache-2.0
//
// Which iterators copy rows: ours that say so. A user's member named copy may mean something else.
#include <cstdint>

#include <gtest/gtest.h>

#include <tilefold/detail/core/strided.hpp>

namespace tilefold::detail {
namespace {

struct users_iterator {
  using value_type = float;
  using difference_type = std::int64_t;
  using reference = const float&;

  const float* at;

  reference operator*() const { return *at; }
  reference operator[](std::int64_t i) const { return at[i]; }
  void copy(std::int64_t, std::int64_t, float*) const {}
};

TEST(CopiesRows, NeedsATagOfItsOwn) {
  EXPECT_TRUE(copies_rows<strided_items<const float*>>);
  EXPECT_TRUE(copies_rows<strided_items<strided_items<const float*>>>);
  EXPECT_FALSE(copies_rows<users_iterator>);
  EXPECT_FALSE(copies_rows<strided_items<users_iterator>>);
  EXPECT_FALSE(copies_rows<const float*>);
}

}  // namespace
}  // namespace tilefold::detail
