// SPDX-License-Identifier: Apache-2.0
//
// The headers behind macros that other headers define: min and max of windows.h, None and the like
// of X11. Whatever expands one of them does not compile. (The standard library's headers do not
// survive the macros, so they come first.)
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
}

}  // namespace
}  // namespace tilefold::test
