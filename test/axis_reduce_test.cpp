// SPDX-License-Identifier: Apache-2.0
//
// Reductions of the axes of a view on the host: every result spells the neighbour tree of the
// elements that nested loops gather for it.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/tilefold.hpp>

#include "support/axis_trees.hpp"
#include "support/oracle.hpp"
#include "support/order.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

template <class Exec>
void folds_in_order(const Exec& exec, const view_layout& layout, unsigned reduced,
                    const view_layout& out_layout) {
  const auto items = counted(layout.span());
  std::vector<lifted_hash> out(static_cast<std::size_t>(out_layout.span()), lifted_hash(77u));
  axis_reduce(exec, test_view{items.data(), layout}, test_view{out.data(), out_layout},
              named(reduced), initial, lifted_node_hash{});
  ASSERT_TRUE(holds_trees(out, out_layout, layout, reduced));
}

TEST(AxisReduce, EveryAxisSubsetOfRank4) {
  const std::vector<std::vector<std::int64_t>> shapes{{3, 1, 5, 7},  {2, 3, 4, 1},  {1, 1, 1, 1},
                                                      {17, 2, 1, 8}, {4, 8, 16, 2}, {11, 13, 3, 5}};
  for_every_axis_subset(shapes, [](const view_layout& layout, unsigned reduced) {
    const auto dropped = result_extents(layout, reduced, false);
    const auto kept = result_extents(layout, reduced, true);
    folds_in_order(host_executor(3), layout, reduced, right_layout(dropped));
    folds_in_order(host_executor(1), layout, reduced, left_layout(kept));
    folds_in_order(host_executor(), layout, reduced, right_layout(dropped, 3, 2));
  });
}

TEST(AxisReduce, RanksFrom0To8) {
  for_every_rank([](const view_layout& layout, unsigned reduced) {
    folds_in_order(host_executor(), layout, reduced,
                   right_layout(result_extents(layout, reduced, false)));
  });
}

// Columns that threads share by rows, and blocks of columns that are not whole.
TEST(AxisReduce, TallAndWideMatrices) {
  const std::vector<std::vector<std::int64_t>> shapes{
      {100003, 2}, {30000, 17}, {4099, 64}, {129, 700}, {8, 5000}, {3, 20011}, {2, 1025, 66}};
  for (const auto& extents : shapes) {
    const auto layout = right_layout(extents);
    const unsigned reduced = extents.size() == 2 ? 1u : 2u;
    const auto out = right_layout(result_extents(layout, reduced, false));
    for (const int threads : {1, 2, 5}) {
      folds_in_order(host_executor(threads), layout, reduced, out);
    }
  }
}

TEST(AxisReduce, EmptyExtents) {
  folds_in_order(host_executor(), right_layout({3, 0, 2}), 2u, right_layout({3, 2}));
  folds_in_order(host_executor(), right_layout({3, 0, 2}), 5u, right_layout({0}));
  for_every_result_of_nothing(
      [](const view_layout& layout, unsigned reduced, const view_layout& out) {
        folds_in_order(host_executor(), layout, reduced, out);
      });
  const float* volatile null_items = nullptr;
  std::vector<float> out(2, 5.0f);
  axis_reduce(test_view{static_cast<const float*>(null_items), right_layout({0, 2})},
              test_view{out.data(), right_layout({2})}, 0);
  EXPECT_EQ(out, (std::vector<float>{0.0f, 0.0f}));
  EXPECT_TRUE(std::signbit(out[0]));  // the identity of a sum is -0
  try {
    axis_reduce(test_view{out.data(), right_layout({0, 2})},
                test_view{out.data(), right_layout({2})}, 0, reducers::mean{});
    ADD_FAILURE() << "a mean of nothing";
  } catch (const empty_range_error& e) {
    EXPECT_NE(std::string(e.what()).find("axis_reduce: the range is empty"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("mean"), std::string::npos) << e.what();
  }
}

bool same_bits(float a, float b) {
  return __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b);
}

TEST(AxisReduce, FloatsAreThoseOfReduce) {
  for (const auto& extents : std::vector<std::vector<std::int64_t>>{{70, 30, 90}, {5, 20000, 2}}) {
    const auto layout = right_layout(extents);
    auto items = mixed_floats(layout.span(), seed());
    items[17] = std::numeric_limits<float>::quiet_NaN();
    items[1017] = std::numeric_limits<float>::infinity();
    for (unsigned reduced = 0; reduced < 8; ++reduced) {
      const auto out_layout = right_layout(result_extents(layout, reduced, false));
      std::vector<float> sums(static_cast<std::size_t>(out_layout.span())), least(sums);
      const test_view in{items.data(), layout};
      axis_reduce(host_executor(3), in, test_view{sums.data(), out_layout}, named(reduced), 0.5f);
      axis_reduce(in, test_view{least.data(), out_layout}, named(reduced), minimum{});
      std::size_t k = 0;
      for_each_offset(layout, axes_in(reduced, false, 3), [&](std::int64_t kept) {
        std::vector<float> some;
        for_each_offset(layout, axes_in(reduced, true, 3), [&](std::int64_t offset) {
          some.push_back(items[static_cast<std::size_t>(kept + offset)]);
        });
        const float tree = 0.5f + neighbour_tree([](float a, float b) { return a + b; }, some);
        ASSERT_TRUE(std::isnan(tree) ? std::isnan(sums[k]) : same_bits(sums[k], tree)) << k;
        ASSERT_TRUE(same_bits(sums[k], tilefold::reduce(some, 0.5f)));
        ASSERT_TRUE(same_bits(least[k], tilefold::reduce(some, minimum{})));
        ++k;
      });
    }
  }
}

// Around what is asked for and folded at a time, in blocks of columns and of rows.
TEST(AxisReduce, WideFloatMatricesAreThoseOfReduce) {
  shape_stream bits(seed());
  std::vector<float> items;
  for (int i = 0; i < 2000000; ++i) {
    items.push_back(std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits())),
                               static_cast<int>(bits() % 60) - 60));
  }
  const host_executor executors[]{host_executor(1), host_executor(8)};
  for (const std::int64_t width : {1, 2, 31, 32, 33, 100, 4095, 4096, 4097, 9001}) {
    for (const std::int64_t rows : {1, 7, 8, 9, 63, 200, 20000}) {
      if (width * rows > static_cast<std::int64_t>(items.size())) continue;
      for (const host_executor& exec : executors) {
        std::vector<float> sums(static_cast<std::size_t>(width));
        axis_reduce(exec, test_view{items.data(), right_layout({rows, width})},
                    test_view{sums.data(), right_layout({width})}, 0);
        for (std::int64_t c = 0; c < width; c += 1 + width / 50) {
          std::vector<float> column;
          for (std::int64_t i = 0; i < rows; ++i) {
            column.push_back(items[static_cast<std::size_t>(i * width + c)]);
          }
          ASSERT_TRUE(same_bits(sums[static_cast<std::size_t>(c)], tilefold::reduce(exec, column)))
              << rows << " x " << width << ", column " << c;
        }
      }
    }
  }
}

TEST(AxisReduce, ReducersCountIndicesInRowMajorOrder) {
  // Axes 0 and 2 of 2 x 2 x 3: result j is made of elements (0, j, 0..2), (1, j, 0..2).
  const std::vector<float> items{5, 4, 9, 7, 7, 7, 3, 8, 1, 9, 6, 7};
  const auto at_minimum = reducers::arg_min{};
  std::vector<reducers::indexed_value<float>> out(2);
  for (const auto& layout : {right_layout({2, 2, 3}), left_layout({2, 2, 3})}) {
    std::vector<float> laid_out(items.size());
    std::size_t k = 0;
    for_each_offset(layout, {0, 1, 2}, [&](std::int64_t offset) {
      laid_out[static_cast<std::size_t>(offset)] = items[k++];
    });
    axis_reduce(test_view{laid_out.data(), layout}, test_view{out.data(), right_layout({2})},
                axes{2, 0}, at_minimum);
    EXPECT_EQ(out[0].value, 1);
    EXPECT_EQ(out[0].index, 5);
    EXPECT_EQ(out[1].value, 6);
    EXPECT_EQ(out[1].index, 4);
  }
  // Columns.
  axis_reduce(test_view{items.data(), right_layout({6, 2})},
              test_view{out.data(), right_layout({2})}, 0, at_minimum);
  EXPECT_EQ(out[0].value, 1);
  EXPECT_EQ(out[0].index, 4);
  EXPECT_EQ(out[1].value, 4);
  EXPECT_EQ(out[1].index, 0);
}

TEST(AxisReduce, FusedReducersInOneRead) {
  const auto items = mixed_floats(999 * 4, seed());
  const auto both = reducers::fuse(reducers::mean{}, reducers::min{});
  using pair = decltype(tilefold::reduce(items, both));
  std::vector<pair> out(4);
  axis_reduce(test_view{items.data(), right_layout({999, 4})},
              test_view{out.data(), right_layout({1, 4})}, 0, both);
  for (std::size_t c = 0; c < 4; ++c) {
    std::vector<float> column;
    for (std::size_t r = 0; r < 999; ++r) column.push_back(items[r * 4 + c]);
    const auto [mean, least] = tilefold::reduce(column, both);
    const auto& [got_mean, got_least] = out[c];
    EXPECT_EQ(got_mean, mean);
    EXPECT_EQ(got_least, least);
  }
}

TEST(AxisReduce, NamesTheAccumulatorAndTakesAnInitialValue) {
  const std::vector<std::int8_t> items{100, 1, 100, 2, 100, -3};
  std::vector<std::int64_t> out(2);
  axis_reduce<std::int64_t>(host_executor(), test_view{items.data(), right_layout({3, 2})},
                            test_view{out.data(), right_layout({2})}, axes{0}, 1000);
  EXPECT_EQ(out, (std::vector<std::int64_t>{1300, 1000}));
}

// An accumulator that does not fit registers, through iterators that are no pointers.
TEST(AxisReduce, TakesStringsAndAnyIterator) {
  const std::vector<std::string> items{"a", "b", "c", "d", "e", "f"};
  std::vector<std::string> out(2);
  axis_reduce(test_view{items.begin(), right_layout({3, 2})},
              test_view{out.begin(), right_layout({2})}, axes{0}, std::string("_"), expression{});
  EXPECT_EQ(out, (std::vector<std::string>{"(_,((a,c),e))", "(_,((b,d),f))"}));
  std::vector<bool> bits(100), any(10);
  bits[37] = true;
  axis_reduce(test_view{bits.begin(), right_layout({10, 10})},
              test_view{any.begin(), right_layout({10})}, 0, logical_or{});
  for (std::size_t c = 0; c < 10; ++c) EXPECT_EQ(any[c], c == 7);
}

// A row read again and again, and one read from its end.
TEST(AxisReduce, StridesMayBeZeroOrNegative) {
  const std::vector<std::uint32_t> items{1, 2, 3, 4};
  std::vector<std::uint32_t> sums(4), rows(3);
  const test_view again{items.data(), {{3, 4}, {0, 1}}};
  axis_reduce(again, test_view{sums.data(), right_layout({4})}, 0);
  EXPECT_EQ(sums, (std::vector<std::uint32_t>{3, 6, 9, 12}));
  axis_reduce(again, test_view{rows.data(), right_layout({3})}, 1);
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{10, 10, 10}));
  const test_view backwards{items.data() + 3, {{2, 2}, {-2, -1}}};
  axis_reduce(backwards, test_view{sums.data(), right_layout({2})}, 1);
  EXPECT_EQ(sums[0], 7u);
  EXPECT_EQ(sums[1], 3u);
}

// Of an empty view they are the caller's affair; of another one they lead to no element.
TEST(AxisReduce, StridesMayLeadAnywhereIfThereIsNothing) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const float item = 1;
  std::vector<float> out(4, 42.0f);
  for (const std::int64_t stride : {most, -most - 1}) {
    const test_view none{&item, {{2, 2, 0}, {stride, stride, stride}}};
    axis_reduce(none, test_view{out.data(), right_layout({2, 2})}, 2);
    EXPECT_EQ(out, std::vector<float>(4, -0.0f));
    const test_view some{&item, {{2, 2}, {stride, stride}}};
    EXPECT_THROW(axis_reduce(some, test_view{out.data(), right_layout({2})}, 1), shape_error);
  }
}

TEST(AxisReduce, ErrorsNameTheValue) {
  std::vector<float> items(24, 1.0f), out(24, 3.0f);
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  const test_view in{items.data(), right_layout({2, 3, 4})};
  const auto to = [&](std::vector<std::int64_t> extents) {
    return test_view{out.data(), right_layout(extents)};
  };
  const std::string start = "tilefold::axis_reduce: ";
  EXPECT_EQ(message([&] { axis_reduce(in, to({2, 3}), 3); }),
            start + "there is no axis 3 in a view of rank 3");
  EXPECT_EQ(message([&] { axis_reduce(in, to({2, 3}), -1); }),
            start + "there is no axis -1 in a view of rank 3");
  EXPECT_EQ(message([&] { axis_reduce(in, to({2}), 2, 1, 2); }), start + "axis 2 is named twice");
  EXPECT_EQ(message([&] { axis_reduce(in, to({2, 3}), 0, 2); }),
            start +
                "out has rank 2, but must have rank 1, or 3 with extents of 1 where axes are "
                "reduced");
  EXPECT_EQ(message([&] { axis_reduce(in, to({2, 5}), 1); }),
            start + "axis 1 of out has extent 5, but axis 2 of in has 4");
  EXPECT_EQ(message([&] { axis_reduce(in, to({2, 3, 4}), 1); }),
            start + "axis 1 of out has extent 3, but must have 1, for axis 1 of in is reduced");
  EXPECT_EQ(
      message([&] { axis_reduce(test_view{items.data(), view_layout{{-2}, {1}}}, to({}), 0); }),
      start + "the extent of axis 0 of in is -2");
  const test_view nine{items.data(), right_layout(std::vector<std::int64_t>(9, 1))};
  EXPECT_EQ(message([&] { axis_reduce(nine, to({}), 0); }), start + "in has rank 9; the most is 8");
  const float* volatile null_items = nullptr;
  const test_view nothing{static_cast<const float*>(null_items), right_layout({2, 3})};
  EXPECT_EQ(message([&] { axis_reduce(nothing, to({2}), 1); }),
            "tilefold: in is a null pointer, but there is something to read or write");
  float* volatile null_out = nullptr;
  const test_view nowhere{static_cast<float*>(null_out), right_layout({2, 3})};
  EXPECT_EQ(message([&] { axis_reduce(in, nowhere, 2); }),
            "tilefold: out is a null pointer, but there is something to read or write");
  EXPECT_EQ(out, std::vector<float>(24, 3.0f));
}

}  // namespace
}  // namespace tilefold::test
