// SPDX-License-Identifier: Apache-2.0
//
// The size queries of the CUDA executor answer, or throw an error that names the size, for every
// number; what they answer is enough for what launches ask for. Needs no GPU.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/piece.hpp>
#include <tilefold/tilefold.cuh>

#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace gpu = detail::cuda;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

/// What a query answers; nothing if it throws, which it may as invalid_range_error only, and with
/// one of its numbers.
template <class Query, class... Sizes>
std::optional<std::int64_t> answer(Query query, Sizes... sizes) {
  try {
    const std::int64_t bytes = query(sizes...);
    EXPECT_GE(bytes, 0);
    return bytes;
  } catch (const invalid_range_error& e) {
    const std::string text = e.what();
    const bool named = (... || (text.find(std::to_string(sizes)) != std::string::npos));
    // Too many partial results: how many they are, and the bytes of each, are named.
    EXPECT_TRUE(named) << text;
    return std::nullopt;
  }
}

const auto of_fold = [](std::int64_t n, std::int64_t item_bytes, std::int64_t acc_bytes) {
  return cuda_executor::workspace_bytes(n, item_bytes, acc_bytes);
};
const auto of_piece = [](std::int64_t n, std::int64_t item_bytes, std::int64_t acc_bytes) {
  return cuda_executor::piece_workspace_bytes(n, item_bytes, acc_bytes);
};
const auto of_segments = [](std::int64_t segments, std::int64_t acc_bytes) {
  return cuda_executor::segments_workspace_bytes(segments, acc_bytes);
};
const auto of_equal_segments = [](std::int64_t segments, std::int64_t size, std::int64_t item_bytes,
                                  std::int64_t acc_bytes) {
  return cuda_executor::equal_segments_workspace_bytes(segments, size, item_bytes, acc_bytes);
};
const auto of_keys = [](std::int64_t n, std::int64_t acc_bytes) {
  return cuda_executor::by_key_workspace_bytes(n, acc_bytes);
};

/// Numbers at which arithmetic goes wrong.
std::vector<std::int64_t> edges() {
  std::vector<std::int64_t> result{least, least + 1, most, most - 1};
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t power = std::int64_t{1} << bit;
    for (const std::int64_t x : {power - 1, power, power + 1}) {
      result.push_back(x);
      result.push_back(-x);
    }
  }
  return result;
}

/// Numbers of all magnitudes.
std::int64_t any_number(shape_stream& bits) {
  const auto x = static_cast<std::int64_t>(bits());
  return x >> bits() % 64;
}

TEST(CudaSizes, OfNothing) {
  EXPECT_EQ(cuda_executor::workspace_bytes(0, 4, 4), 0);
  EXPECT_EQ(cuda_executor::piece_workspace_bytes(0, 4, 4), 0);
  EXPECT_EQ(cuda_executor::segments_workspace_bytes(0, 8), 0);
  EXPECT_EQ(cuda_executor::equal_segments_workspace_bytes(0, 1 << 20, 4, 8), 0);
  EXPECT_EQ(cuda_executor::equal_segments_workspace_bytes(1000, 0, 4, 8), 0);
  EXPECT_EQ(cuda_executor::by_key_workspace_bytes(0, 8), 0);
}

TEST(CudaSizes, ThatNobodyCanMeanAreNamed) {
  for (const std::int64_t bad : {least, std::int64_t{-7}, std::int64_t{-1}}) {
    EXPECT_EQ(answer(of_fold, bad, 4, 4), std::nullopt);
    EXPECT_EQ(answer(of_piece, bad, 4, 4), std::nullopt);
    EXPECT_EQ(answer(of_segments, bad, 4), std::nullopt);
    EXPECT_EQ(answer(of_equal_segments, bad, 4, 4, 4), std::nullopt);
    EXPECT_EQ(answer(of_equal_segments, 4, bad, 4, 4), std::nullopt);
    EXPECT_EQ(answer(of_keys, bad, 4), std::nullopt);
  }
  for (const std::int64_t bad : {least, std::int64_t{-3}, std::int64_t{0}}) {
    EXPECT_EQ(answer(of_fold, 1000, bad, 4), std::nullopt);
    EXPECT_EQ(answer(of_fold, 1000, 4, bad), std::nullopt);
    EXPECT_EQ(answer(of_piece, 1000, bad, 4), std::nullopt);
    EXPECT_EQ(answer(of_piece, 1000, 4, bad), std::nullopt);
    EXPECT_EQ(answer(of_segments, 1000, bad), std::nullopt);
    EXPECT_EQ(answer(of_equal_segments, 9, 1000, bad, 4), std::nullopt);
    EXPECT_EQ(answer(of_equal_segments, 9, 1000, 4, bad), std::nullopt);
    EXPECT_EQ(answer(of_keys, 1000, bad), std::nullopt);
  }
  EXPECT_EQ(answer(of_keys, (std::int64_t{1} << 35) + 1, 4), std::nullopt);
  // More partial results than memory, whose number is no size of the caller's.
  EXPECT_THROW(cuda_executor::workspace_bytes(most, 4, most), invalid_range_error);
  EXPECT_THROW(cuda_executor::piece_workspace_bytes(most, 4, most), invalid_range_error);
  // But 2^63 - 1 items are a size.
  EXPECT_GT(answer(of_piece, most, 4, 4), std::nullopt);
  EXPECT_GT(answer(of_fold, most, 4, 4), std::nullopt);
}

TEST(CudaSizes, AnswerAtEveryEdge) {
  const std::vector<std::int64_t> all = edges();
  shape_stream bits(seed());
  for (const std::int64_t x : all) {
    for (std::size_t i = bits() % 16; i < all.size(); i += 1 + bits() % 31) {
      const std::int64_t y = all[i];
      (void)answer(of_fold, x, 4, y);
      (void)answer(of_fold, x, y, 8);
      (void)answer(of_fold, 1 << 20, x, y);
      (void)answer(of_piece, x, 4, y);
      (void)answer(of_piece, x, y, 8);
      (void)answer(of_piece, 1 << 20, x, y);
      (void)answer(of_segments, x, y);
      (void)answer(of_equal_segments, x, y, 4, 8);
      (void)answer(of_equal_segments, x, 1 << 20, y, 8);
      (void)answer(of_equal_segments, 100, x, 2, y);
      (void)answer(of_keys, x, y);
    }
  }
}

TEST(CudaSizes, AnswerForAnyNumbersAndDoNotFall) {
  shape_stream bits(seed());
  const auto rises = [](std::optional<std::int64_t> of_fewer, std::optional<std::int64_t> of_more) {
    return !of_more || (of_fewer && *of_fewer <= *of_more);
  };
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t a = any_number(bits);
    const std::int64_t b = any_number(bits);
    const std::int64_t c = any_number(bits);
    const std::int64_t d = any_number(bits);
    const auto text = [&] {
      return std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c) + ", " +
             std::to_string(d);
    };
    const auto fold = answer(of_fold, a, c, d);
    const auto piece = answer(of_piece, a, c, d);
    const auto segments = answer(of_segments, a, c);
    const auto equal = answer(of_equal_segments, a, b, c, d);
    const auto keys = answer(of_keys, a, c);
    if (a <= 0) continue;
    const auto fewer = static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(a));
    ASSERT_TRUE(rises(answer(of_fold, fewer, c, d), fold)) << text() << ": " << fewer;
    ASSERT_TRUE(rises(answer(of_piece, fewer, c, d), piece)) << text() << ": " << fewer;
    ASSERT_TRUE(!piece || (fold && *fold <= *piece)) << text();
    ASSERT_TRUE(rises(answer(of_segments, fewer, c), segments)) << text() << ": " << fewer;
    ASSERT_TRUE(rises(answer(of_keys, fewer, c), keys)) << text() << ": " << fewer;
    ASSERT_TRUE(rises(answer(of_equal_segments, fewer, b, c, d), equal)) << text() << ": " << fewer;
    if (b <= 0) continue;
    const auto shorter = static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(b));
    ASSERT_TRUE(rises(answer(of_equal_segments, fewer, shorter, c, d), equal))
        << text() << ": " << fewer << " of " << shorter;
  }
}

/// Everything that launches of a fold by default may ask for, of a reducer with these short tiles.
std::vector<gpu::workspace_demand> demands_with(tile_policy short_tile, std::int64_t n,
                                                int item_bytes, std::int64_t acc_bytes) {
  std::vector<gpu::workspace_demand> all;
  const tile_policy tiles = gpu::policy_for(item_bytes, static_cast<int>(acc_bytes));
  if (n > short_tile.tile()) {
    const std::int64_t lists =
        detail::smaller(gpu::most_short_blocks, tree::num_blocks(n, tiles.tile()));
    all.push_back({lists > 1 ? lists * acc_bytes : 0, sizeof(unsigned)});
  }
  if (n <= gpu::most_short_range_items(short_tile, acc_bytes)) {
    // As launch_short() asks.
    for (const bool clusters : {false, true}) {
      for (const int nt : {32, 256, 1024}) {
        for (const int parts : {1, 2, 16}) {
          gpu::launch_tuning tuning = gpu::h200_tuning;
          tuning.short_nt = nt;
          tuning.short_tile_parts = parts;
          const gpu::grid_shape grid = gpu::short_shape_for(short_tile, n, clusters, tuning);
          if (grid.blocks > 1 && !grid.cluster) all.push_back(gpu::short_demand(acc_bytes));
        }
      }
    }
    return all;
  }
  all.push_back(gpu::demand(tiles, n, acc_bytes));
  if (gpu::pays_to_stage(item_bytes, acc_bytes)) {
    const tile_policy staged = gpu::staged_shape_for(item_bytes, acc_bytes).policy();
    all.push_back(gpu::demand(staged, n, acc_bytes));
    // As launch_fold() chooses, also on a GPU of 256 SMs.
    if (!gpu::pays_to_stage_range(n, item_bytes, staged.tile()) || n < 256 * staged.tile()) {
      all.push_back(gpu::demand(gpu::unstaged_policy_for(item_bytes, static_cast<int>(acc_bytes)),
                                n, acc_bytes));
    }
  }
  const tile_policy free =
      gpu::any_order_policy_for(item_bytes, static_cast<std::size_t>(acc_bytes));
  // As launch_any_order() bounds them, on GPUs that hold few blocks or many.
  for (const std::int64_t resident : {1, 100, 264, 2112, 4224, 1 << 20}) {
    const std::int64_t blocks = detail::smaller(
        detail::smaller((n - free.vt) / free.tile(), tree::num_blocks(n, tiles.tile())),
        detail::smaller(gpu::most_any_order_blocks, resident));
    // With a flag behind the counters.
    const gpu::workspace_demand plain = gpu::partials_demand(free, blocks, acc_bytes);
    all.push_back({detail::larger(plain.partial_bytes, acc_bytes),
                   plain.arrival_bytes + static_cast<std::int64_t>(sizeof(unsigned))});
  }
  return all;
}

/// Of any reducer.
std::vector<gpu::workspace_demand> demands_of(std::int64_t n, int item_bytes,
                                              std::int64_t acc_bytes) {
  std::vector<gpu::workspace_demand> all =
      demands_with(gpu::short_policy_for(item_bytes), n, item_bytes, acc_bytes);
  for (const bool in_any_order : {false, true}) {
    const tile_policy short_tile =
        gpu::short_policy_for(item_bytes, static_cast<int>(acc_bytes), in_any_order);
    const auto more = demands_with(short_tile, n, item_bytes, acc_bytes);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

TEST(CudaSizes, AreEnoughForEveryFold) {
  shape_stream bits(seed());
  for (const int item_bytes : {1, 2, 3, 4, 8, 12, 16, 24, 40, 64, 100, 512, 4096}) {
    for (const std::int64_t acc_bytes : {1, 4, 8, 12, 16, 24, 48, 64, 200, 512, 1024, 5000}) {
      for (int i = 0; i < 300; ++i) {
        const std::int64_t n = 1 + static_cast<std::int64_t>(bits() >> (24 + bits() % 40));
        const std::int64_t bytes = cuda_executor::workspace_bytes(n, item_bytes, acc_bytes);
        for (const gpu::workspace_demand& demand : demands_of(n, item_bytes, acc_bytes)) {
          ASSERT_TRUE(demand.fits(bytes))
              << n << " items of " << item_bytes << ", accumulators of " << acc_bytes << ": "
              << bytes << " bytes, not " << demand.bytes();
        }
      }
    }
  }
}

// The nodes of every level that lie in a piece, and the groups that they are of, counted.
TEST(CudaSizes, AreEnoughForEveryPiece) {
  shape_stream bits(seed());
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(bits() >> (24 + bits() % 40));
    const std::int64_t begin = static_cast<std::int64_t>(bits() >> (1 + bits() % 60)) / 2;
    const int item_bytes = 1 + static_cast<int>(bits() % 64);
    const std::int64_t acc_bytes = 1 + static_cast<std::int64_t>(bits() % 100);
    const std::int64_t bytes = cuda_executor::piece_workspace_bytes(n, item_bytes, acc_bytes);
    std::vector<tile_policy> policies{gpu::policy_for(item_bytes, static_cast<int>(acc_bytes))};
    if (gpu::pays_to_stage(item_bytes, acc_bytes)) {
      policies.push_back(gpu::staged_shape_for(item_bytes, acc_bytes).policy());
    }
    for (const tile_policy policy : policies) {
      std::int64_t first = begin / policy.tile() + (begin % policy.tile() != 0);
      std::int64_t last = (begin + n) / policy.tile();
      gpu::workspace_demand needed{0, 0};
      while (first < last) {
        const std::int64_t group = gpu::group_size(policy);
        needed.partial_bytes += (last - first) * acc_bytes;
        needed.arrival_bytes += ((last - 1) / group - first / group + 1) * 4;
        first = first / group + (first % group != 0);
        last /= group;
      }
      ASSERT_TRUE(needed.fits(bytes)) << n << " items of " << item_bytes << " from " << begin
                                      << ", accumulators of " << acc_bytes << ": " << bytes;
      const gpu::workspace_demand asked = gpu::piece_demand(policy, n, acc_bytes);
      ASSERT_GE(asked.partial_bytes, needed.partial_bytes);
      ASSERT_GE(asked.arrival_bytes, needed.arrival_bytes);
      ASSERT_TRUE(asked.fits(bytes)) << n << ", " << acc_bytes;
    }
  }
}

// An accumulator for every 2^12 items, or fewer of structs that are staged as they are; 1/30 of
// that for bookkeeping, 1/25 where they are fewer; and 64 KiB.
TEST(CudaSizes, AreSmall) {
  struct fold {
    int item_bytes, acc_bytes, items_of_partial;
  };
  for (const fold& f :
       {fold{1, 1, 4096}, {1, 4, 4096},   {1, 8, 4096},   {2, 2, 4096},   {2, 4, 4096},
        {4, 4, 4096},     {4, 8, 4096},   {4, 24, 4096},  {4, 64, 4096},  {6, 6, 4096},
        {8, 8, 4096},     {8, 32, 4096},  {12, 4, 4096},  {12, 12, 4096}, {16, 16, 4096},
        {20, 20, 2048},   {24, 24, 2048}, {32, 32, 2048}, {48, 48, 1024}, {64, 64, 1024},
        {80, 80, 256},    {96, 96, 256},  {128, 128, 256}}) {
    for (int exponent = 0; exponent <= 34; ++exponent) {
      const std::int64_t n = (std::int64_t{1} << exponent) + 1;
      const std::int64_t partials = n / f.items_of_partial * f.acc_bytes;
      EXPECT_LE(cuda_executor::workspace_bytes(n, f.item_bytes, f.acc_bytes),
                partials + partials / (f.items_of_partial < 4096 ? 25 : 30) + (64 << 10))
          << n << " items of " << f.item_bytes << " bytes, accumulators of " << f.acc_bytes;
    }
  }
}

// As launch_equal_trees_by_blocks() cuts trees, on a GPU that holds `resident` blocks.
TEST(CudaSizes, AreEnoughForSegmentsOfOneLength) {
  shape_stream bits(seed());
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t trees = 1 + static_cast<std::int64_t>(bits() >> (34 + bits() % 30));
    const std::int64_t length = 1 + static_cast<std::int64_t>(bits() >> (34 + bits() % 30));
    const std::int64_t item_bytes = std::int64_t{1} << bits() % 8;
    const std::int64_t acc_bytes = 1 + static_cast<std::int64_t>(bits() % 100);
    const auto resident = static_cast<std::int64_t>(1 + bits() % 8192);
    const int tile = gpu::policy_for(static_cast<int>(item_bytes)).tile();
    std::int64_t unit = tile;
    while (tree::num_blocks(length, unit) > gpu::max_slices) unit *= 2;
    const std::int64_t wanted = detail::smaller(4 * resident, gpu::most_split_slices);
    while (unit < length && trees * tree::num_blocks(length, unit) > wanted) unit *= 2;
    const std::int64_t units = unit < length ? trees * tree::num_blocks(length, unit) : 0;
    const gpu::workspace_demand demand{units * acc_bytes,
                                       units * static_cast<std::int64_t>(sizeof(unsigned))};
    const std::int64_t bytes =
        cuda_executor::equal_segments_workspace_bytes(trees, length, item_bytes, acc_bytes);
    ASSERT_TRUE(demand.fits(bytes)) << trees << " of " << length << ", items of " << item_bytes
                                    << ", accumulators of " << acc_bytes << ", " << resident;
  }
}

// As launch_any_order_rows() shares long rows among blocks.
TEST(CudaSizes, AreEnoughForLongRowsInAnyOrder) {
  shape_stream bits(seed());
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(bits() >> (34 + bits() % 30));
    const std::int64_t length = 1 + static_cast<std::int64_t>(bits() >> (34 + bits() % 30));
    const int item_bytes = 1 << bits() % 6;
    const auto acc_bytes = static_cast<std::size_t>(1 + bits() % 32);
    const auto resident = static_cast<std::int64_t>(1 + bits() % 8192);
    const tile_policy tile = gpu::any_order_policy_for(item_bytes, acc_bytes);
    const std::int64_t most = gpu::most_blocks_of_row(tile, length, item_bytes);
    if (most < 1) continue;
    const std::int64_t blocks = gpu::blocks_of_row(rows, length, tile.tile(), most, resident);
    ASSERT_LE(blocks, most);
    if (blocks == 1) continue;
    const gpu::workspace_demand demand{rows * blocks * static_cast<std::int64_t>(acc_bytes),
                                       rows * static_cast<std::int64_t>(sizeof(unsigned))};
    const std::int64_t bytes = cuda_executor::equal_segments_workspace_bytes(
        rows, length, item_bytes, static_cast<std::int64_t>(acc_bytes));
    ASSERT_TRUE(demand.fits(bytes)) << rows << " of " << length << ", items of " << item_bytes
                                    << ", accumulators of " << acc_bytes << ", " << resident;
  }
}

}  // namespace
}  // namespace tilefold::test
