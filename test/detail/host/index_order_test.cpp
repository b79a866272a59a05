// SPDX-License-Identifier: Apache-2.0
//
// The sort of items by their index on the host, with words of either width: the wide ones serve
// more than 2^32 items, of which no test has as many.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/host/index_order.hpp>
#include <tilefold/host.hpp>

#include "support/indexed.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace host = detail::host;

template <class Word>
void sorts(index_shape shape, std::int64_t n, std::int64_t num_results, int threads) {
  const auto indices = indices_of<std::int64_t>(shape, n, num_results, seed());
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(num_results) + 1, -1);
  host::index_sort<Word> sort(n, num_results, threads);
  sort.read(host::serial(), [&](std::int64_t j) {
    const std::int64_t i = result_of_index(indices[static_cast<std::size_t>(j)], num_results);
    return i < 0 ? num_results : i;
  });
  const auto positions = sort.write_positions(host::serial(), offsets.data());
  const auto expected = positions_by_index(indices, num_results);
  ASSERT_EQ(offsets.front(), 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::vector<std::int64_t> got(positions.get() + offsets[i],
                                        positions.get() + offsets[i + 1]);
    ASSERT_EQ(got, expected[i]) << "result " << i;
  }
}

// One chunk of items, two, and four.
TEST(IndexOrder, SortsWithWordsOfEitherWidth) {
  for (const index_shape shape : {index_shape::power_law, index_shape::outside}) {
    for (const std::int64_t n : {0, 1000, 65537, 200000}) {
      for (const std::int64_t num_results : {2048, 2049, 40003}) {
        for (const int threads : {1, 3}) {
          SCOPED_TRACE(name_of(shape) + ", " + std::to_string(n) + " items, " +
                       std::to_string(num_results) + " results");
          sorts<std::uint32_t>(shape, n, num_results, threads);
          sorts<std::uint64_t>(shape, n, num_results, threads);
        }
      }
    }
  }
}

TEST(IndexOrder, PositionsOfEitherWidth) {
  const std::vector<std::uint32_t> narrow{4, 0, 4000000000};
  const std::vector<std::uint64_t> wide{4, 0, std::uint64_t{1} << 40};
  const host::positions_of_either_width of_narrow{narrow.data(), nullptr};
  const host::positions_of_either_width of_wide{nullptr, wide.data()};
  EXPECT_EQ(*of_narrow, 4);
  EXPECT_EQ(of_narrow[2], 4000000000);
  EXPECT_EQ(*(of_narrow + 1), 0);
  EXPECT_EQ(*of_wide, 4);
  EXPECT_EQ(of_wide[2], std::int64_t{1} << 40);
  EXPECT_EQ((of_wide + 1)[1], std::int64_t{1} << 40);
}

}  // namespace
}  // namespace tilefold::test
