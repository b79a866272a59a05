// SPDX-License-Identifier: Apache-2.0
//
// Statistics that the host folds by blocks with vector instructions: the definition's bits under
// every instruction set, at the ends of blocks, and where a block holds what is not finite.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/host/simd.hpp>

#include "../support/seed.hpp"
#include "../support/views.hpp"
#include "cases.hpp"

namespace tilefold::test {
namespace {

template <class T>
void expect_definition(const std::vector<T>& x, const std::string& what) {
  SCOPED_TRACE(what + ", n = " + std::to_string(x.size()));
  const auto five = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});
  EXPECT_EQ(bits_of(tilefold::reduce(x, five)), bits_of(by_definition(five, x)));
  EXPECT_EQ(bits_of(tilefold::reduce(x, r::mean{})), bits_of(by_definition(r::mean{}, x)));
  const auto nested = r::fuse(r::sum{}, r::fuse(r::mean_variance{}, r::max<nan_rule::ignore>{}));
  EXPECT_EQ(bits_of(tilefold::reduce(x, nested)), bits_of(by_definition(nested, x)));
}

template <class T>
void expect_definition_of_all_kinds() {
  for (const std::int64_t n :
       {1,   2,   3,   4,    5,    8,    31,   63,   64,   100,  127,   128,   255,
        256, 511, 512, 1000, 1024, 2048, 4096, 4097, 8191, 8192, 20011, 200003}) {
    expect_definition(make_items<T>(pattern::mixed, n, seed()), "mixed");
  }
  for (const pattern p : reducer_patterns<T>()) {
    expect_definition(make_items<T>(p, 20011, seed()), name_of(p));
  }
  auto x = make_items<T>(pattern::near_one, 20011, seed());
  x[5000] = std::numeric_limits<T>::infinity();
  expect_definition(x, "an infinity in the second block");
  x[5000] = x[15000] = std::numeric_limits<T>::max();
  expect_definition(x, "sums that overflow");
}

TEST(StatisticsByBlocks, HaveTheDefinitionsBits) {
  for (int i = 0; detail::host::simd_target(i) != nullptr; ++i) {
    SCOPED_TRACE(detail::host::simd_target(i));
    detail::host::use_simd_target(detail::host::simd_target(i));
    expect_definition_of_all_kinds<float>();
    expect_definition_of_all_kinds<double>();
  }
  detail::host::use_simd_target(nullptr);
}

// Rows of every length up to a few vectors: blocks of a power of two, and what is left over.
TEST(StatisticsByBlocks, OfRowsAreThoseOfEachRow) {
  const auto five = r::fuse(r::count{}, r::mean{}, r::variance{}, r::min{}, r::max{});
  for (const pattern p : reducer_patterns<float>()) {
    SCOPED_TRACE(name_of(p));
    const auto items = make_items<float>(p, 20000, seed());
    for (const std::int64_t n : {1, 2, 3, 5, 16, 63, 64, 100, 129, 255, 256, 1000, 1024, 5000}) {
      const std::int64_t rows = std::min<std::int64_t>(20000 / n, 40);
      std::vector<decltype(tilefold::reduce(items, five))> out(static_cast<std::size_t>(rows));
      tilefold::axis_reduce(host_executor(1), test_view{items.data(), right_layout({rows, n})},
                            test_view{out.data(), right_layout({rows})}, 1, five);
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto first = items.begin() + i * n;
        ASSERT_EQ(bits_of(out[static_cast<std::size_t>(i)]),
                  bits_of(by_definition(five, std::vector<float>(first, first + n))))
            << "row " << i << " of " << n;
      }
    }
  }
}

}  // namespace
}  // namespace tilefold::test
