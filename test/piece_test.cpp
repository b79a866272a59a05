// SPDX-License-Identifier: Apache-2.0
//
// Pieces: cut anywhere, folded by any executor, merged in any grouping, written and read on the
// way, they give the bits of one call.
#include <tilefold/piece.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/ranks/block_list.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reduce.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/fuse.hpp>
#include <tilefold/reducers/log_sum_exp.hpp>
#include <tilefold/reducers/moments.hpp>
#include <tilefold/reducers/norms.hpp>
#include <tilefold/reducers/top_k.hpp>

#include "support/forged.hpp"
#include "support/message_of.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace {

namespace r = tilefold::reducers;
using tilefold::test::leaf_hashes;
using tilefold::test::message_of;
using tilefold::test::neighbour_tree;
using tilefold::test::node_hash;
using tilefold::test::shape_stream;
using tilefold::test::tree_hash;

// By the definition: from `begin` on, each block the largest that is aligned and ends by `end`, and
// none that its right neighbour completes.
std::vector<std::int64_t> greedy_blocks(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> firsts{begin};
  while (begin < end) {
    std::int64_t size = 1;
    while (begin % (2 * size) == 0 && begin + 2 * size <= end) size *= 2;
    firsts.push_back(begin += size);
  }
  return firsts;
}

TEST(AlignedBlocks, AreTheMaximalOnesOfEveryShortRange) {
  for (std::int64_t begin = 0; begin <= 70; ++begin) {
    for (std::int64_t end = begin; end <= 140; ++end) {
      const auto expected = greedy_blocks(begin, end);
      const tilefold::tree::aligned_blocks blocks{begin, end};
      ASSERT_EQ(blocks.count(), static_cast<int>(expected.size()) - 1) << begin << " " << end;
      for (int i = 0; i <= blocks.count(); ++i) {
        ASSERT_EQ(blocks.first(i), expected[static_cast<std::size_t>(i)]) << begin << " " << end;
        ASSERT_EQ(blocks.number_of(blocks.first(i)), i) << begin << " " << end;
        if (i == blocks.count()) continue;
        ASSERT_EQ(blocks.size_at(blocks.first(i)), blocks.size(i)) << begin << " " << end;
      }
    }
  }
}

TEST(AlignedBlocks, AreAtMostTwiceTheLogarithm) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((tilefold::tree::aligned_blocks{0, most}.count()), 63);
  EXPECT_LE((tilefold::tree::aligned_blocks{1, most}.count()),
            tilefold::tree::aligned_blocks::most);
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 20000; ++i) {
    const auto begin = static_cast<std::int64_t>(bits() >> (1 + bits.below(62)));
    const auto length = static_cast<std::int64_t>(bits() >> (1 + bits.below(62)));
    if (length == 0 || length > most - begin) continue;
    const tilefold::tree::aligned_blocks blocks{begin, begin + length};
    ASSERT_LE(blocks.count(), 2 * tilefold::tree::floor_log2(length) + 1) << begin << " " << length;
    ASSERT_EQ(blocks.first(0), begin);
    ASSERT_EQ(blocks.first(blocks.count()), begin + length);
    for (int b = 0; b < blocks.count(); ++b) {
      ASSERT_TRUE(tilefold::tree::is_power_of_two(blocks.size(b)));
      ASSERT_EQ(blocks.first(b) % blocks.size(b), 0);
      ASSERT_EQ(blocks.number_of(blocks.first(b)), b);
      ASSERT_EQ(blocks.size_at(blocks.first(b)), blocks.size(b));
    }
  }
}

// Random positions 0 = c[0] <= c[1] <= ... = n, some equal.
std::vector<std::int64_t> random_cuts(shape_stream& bits, std::int64_t n, int parts) {
  std::vector<std::int64_t> cuts{0, n};
  for (int i = 1; i < parts; ++i) cuts.push_back(bits.below(n + 1));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

// The pieces of [0, n), merged with neighbours in a random order; some written and read on the way.
template <class Op, class T>
auto merged_at_random(shape_stream& bits, const std::vector<T>& x, Op op) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto cuts = random_cuts(bits, n, 1 + static_cast<int>(bits.below(20)));
  const tilefold::host_executor alone(1), all;
  std::vector<tilefold::piece<T, Op>> pieces;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const auto& exec = bits.one_in(2) ? alone : all;
    // A part in one call, or appended in two.
    const std::int64_t middle = cuts[i] + bits.below(cuts[i + 1] - cuts[i] + 1);
    pieces.push_back(
        tilefold::reduce_piece(exec, x.data() + cuts[i], x.data() + middle, cuts[i], op));
    pieces.back().append(exec, x.begin() + middle, x.begin() + cuts[i + 1]);
  }
  while (pieces.size() > 1) {
    const auto at =
        static_cast<std::size_t>(bits.below(static_cast<std::int64_t>(pieces.size()) - 1));
    if constexpr (std::is_trivially_copyable_v<typename tilefold::piece<T, Op>::accumulator>) {
      if (bits.one_in(3)) {
        const auto bytes = pieces[at].to_bytes();
        EXPECT_LE(bytes.size(), pieces[at].max_bytes());
        pieces[at].merge(pieces[at + 1].from_bytes(pieces[at + 1].to_bytes()));
      } else {
        pieces[at].merge(pieces[at + 1]);
      }
    } else {
      pieces[at].merge(pieces[at + 1]);
    }
    EXPECT_LE(pieces[at].num_blocks(), pieces[at].max_blocks);
    std::vector<tilefold::piece<T, Op>> left;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i != at + 1) left.push_back(pieces[i]);
    }
    pieces.swap(left);
  }
  EXPECT_EQ(pieces[0].begin(), 0);
  EXPECT_EQ(pieces[0].end(), n);
  return pieces[0];
}

TEST(Piece, AnyCutGivesTheTreeOfTheWhole) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 5000; ++i) {
    const auto leaves =
        leaf_hashes(static_cast<std::size_t>(1 + bits.below(i % 100 == 0 ? 5000 : 60)));
    ASSERT_EQ(merged_at_random(bits, leaves, node_hash{}).value(),
              neighbour_tree(node_hash{}, leaves))
        << leaves.size() << " items, round " << i;
  }
}

TEST(Piece, AccumulatorsThatOwnMemory) {
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 60; ++i) {
    std::vector<std::string> x;
    for (std::int64_t k = bits.below(100); k >= 0; --k) x.push_back(std::to_string(k));
    ASSERT_EQ(merged_at_random(bits, x, tilefold::test::expression{}).value(),
              neighbour_tree(tilefold::test::expression{}, x));
  }
}

// Mixed magnitudes and signs, some NaN.
std::vector<float> mixed_floats(shape_stream& bits, std::int64_t n, bool nans) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) {
    v = std::ldexp(static_cast<float>(static_cast<int>(bits.below(2001)) - 1000),
                   static_cast<int>(bits.below(40)) - 20);
    if (nans && bits.one_in(500)) v = std::numeric_limits<float>::quiet_NaN();
  }
  return x;
}

template <class Result>
bool same_bits(const Result& a, const Result& b) {
  if constexpr (std::is_floating_point_v<Result>) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  } else {
    return a == b;
  }
}

template <class Op>
void expect_bits_of_one_call(Op op) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 40; ++i) {
    const auto x = mixed_floats(bits, 1 + bits.below(i < 30 ? 400 : 40000), i % 3 == 0);
    const auto expected = tilefold::reduce(tilefold::host_executor(), x, op);
    const auto got = merged_at_random(bits, x, op).value();
    ASSERT_TRUE(same_bits(got, expected)) << x.size() << " items, round " << i;
  }
}

TEST(Piece, Sums) { expect_bits_of_one_call(tilefold::plus{}); }
TEST(Piece, Extremes) { expect_bits_of_one_call(tilefold::minimum{}); }
TEST(Piece, ExactSums) { expect_bits_of_one_call(r::exact_sum{}); }
TEST(Piece, Means) { expect_bits_of_one_call(r::mean{}); }
TEST(Piece, Variances) { expect_bits_of_one_call(r::variance{}); }
TEST(Piece, LogSumExp) { expect_bits_of_one_call(r::logsumexp{}); }
TEST(Piece, AnOperatorOfOnesOwn) {
  expect_bits_of_one_call([](float a, float b) { return a + b * 0.5f; });
}

TEST(Piece, IndicesCountInTheWhole) {
  shape_stream bits(tilefold::test::seed());
  for (int i = 0; i < 40; ++i) {
    const auto x = mixed_floats(bits, 1 + bits.below(2000), i % 3 == 0);
    const tilefold::host_executor exec;
    const auto least = tilefold::reduce(exec, x, r::arg_min{});
    const auto got = merged_at_random(bits, x, r::arg_min{}).value();
    ASSERT_EQ(got.index, least.index);
    const auto best = tilefold::reduce(exec, x, r::top_k<3>{});
    const auto found = merged_at_random(bits, x, r::top_k<3>{}).value();
    const auto fused = merged_at_random(bits, x, r::fuse(r::mean{}, r::arg_max{})).value();
    ASSERT_EQ(tilefold::get<1>(fused).index, tilefold::reduce(exec, x, r::arg_max{}).index);
    ASSERT_EQ(0, std::memcmp(&best, &found, sizeof best));
  }
}

TEST(Piece, OnePieceOfAPartKnowsItsPlace) {
  const std::vector<int> x{5, 1, 4};
  const auto part = tilefold::reduce_piece(tilefold::host_executor(), x, 100, r::arg_min{});
  EXPECT_EQ(part.begin(), 100);
  EXPECT_EQ(part.end(), 103);
  tilefold::piece<int, r::arg_min<>> whole(r::arg_min{});
  const std::vector<int> before(100, 7);
  whole.append(tilefold::host_executor(), before).merge(part);
  EXPECT_EQ(whole.value().index, 101);
}

TEST(Piece, WhereOrderDoesNotMatterOneAccumulatorIsEnough) {
  EXPECT_EQ((tilefold::piece<int>::max_blocks), 1);
  EXPECT_EQ((tilefold::piece<float, r::exact_sum<>>::max_blocks), 1);
  EXPECT_EQ((tilefold::piece<float>::max_blocks), 126);
  static_assert(std::is_trivially_copyable_v<tilefold::piece<float>>);
  static_assert(sizeof(tilefold::piece<float>) <= 126 * 4 + 32);
}

TEST(Piece, InitialValuesAndNothing) {
  const std::vector<float> x{1e8f, 1.0f, -1e8f, 1.0f};
  const tilefold::host_executor exec;
  const auto part = tilefold::reduce_piece(exec, x, 0);
  EXPECT_EQ(part.value(0.5f), tilefold::reduce(exec, x, 0.5f));
  const tilefold::piece<float> nothing;
  EXPECT_TRUE(std::signbit(nothing.value()));
  EXPECT_EQ(nothing.value(2.0f), 2.0f);
  EXPECT_THROW((void)(tilefold::piece<float, r::mean>().value()), tilefold::empty_range_error);
  const auto told = tilefold::if_empty(r::mean{}, -1.0);
  const tilefold::piece<float, std::remove_const_t<decltype(told)>> empty(told);
  EXPECT_EQ(empty.value(), -1.0);
  EXPECT_EQ(tilefold::reduce_piece<double>(exec, x, 0).value(), tilefold::reduce<double>(exec, x));
  EXPECT_EQ(tilefold::reduce_piece(exec, x.data(), x.data(), 17).num_blocks(), 0);
}

TEST(Piece, ErrorsNameBothPositions) {
  const std::vector<float> x(10, 1.0f);
  const tilefold::host_executor exec;
  auto part = tilefold::reduce_piece(exec, x, 0);
  const auto far = tilefold::reduce_piece(exec, x, 12);
  const std::string gap = message_of<tilefold::invalid_range_error>([&] { part.merge(far); });
  EXPECT_NE(gap.find("ends at 10"), gap.npos) << gap;
  EXPECT_NE(gap.find("begins at 12"), gap.npos) << gap;
  EXPECT_EQ(part.value(), 10.0f);
  const std::string late = message_of<tilefold::invalid_range_error>([&] { (void)far.value(); });
  EXPECT_NE(late.find("begins at 12"), late.npos) << late;
  EXPECT_THROW(tilefold::reduce_piece(exec, x, -1), tilefold::invalid_range_error);
  EXPECT_THROW(tilefold::reduce_piece(exec, x, std::numeric_limits<std::int64_t>::max() - 5),
               tilefold::invalid_range_error);
  EXPECT_THROW(part.append(exec, x.data() + 3, x.data()), tilefold::invalid_range_error);
}

TEST(Piece, AnExceptionLeavesItAsItWas) {
  bool broken = false;
  const auto op = [&broken](std::int64_t a, std::int64_t b) {
    if (broken) throw std::runtime_error("the operator's own");
    return a + 3 * b;
  };
  std::vector<std::int64_t> x(100);
  std::iota(x.begin(), x.end(), 1);
  const tilefold::host_executor exec(1);
  auto part = tilefold::reduce_piece(exec, x, 0, op);
  const auto next = tilefold::reduce_piece(exec, x, 100, op);
  const auto before = part.value();
  broken = true;
  EXPECT_THROW(part.append(exec, x), std::runtime_error);
  EXPECT_THROW(part.merge(next), std::runtime_error);
  broken = false;
  EXPECT_EQ(part.end(), 100);
  EXPECT_EQ(part.value(), before);
  EXPECT_NO_THROW(part.merge(next));
  EXPECT_EQ(part.end(), 200);
}

TEST(PieceBytes, OtherOperatorsTypesAndVersionsAreRefused) {
  const std::vector<float> x{1.0f, 2.0f, 3.0f};
  const tilefold::host_executor exec;
  auto bytes = tilefold::reduce_piece(exec, x, 5).to_bytes();
  EXPECT_EQ(tilefold::piece<float>().from_bytes(bytes).begin(), 5);
  EXPECT_EQ((tilefold::piece<float, r::sum>().from_bytes(bytes).end()), 8);
  const std::string other = message_of<tilefold::format_error>(
      [&] { (tilefold::piece<float, tilefold::maximum>().from_bytes(bytes)); });
  EXPECT_NE(other.find("tilefold::plus of float32"), other.npos) << other;
  EXPECT_NE(other.find("tilefold::maximum of float32"), other.npos) << other;
  EXPECT_THROW((tilefold::piece<double>().from_bytes(bytes)), tilefold::format_error);
  EXPECT_THROW((tilefold::piece<float, tilefold::plus, double>().from_bytes(bytes)),
               tilefold::format_error);
  bytes[4] = std::byte{2};
  const std::string newer =
      message_of<tilefold::format_error>([&] { tilefold::piece<float>().from_bytes(bytes); });
  EXPECT_NE(newer.find("version 2"), newer.npos) << newer;
  EXPECT_THROW(tilefold::piece<float>().from_bytes({}), tilefold::format_error);
}

TEST(PieceBytes, AreTheSameOnEveryMachine) {
  const std::vector<float> x{1.0f, 2.0f, 3.0f};
  const auto bytes = tilefold::reduce_piece(tilefold::host_executor(), x, 2).to_bytes();
  std::string hex;
  for (const std::byte b : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    hex += digits[std::to_integer<int>(b) / 16];
    hex += digits[std::to_integer<int>(b) % 16];
  }
  // TFPC, version 1, 47 letters, 2, 5, {1 + 2, 3}, checksum.
  EXPECT_EQ(hex.substr(0, 24), "54465043010000002f000000");
  EXPECT_EQ(hex.substr(24 + 94, 48), "020000000000000005000000000000000000404000004040");
}

#ifdef TILEFOLD_CLEARS_PADDING
/// Large enough to be copied as a whole.
struct with_gap {
  char letter;
  std::int64_t number;
  std::int64_t others[30];
};

/// Adds numbers, and leaves `dirt` between the members.
struct add_with_dirt {
  with_gap operator()(const with_gap& a, const with_gap& b) const {
    with_gap both;
    std::memset(static_cast<void*>(&both), dirt, sizeof both);
    both.letter = a.letter;
    both.number = a.number + b.number;
    std::copy(std::begin(a.others), std::end(a.others), both.others);
    return both;
  }
  int dirt;
};

TEST(PieceBytes, OfEqualValuesAreEqual) {
  std::vector<with_gap> x(100);
  const auto bytes_with = [&](int dirt) {
    std::memset(static_cast<void*>(x.data()), dirt, x.size() * sizeof(with_gap));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i].letter = 'a';
      x[i].number = static_cast<std::int64_t>(i);
      std::fill(std::begin(x[i].others), std::end(x[i].others), 7);
    }
    return tilefold::reduce_piece(tilefold::host_executor(1), x, 3, add_with_dirt{dirt}).to_bytes();
  };
  EXPECT_EQ(bytes_with(0xff), bytes_with(0xaa));
}
#endif

TEST(PieceBytes, AlteredOnesAreRefused) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const auto x = mixed_floats(bits, 21, false);
  const auto part = tilefold::reduce_piece(tilefold::host_executor(), x, 5);
  const auto sound = part.to_bytes();
  int refused = 0;
  constexpr int mutations = 1000000;
  for (int i = 0; i < mutations; ++i) {
    auto bytes = sound;
    const auto size = static_cast<std::int64_t>(bytes.size());
    switch (bits.below(4)) {
      case 0:  // bits
        for (std::int64_t k = bits.below(3); k >= 0; --k) {
          bytes[static_cast<std::size_t>(bits.below(size))] ^=
              static_cast<std::byte>(1 << bits.below(8));
        }
        break;
      case 1:  // an end
        bytes.resize(static_cast<std::size_t>(bits.below(size)));
        break;
      case 2:  // more
        bytes.insert(bytes.begin() + bits.below(size + 1), static_cast<std::byte>(bits()));
        break;
      default:  // other bytes
        for (std::int64_t k = bits.below(9); k >= 0; --k) {
          bytes[static_cast<std::size_t>(bits.below(size))] = static_cast<std::byte>(bits());
        }
    }
    if (bytes == sound) continue;
    try {
      (void)part.from_bytes(bytes);
    } catch (const tilefold::format_error&) {
      ++refused;
      continue;
    }
    FAIL() << "round " << i << ": altered bytes were taken";
  }
  EXPECT_GT(refused, mutations * 9 / 10);
}

// The piece of ones at [8, 12), one block of four, with `value` in the place of what stands `place`
// bytes into its accumulator; and what from_bytes() says to that.
template <class Op, class T>
std::string refusal_of(Op op, std::ptrdiff_t place, const T& value) {
  const std::vector<double> ones(4, 1.0);
  const auto part = tilefold::reduce_piece(tilefold::host_executor(), ones, 8, op);
  const auto bytes = part.to_bytes();
  EXPECT_EQ(part.from_bytes(bytes).to_bytes(), bytes);
  using accumulator = typename decltype(part)::accumulator;
  const auto size = static_cast<std::ptrdiff_t>(sizeof(accumulator));
  const auto lie = tilefold::test::forged(bytes, place - size - 8, value);
  return message_of<tilefold::format_error>([&] { (void)part.from_bytes(lie); });
}

TEST(PieceBytes, WellFormedLiesAreRefused) {
  const auto expect = [](const std::string& refusal) {
    EXPECT_NE(refusal.find("an accumulator that items 8 to 12 cannot leave"), refusal.npos)
        << refusal;
  };
  const auto of_exact = [&](auto op) {
    using accumulator = typename decltype(tilefold::piece<double, decltype(op)>(op))::accumulator;
    return static_cast<std::ptrdiff_t>(sizeof(accumulator));
  };
  for (const double count : {0.0, -4.0, 3.0, std::nan("")}) {
    expect(refusal_of(r::mean{}, 0, count));
    expect(refusal_of(r::variance{}, 0, count));
    expect(refusal_of(r::skewness{}, 0, count));
    expect(refusal_of(r::geometric_mean{}, 0, count));
    expect(refusal_of(r::rms{}, 0, count));
    expect(refusal_of(r::fuse(r::sum{}, r::mean{}), 8, count));
  }
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{5}}) {
    expect(refusal_of(r::exact_mean{}, of_exact(r::exact_mean{}) - 8, count));
  }
  // Marks stand behind the words of a sum; items that are no zeros leave some.
  for (const std::uint64_t marks : {0, 32}) {
    expect(refusal_of(r::exact_sum{}, of_exact(r::exact_sum{}) - 8, marks));
    expect(refusal_of(r::exact_mean{}, of_exact(r::exact_mean{}) - 16, marks));
    expect(refusal_of(r::exact_sum_of_squares{}, of_exact(r::exact_sum_of_squares{}) - 8, marks));
  }
  for (const std::int64_t index : {std::int64_t{7}, std::int64_t{12}, std::int64_t{-1}}) {
    expect(refusal_of(r::arg_min{}, 8, index));
    expect(refusal_of(r::arg_minmax{}, 24, index));
    expect(refusal_of(r::top_k<2>{}, 8, index));
  }
  // Not the best first; none; one behind those that do not exist.
  expect(refusal_of(r::top_k<2>{}, 8, std::int64_t{10}));
  expect(refusal_of(r::top_k<2>{}, 8, std::int64_t{1} << 62));
  expect(refusal_of(r::any{}, 0, static_cast<unsigned char>(2)));
  EXPECT_NE(refusal_of(r::sum{}, -16, std::int64_t{-1}).find("cannot hold items -1 to 12"),
            std::string::npos);
  EXPECT_NE(refusal_of(r::sum{}, -8, std::int64_t{13}).find("2 accumulators of 8 bytes"),
            std::string::npos);
  // Exponents whose difference would overflow.
  const std::vector<float> ones(4, 1.0f);
  const auto part = tilefold::reduce_piece(tilefold::host_executor(), ones, 8, r::logsumexp{});
  const auto lie = tilefold::test::forged(part.to_bytes(), -12 - 8, std::int32_t{-2000000000});
  expect(message_of<tilefold::format_error>([&] { (void)part.from_bytes(lie); }));
}

TEST(PieceBytes, TooShortForValuesAreRefusedWithTheirSize) {
  // Up to its end a piece, and then no place for values and checksum.
  tilefold::detail::byte_writer out;
  out.number(0x43504654, 4);
  out.number(1, 4);
  out.text(tilefold::piece<float>::signature());
  out.number(0);
  auto bytes = out.finish();  // the end is the checksum of the rest
  const std::string refusal =
      message_of<tilefold::format_error>([&] { (void)tilefold::piece<float>().from_bytes(bytes); });
  EXPECT_EQ(refusal, "tilefold: a piece ends after " + std::to_string(bytes.size()) +
                         " bytes, before its end");
}

}  // namespace
