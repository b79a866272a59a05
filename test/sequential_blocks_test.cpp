// SPDX-License-Identifier: Apache-2.0
//
// sequential_blocks() on the host: neighbour trees over blocks, joined from left to right, as an
// oracle that is written down here evaluates them; in every verb. The bits of PyTorch's ordered
// sums are in torch_order_test.cpp.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/reduce_by_index.hpp>
#include <tilefold/sequential_blocks.hpp>
#include <tilefold/tilefold.hpp>

#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/seed.hpp"
#include "support/views.hpp"

namespace tilefold::test {
namespace {

namespace r = tilefold::reducers;

/// The definition, for at least one item.
template <class Op, class T>
T blocks_from_left(const Op& op, const std::vector<T>& x, std::size_t block) {
  std::vector<T> values;
  for (std::size_t first = 0; first < x.size(); first += block) {
    const std::size_t end = first + block < x.size() ? first + block : x.size();
    values.push_back(
        neighbour_tree(op, std::vector<T>(x.begin() + static_cast<std::ptrdiff_t>(first),
                                          x.begin() + static_cast<std::ptrdiff_t>(end))));
  }
  T total = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) total = op(T(total), T(values[i]));
  return total;
}

// Around every number of blocks that is special: none, one, the last that the tree has, the first
// that it does not have, and a last block that is full, of one item, and almost full.
std::vector<std::int64_t> lengths_around(std::int64_t block) {
  std::vector<std::int64_t> lengths{1, 2, 3, 100};
  for (const std::int64_t blocks : {1, 2, 3, 4, 5, 8, 13, 33}) {
    for (const std::int64_t more : {-1, 0, 1}) lengths.push_back(blocks * block + more);
  }
  return lengths;
}

template <class T>
auto bits_of(T value) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
}

TEST(SequentialBlocks, SumsFloatsAndDoublesOfEveryLength) {
  const auto check = [](auto zero, const host_executor& exec) {
    using real = decltype(zero);
    for (const std::int64_t n : lengths_around(8192)) {
      const auto x = make_items<real>(pattern::mixed, n, static_cast<std::uint64_t>(n) + seed());
      const real expected = blocks_from_left(std::plus<real>{}, x, 8192);
      ASSERT_EQ(bits_of(reduce(exec, x, sequential_blocks<8192>(std::plus<>{}))), bits_of(expected))
          << n;
      ASSERT_EQ(bits_of(reduce(exec, x, sequential_blocks<8192>(r::sum{}))), bits_of(expected));
      real out{};
      reduce_into(exec, x, &out, sequential_blocks<8192>(plus{}));
      ASSERT_EQ(bits_of(out), bits_of(expected));
    }
  };
  for (const int threads : {1, 3}) {
    check(0.0f, host_executor(threads));
    check(0.0, host_executor(threads));
  }
}

TEST(SequentialBlocks, IsAnotherOrderFromFourBlocksOn) {
  const auto x = make_items<float>(pattern::near_one, 40 * 8192, 1);
  const auto bits = [&](std::int64_t n) {
    return std::pair(
        bits_of(tilefold::reduce(x.begin(), x.begin() + n)),
        bits_of(tilefold::reduce(x.begin(), x.begin() + n, sequential_blocks<8192>(plus{}))));
  };
  for (const std::int64_t n : {1, 8193, 24575, 24576})
    EXPECT_EQ(bits(n).first, bits(n).second) << n;
  int differ = 0;
  for (std::int64_t n = 5 * 8192; n <= 40 * 8192; n += 8192)
    differ += bits(n).first != bits(n).second;
  EXPECT_GT(differ, 0);
}

TEST(SequentialBlocks, JoinsInTheOrderThatThePictureSays) {
  for (const std::int64_t n : lengths_around(256)) {
    const std::vector<tree_hash> leaves = leaf_hashes(static_cast<std::size_t>(n));
    for (const int threads : {1, 3}) {
      EXPECT_EQ(reduce(host_executor(threads), leaves, sequential_blocks<256>(node_hash{})),
                blocks_from_left(node_hash{}, leaves, 256))
          << n;
    }
  }
}

// More values than are kept at a time, and the shortest blocks.
TEST(SequentialBlocks, TakesManyBlocks) {
  const std::vector<tree_hash> leaves = leaf_hashes(256 * 33000 + 17);
  EXPECT_EQ(reduce(leaves, sequential_blocks<256>(node_hash{})),
            blocks_from_left(node_hash{}, leaves, 256));
}

TEST(SequentialBlocks, TakesAccumulatorsOfAnyType) {
  std::vector<std::string> words;
  for (int i = 0; i < 1200; ++i) words.push_back(std::to_string(i));
  EXPECT_EQ(reduce(words, sequential_blocks<256>(expression{})),
            blocks_from_left(expression{}, words, 256));

  struct constant {
    const float value;
  };
  std::vector<constant> items;
  std::vector<float> values = make_items<float>(pattern::mixed, 1500, seed());
  for (const float value : values) items.push_back({value});
  const auto add = [](const constant& a, const constant& b) { return constant{a.value + b.value}; };
  EXPECT_EQ(bits_of(reduce(items, sequential_blocks<256>(add)).value),
            bits_of(blocks_from_left(std::plus<float>{}, values, 256)));
}

TEST(SequentialBlocks, PutsTheInitialValueInFront) {
  const auto x = make_items<float>(pattern::mixed, 5 * 8192 + 3, seed());
  const float expected = 0.7f + blocks_from_left(std::plus<float>{}, x, 8192);
  EXPECT_EQ(bits_of(reduce(x, 0.7f, sequential_blocks<8192>(plus{}))), bits_of(expected));
  const std::vector<float> zeros(100000, -0.0f);
  EXPECT_EQ(bits_of(reduce(zeros, sequential_blocks<8192>(plus{}))), bits_of(-0.0f));
  EXPECT_EQ(bits_of(reduce(zeros, 0.0f, sequential_blocks<8192>(plus{}))), bits_of(0.0f));
}

TEST(SequentialBlocks, OfNothingIsWhatTheOperatorHas) {
  const std::vector<float> none;
  EXPECT_EQ(bits_of(reduce(none, sequential_blocks<8192>(plus{}))), bits_of(-0.0f));
  EXPECT_EQ(bits_of(reduce(none, 2.0f, sequential_blocks<8192>(plus{}))), bits_of(2.0f));
  EXPECT_THROW(reduce(none, sequential_blocks<8192>([](float a, float b) { return a + b; })),
               empty_range_error);
  EXPECT_EQ(reduce(none, if_empty(sequential_blocks<8192>(r::mean{}), 5.0)), 5.0);
  const auto x = make_items<float>(pattern::mixed, 5 * 8192, seed());
  EXPECT_EQ(bits_of(reduce(x, if_empty(sequential_blocks<8192>(plus{}), 5.0f))),
            bits_of(reduce(x, sequential_blocks<8192>(plus{}))));
}

TEST(SequentialBlocks, SumsHalvesInFloat) {
  for (const std::int64_t n : {std::int64_t{8193}, std::int64_t{50000}}) {
    const auto x = make_items<half>(pattern::near_one, n, seed());
    std::vector<float> wide;
    for (const half item : x) wide.push_back(static_cast<float>(item));
    EXPECT_EQ(bits_of(reduce(x, sequential_blocks<8192>(plus{}))),
              bits_of(blocks_from_left(std::plus<float>{}, wide, 8192)));
  }
}

// Whose value no order can change.
TEST(SequentialBlocks, LeavesIntegersAndMinimaAlone) {
  const auto x = make_items<std::int32_t>(pattern::any_bits, 100000, seed());
  EXPECT_EQ(reduce(x, sequential_blocks<8192>(plus{})), reduce(x));
  EXPECT_EQ(reduce(x, sequential_blocks<8192>(r::arg_min{})).index, reduce(x, r::arg_min{}).index);
}

/// An operator and a reducer whose members have the names of the library's own.
struct greedy_plus : std::plus<float> {
  using ordered_op = int;
  using inner = int;
  static constexpr std::int64_t items_per_block = 4;
};
struct greedy_sum : r::sum {
  using ordered_op = int;
  static constexpr std::int64_t items_per_block = 4;
};

TEST(SequentialBlocks, LeavesMembersOfOperatorsToTheUser) {
  const auto x = make_items<float>(pattern::mixed, 40000, seed());
  const float sum = reduce(x, plus{}), ordered = reduce(x, sequential_blocks<256>(plus{}));
  EXPECT_EQ(bits_of(reduce(x, greedy_plus{})), bits_of(sum));
  EXPECT_EQ(bits_of(reduce(x, greedy_sum{})), bits_of(sum));
  const auto [fused, count] = reduce(x, r::fuse(greedy_sum{}, r::count{}));
  EXPECT_EQ(bits_of(fused), bits_of(sum));
  EXPECT_EQ(count, 40000);
  EXPECT_EQ(bits_of(reduce(x, sequential_blocks<256>(greedy_plus{}))), bits_of(ordered));
}

TEST(SequentialBlocks, TransformsItems) {
  const auto x = make_items<float>(pattern::mixed, 70001, seed());
  const auto y = make_items<float>(pattern::near_one, 70001, seed() + 1);
  std::vector<float> squares, products;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares.push_back(x[i] * x[i]);
    products.push_back(x[i] * y[i]);
  }
  const auto square = [](float v) { return v * v; };
  EXPECT_EQ(bits_of(tilefold::transform_reduce(x, sequential_blocks<8192>(plus{}), square)),
            bits_of(blocks_from_left(std::plus<float>{}, squares, 8192)));
  EXPECT_EQ(bits_of(tilefold::transform_reduce(x.begin(), x.end(), y.begin(), -0.0f,
                                               sequential_blocks<8192>(plus{}), multiplies{})),
            bits_of(blocks_from_left(std::plus<float>{}, products, 8192)));
}

/// Of each item its index in the range, so that it shows where a block counts from.
struct index_hashes {
  using reducer_concept = reducer_tag;
  static constexpr bool indexed = true;
  TILEFOLD_HD tree_hash lift(float, std::int64_t index) const { return leaf_hash(index); }
  TILEFOLD_HD tree_hash combine(const tree_hash& a, const tree_hash& b) const {
    return node_hash{}(a, b);
  }
  TILEFOLD_HD tree_hash project(const tree_hash& a) const { return a; }
  template <class T>
  TILEFOLD_HD tree_hash identity() const {
    return {0, 0};
  }
};

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t n : lengths) offsets.push_back(offsets.back() + n);
  return offsets;
}

TEST(SequentialBlocks, FoldsSegmentsOfAllLengths) {
  std::vector<std::int64_t> lengths{0, 3, 0, 100000};
  for (const std::int64_t n : lengths_around(8192)) lengths.push_back(n);
  lengths.push_back(0);
  const auto offsets = offsets_of(lengths);
  const auto count = static_cast<std::int64_t>(lengths.size());
  const auto x = make_items<double>(pattern::mixed, offsets.back(), seed());
  for (const int threads : {1, 3}) {
    const host_executor exec(threads);
    std::vector<double> out(lengths.size(), 7.0), apart(lengths.size(), 7.0);
    segmented_reduce(exec, x.begin(), offsets.begin(), count, out.begin(),
                     sequential_blocks<8192>(plus{}));
    segmented_reduce(exec, x.begin(), offsets.begin(), offsets.begin() + 1, count, apart.begin(),
                     0.5, sequential_blocks<8192>(plus{}));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::vector<double> segment(x.begin() + offsets[i], x.begin() + offsets[i + 1]);
      const double sum =
          segment.empty() ? -0.0 : blocks_from_left(std::plus<double>{}, segment, 8192);
      ASSERT_EQ(bits_of(out[i]), bits_of(sum)) << i << " of " << lengths[i];
      ASSERT_EQ(bits_of(apart[i]), bits_of(segment.empty() ? 0.5 : 0.5 + sum)) << i;
    }
  }
}

TEST(SequentialBlocks, CountsIndicesFromTheStartOfASegment) {
  const std::vector<std::int64_t> lengths{1000, 5, 0, 2000};
  const auto offsets = offsets_of(lengths);
  const std::vector<float> x(static_cast<std::size_t>(offsets.back()));
  std::vector<tree_hash> out(lengths.size());
  segmented_reduce(x.begin(), offsets.begin(), 4, out.begin(),
                   sequential_blocks<256>(index_hashes{}));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    EXPECT_EQ(out[i],
              blocks_from_left(node_hash{}, leaf_hashes(static_cast<std::size_t>(lengths[i])), 256))
        << i;
  }
  EXPECT_EQ(reduce(x, sequential_blocks<256>(index_hashes{})),
            blocks_from_left(node_hash{}, leaf_hashes(x.size()), 256));
}

TEST(SequentialBlocks, FoldsSegmentsOfOneLengthAndBounded) {
  const auto x = make_items<float>(pattern::mixed, 7 * 40000, seed());
  std::vector<float> out(7);
  segmented_reduce(x.begin(), 7, 40000, out.begin(), sequential_blocks<8192>(plus{}));
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= 7; ++i) offsets.push_back(i * 40000);
  std::vector<float> bounded(7);
  segmented_reduce(x.begin(), offsets.begin(), 7, segment_bound(40000), bounded.begin(),
                   sequential_blocks<8192>(plus{}));
  for (std::size_t i = 0; i < 7; ++i) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(i) * 40000;
    const float sum =
        blocks_from_left(std::plus<float>{}, std::vector<float>(first, first + 40000), 8192);
    EXPECT_EQ(bits_of(out[i]), bits_of(sum));
    EXPECT_EQ(bits_of(bounded[i]), bits_of(sum));
  }
}

TEST(SequentialBlocks, FoldsArrays) {
  const auto a = make_items<float>(pattern::mixed, 100001, seed());
  const auto b = make_items<float>(pattern::mixed, 77, seed() + 1);
  const std::array<const float*, 3> pointers{a.data(), nullptr, b.data()};
  const std::array<int, 3> lengths{100001, 0, 77};
  std::array<float, 3> out{};
  batched_reduce(pointers.begin(), lengths.begin(), 3, out.begin(),
                 sequential_blocks<8192>(plus{}));
  EXPECT_EQ(bits_of(out[0]), bits_of(blocks_from_left(std::plus<float>{}, a, 8192)));
  EXPECT_EQ(bits_of(out[1]), bits_of(-0.0f));
  EXPECT_EQ(bits_of(out[2]), bits_of(blocks_from_left(std::plus<float>{}, b, 8192)));
}

/// Compares every result of an axis reduction with the oracle's, where the kept axis is `kept`.
template <class Exec>
void folds_axes(const Exec& exec, const view_layout& layout, std::size_t kept,
                const axes& reduced) {
  const auto items = make_items<float>(pattern::mixed, layout.span(), seed());
  const std::int64_t width = layout.extents[kept];
  std::vector<float> out(static_cast<std::size_t>(width));
  axis_reduce(exec, test_view{items.data(), layout}, test_view{out.data(), right_layout({width})},
              reduced, sequential_blocks<256>(plus{}));
  for (std::int64_t k = 0; k < width; ++k) {
    std::vector<float> column;
    std::int64_t index[3] = {};
    const auto extent = [&](std::size_t axis) {
      return axis < layout.extents.size() && axis != kept ? layout.extents[axis] : 1;
    };
    for (index[0] = 0; index[0] < extent(0); ++index[0]) {
      for (index[1] = 0; index[1] < extent(1); ++index[1]) {
        for (index[2] = 0; index[2] < extent(2); ++index[2]) {
          std::int64_t at = k * layout.strides[kept];
          for (std::size_t axis = 0; axis < layout.extents.size(); ++axis) {
            if (axis != kept) at += index[axis] * layout.strides[axis];
          }
          column.push_back(items[static_cast<std::size_t>(at)]);
        }
      }
    }
    ASSERT_EQ(bits_of(out[static_cast<std::size_t>(k)]),
              bits_of(blocks_from_left(std::plus<float>{}, column, 256)))
        << layout.text() << "of column " << k;
  }
}

TEST(SequentialBlocks, FoldsAxes) {
  for (const int threads : {1, 3}) {
    const host_executor exec(threads);
    for (const std::int64_t n : {1, 255, 768, 769, 1024, 1025, 2000}) {
      folds_axes(exec, right_layout({n, 5}), 1, axes{0});
      folds_axes(exec, right_layout({n, 1}), 1, axes{0});
      folds_axes(exec, right_layout({5, n}), 0, axes{1});
      folds_axes(exec, right_layout({3, n}, 2, 7), 0, axes{1});
    }
    folds_axes(exec, right_layout({70, 4, 30}), 1, axes{0, 2});
  }
}

TEST(SequentialBlocks, CountsIndicesOfAxesInTheirOrder) {
  const std::vector<float> x(3 * 2000);
  std::vector<tree_hash> out(3);
  axis_reduce(test_view{x.data(), right_layout({2000, 3})},
              test_view{out.data(), right_layout({3})}, axes{0},
              sequential_blocks<256>(index_hashes{}));
  for (const tree_hash& hash : out) {
    EXPECT_EQ(hash, blocks_from_left(node_hash{}, leaf_hashes(2000), 256));
  }
}

TEST(SequentialBlocks, TakesReducers) {
  const auto x = make_items<double>(pattern::near_one, 50000, seed());
  double sum = 0, product = 0;
  sum = blocks_from_left(std::plus<double>{}, x, 8192);
  product = blocks_from_left(std::multiplies<double>{}, x, 8192);
  const auto [a, b] = reduce(x, sequential_blocks<8192>(r::fuse(r::sum{}, r::product{})));
  EXPECT_EQ(bits_of(a), bits_of(sum));
  EXPECT_EQ(bits_of(b), bits_of(product));
  EXPECT_NEAR(reduce(x, sequential_blocks<8192>(r::mean{})), reduce(x, r::mean{}), 1e-12);
  EXPECT_NEAR(reduce(x, sequential_blocks<8192>(r::variance{})), reduce(x, r::variance{}), 1e-9);
}

TEST(SequentialBlocks, FoldsItemsByIndex) {
  const auto x = make_items<float>(pattern::mixed, 90000, seed());
  std::vector<int> index;
  std::vector<std::vector<float>> of(3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    index.push_back(static_cast<int>(i % 7 == 0 ? 2 : i % 2));
    of[static_cast<std::size_t>(index.back())].push_back(x[i]);
  }
  std::vector<float> out(4);
  reduce_by_index(index.begin(), index.end(), x.begin(), 4, out.begin(),
                  sequential_blocks<8192>(plus{}));
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(bits_of(out[k]), bits_of(blocks_from_left(std::plus<float>{}, of[k], 8192))) << k;
  }
  EXPECT_EQ(bits_of(out[3]), bits_of(-0.0f));
}

TEST(SequentialBlocks, GoesWithViewsOfExecutorsAndDeferredSizes) {
  const auto x = make_items<float>(pattern::mixed, 90000, seed());
  const host_executor exec(2);
  const std::array<int, 4> offsets{0, 40000, 40001, 90000};
  const int segments = 3, items = 70000;
  const auto sum = [&](std::int64_t first, std::int64_t last) {
    return blocks_from_left(std::plus<float>{},
                            std::vector<float>(x.begin() + first, x.begin() + last), 8192);
  };
  std::array<float, 3> out{};
  segmented_reduce(checked(exec, 90000), x.begin(), offsets.begin(), 3, out.begin(),
                   sequential_blocks<8192>(plus{}));
  EXPECT_EQ(bits_of(out[2]), bits_of(sum(40001, 90000)));
  segmented_reduce_into(exec, x.begin(), offsets.begin(), deferred(&segments, 3), out.begin(),
                        sequential_blocks<8192>(plus{}));
  EXPECT_EQ(bits_of(out[0]), bits_of(sum(0, 40000)));
  reduce_into(exec, x.begin(), deferred(&items, 90000), out.data(),
              sequential_blocks<8192>(plus{}));
  EXPECT_EQ(bits_of(out[0]), bits_of(sum(0, 70000)));
  EXPECT_EQ(bits_of(tilefold::reduce(with_policy<tile_policy{128, 4}>(exec), x,
                                     sequential_blocks<8192>(plus{}))),
            bits_of(sum(0, 90000)));
}

/// An output that counts how often each place is written.
struct counting_output {
  using difference_type = std::ptrdiff_t;
  std::atomic<int>* writes;
  float* values;

  const counting_output& operator*() const { return *this; }
  void operator=(float value) const {
    ++*writes;
    *values = value;
  }
  friend counting_output operator+(const counting_output& out, std::ptrdiff_t i) {
    return {out.writes + i, out.values + i};
  }
};

TEST(SequentialBlocks, WritesEachResultOnce) {
  const auto x = make_items<float>(pattern::mixed, 5800, seed());
  const std::array<int, 7> offsets{0, 2000, 2000, 5000, 5768, 5768, 5800};
  for (const int threads : {1, 3}) {
    const host_executor exec(threads);
    std::array<std::atomic<int>, 6> writes{};
    std::array<float, 6> out{}, expected{};
    segmented_reduce(exec, x.begin(), offsets.begin(), 6,
                     counting_output{writes.data(), out.data()}, sequential_blocks<256>(plus{}));
    segmented_reduce(exec, x.begin(), offsets.begin(), 6, expected.begin(),
                     sequential_blocks<256>(plus{}));
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(writes[i], 1) << i;
      EXPECT_EQ(bits_of(out[i]), bits_of(expected[i])) << i;
    }
  }
}

TEST(SequentialBlocks, KeepsTheOrderOfColumns) {
  for (const int threads : {1, 3}) {
    for (const std::int64_t n : {769, 2000}) {
      const std::vector<tree_hash> items = leaf_hashes(static_cast<std::size_t>(3 * n));
      std::vector<tree_hash> out(3);
      axis_reduce(host_executor(threads), test_view{items.data(), right_layout({n, 3})},
                  test_view{out.data(), right_layout({3})}, axes{0},
                  sequential_blocks<256>(node_hash{}));
      for (std::size_t k = 0; k < 3; ++k) {
        std::vector<tree_hash> column;
        for (std::size_t i = k; i < items.size(); i += 3) column.push_back(items[i]);
        EXPECT_EQ(out[k], blocks_from_left(node_hash{}, column, 256)) << k << " of " << n;
      }
    }
  }
}

// Proxies of bits, written one after the other.
TEST(SequentialBlocks, WritesThroughProxies) {
  const std::vector<float> x(5000, 1.0f);
  const std::array<int, 4> offsets{0, 2000, 2000, 5000};
  std::vector<bool> out(3, true);
  segmented_reduce(x.begin(), offsets.begin(), 3, out.begin(), 0.0f,
                   sequential_blocks<256>(plus{}));
  EXPECT_EQ(out, (std::vector<bool>{true, false, true}));
}

}  // namespace
}  // namespace tilefold::test
