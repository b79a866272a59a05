// SPDX-License-Identifier: Apache-2.0
//
// The headers behind macros that other headers define: min and max of windows.h, None and the like
// of X11. Whatever expands one of them does not compile. (The standard library's headers do not
// survive the macros, so they come first.) CMake adds warnings that a user's -Werror may have.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#define min(a, b) expands_the_macro_min
#define max(a, b) expands_the_macro_max
#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Success 0
#define Always 2
#define Above 0
#define Below 1

#include <tilefold/piece.hpp>
#include <tilefold/precompiled.hpp>
#include <tilefold/ranks.hpp>
#include <tilefold/thrust_compat.hpp>
#include <tilefold/tilefold.hpp>

namespace tilefold::test {
namespace {

TEST(Macros, OfOthersLeaveTheHeadersAlone) {
  const std::vector<int> x{3, 1, 2};
  EXPECT_EQ(reduce(x), 6);
  EXPECT_EQ(reduce(x, reducers::min{}), 1);
  EXPECT_EQ(reduce(x, maximum{}), 3);
  EXPECT_EQ(max_element(x) - x.begin(), 0);
  EXPECT_EQ(mean(x), 2.0);
  EXPECT_EQ(variance(x), 1.0);
  EXPECT_EQ(norm(x, reducers::l1{}), 6.0);
  EXPECT_GT(logsumexp(x), 3.0);
  EXPECT_EQ(reduce(x, reducers::exact_sum<double>{}), 6.0);
  EXPECT_TRUE(reduce(x, reducers::checked_sum<>{}).fits);
  const std::vector<float> y{0.5f, 2.5f};
  EXPECT_EQ(reduce<int>(y), 2);
  EXPECT_TRUE(reduce(y, reducers::any{}));
  EXPECT_EQ(reduce(x, reducers::fuse(reducers::count{}, reducers::mean{})).get<0>(), 3);
  std::vector<int> sums(2), keys(3), values(3);
  const std::vector<int> offsets{0, 1, 3};
  segmented_reduce(x.begin(), offsets.begin(), 2, sums.begin());
  EXPECT_EQ(sums, (std::vector<int>{3, 3}));
  EXPECT_EQ(reduce_by_key(x.begin(), x.end(), x.begin(), keys.begin(), values.begin()), 3);
}

}  // namespace
}  // namespace tilefold::test
