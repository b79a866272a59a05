// SPDX-License-Identifier: Apache-2.0
//
// reduce_by_key on a GPU: the runs that a serial oracle finds, of each its first key and the
// neighbour tree over its values alone, whatever the lengths and wherever blocks and warps meet.
// Other programs have other keys and values (by_key_values_test.cu), very many
// (by_key_large_test.cu), and other forms of a call (by_key_calls_test.cu).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/reduce_by_key.hpp>

#include "by_key_calls.cuh"
#include "support/device.cuh"
#include "support/random.hpp"
#include "support/runs.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

const lifted_hash initial{leaf_hash(std::int64_t{1} << 40)};

/// Items that are their own index, folded into hashes that spell the trees.
template <class Equal>
::testing::AssertionResult right_trees(cuda_executor& exec, const std::vector<int>& keys,
                                       Equal equal) {
  std::vector<std::uint32_t> items(keys.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(i);
  const auto got = on_gpu<lifted_hash>(exec, keys, items, equal, initial, lifted_node_hash{});
  auto heads = heads_of(keys, equal);
  const std::size_t runs = heads.size();
  if (got.runs != static_cast<std::int64_t>(runs)) {
    return ::testing::AssertionFailure() << got.runs << " runs where " << runs << " are";
  }
  heads.push_back(static_cast<std::int64_t>(keys.size()));
  std::size_t wrong = 0;
  ::testing::AssertionResult result = ::testing::AssertionFailure();
  for (std::size_t r = 0; r < runs; ++r) {
    const bool right_key = got.keys[r] == keys[static_cast<std::size_t>(heads[r])];
    const bool right_value = got.values[r] == hash_of_run(initial, heads[r], heads[r + 1]);
    if (right_key && right_value) continue;
    if (++wrong <= 5) {
      result << (right_key ? "value" : "key") << " of run " << r << " [" << heads[r] << ", "
             << heads[r + 1] << ") ";
    }
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return result << wrong << " of " << runs << " runs are wrong";
}

class CudaByKey : public ::testing::Test {
 protected:
  ::testing::AssertionResult right(const std::vector<std::int64_t>& lengths) {
    return right_trees(exec_, keys_of_runs(lengths, 1), same_tens{});
  }

  cuda_executor exec_;
};

TEST_F(CudaByKey, SanitizeOneOfEach) {
  EXPECT_TRUE(right({1}));
  EXPECT_TRUE(right({3, 1, 600, 2, 1100, 5000, 1}));
  EXPECT_TRUE(right(std::vector<std::int64_t>(5000, 1)));
  EXPECT_TRUE(right({10000}));
  EXPECT_TRUE(right({2047, 30000, 1, 3, 8192, 4000}));
  EXPECT_TRUE(right(std::vector<std::int64_t>(900, 40)));
}

TEST_F(CudaByKey, EveryLengthAlone) {
  for (std::int64_t n = 1; n <= 70; ++n) EXPECT_TRUE(right({n})) << n;
  for (const std::int64_t n : landmark_sizes(18, 20, seed())) EXPECT_TRUE(right({n})) << n;
}

TEST_F(CudaByKey, RunsOfOneLength) {
  for (const std::int64_t length :
       {1,    2,    3,    4,    7,    8,    15,   16,   17,   31,   32,   33,  63,
        64,   65,   100,  127,  128,  129,  255,  256,  257,  511,  512,  513, 1000,
        1023, 1024, 1025, 1026, 1535, 1536, 1537, 2047, 2048, 5000, 65536}) {
    const std::int64_t n = 300000;
    EXPECT_TRUE(right(lengths_of(n, 1, [&](auto&) { return length; }))) << length;
  }
}

// A boundary at each place around the edges of warps, blocks and what a warp reaches.
TEST_F(CudaByKey, BoundariesAroundEveryEdge) {
  const std::int64_t n = 6600;
  std::vector<std::int64_t> places;
  for (std::int64_t edge = 0; edge <= n; edge += 512) {
    for (std::int64_t near = -2; near <= 2; ++near) {
      if (edge + near > 0 && edge + near < n) places.push_back(edge + near);
    }
  }
  for (const std::int64_t first : places) {
    ASSERT_TRUE(right({first, n - first})) << first;
    for (const std::int64_t second : places) {
      if (second <= first || (second - first) % 3 == 0) continue;
      ASSERT_TRUE(right({first, second - first, n - second})) << first << ", " << second;
    }
  }
  for (const std::int64_t end : places) {
    ASSERT_TRUE(right(lengths_of(end, 1, [](auto&) { return 40; }))) << end;
  }
}

// A patch is 2048 items, a block takes four, and of so few items 16 patches make a group. Runs
// begin and end around all their edges, the next patch or many blocks later.
TEST_F(CudaByKey, RunsFromOneBlockIntoAnother) {
  const std::int64_t n = 70001;
  std::vector<std::int64_t> places;
  for (const std::int64_t edge : {2048, 4096, 8192, 10240, 32768, 40960, 65536}) {
    for (const std::int64_t near : {-1, 0, 1}) places.push_back(edge + near);
  }
  for (const std::int64_t first : places) {
    for (const std::int64_t second : places) {
      if (second <= first) continue;
      ASSERT_TRUE(right({first, second - first, n - second})) << first << ", " << second;
    }
  }
}

// The last run, or the last but one, ends just where the patch that it begins in can still see it.
TEST_F(CudaByKey, RunsThatEndAtTheEndOfTheReach) {
  for (const std::int64_t patch : {2048, 4096, 8192, 32768}) {
    for (const std::int64_t begin : {patch - 1, patch - 700, patch - 2047}) {
      for (std::int64_t end = patch + 1021; end <= patch + 1027; ++end) {
        ASSERT_TRUE(right({begin, end - begin})) << begin << ", " << end;
        ASSERT_TRUE(right({begin, end - begin, 3000})) << begin << ", " << end;
      }
    }
  }
}

// As many items as a warp's lanes take at once, and more, as the first runs of a deal and later
// ones.
TEST_F(CudaByKey, RunsTooLongForLanesAmongOthers) {
  for (const std::int64_t length : {511, 512, 513, 514, 530, 1023, 1024, 1025, 1026, 1300, 2500}) {
    const std::vector<std::int64_t> lengths{20, length, 3, 9, length, length, 300, 8, 200, length};
    EXPECT_TRUE(right(lengths)) << length;
  }
}

TEST_F(CudaByKey, PatchesWithoutHeadsAndOfNothingElse) {
  for (const std::int64_t near : {-1, 0, 1}) {
    std::vector<std::int64_t> lengths;
    for (int round = 0; round < 8; ++round) {
      lengths.insert(lengths.end(), 2048 + static_cast<std::size_t>(near + 1), 1);
      lengths.push_back(2048 * (1 + 3 * (round % 4)) + near);
    }
    EXPECT_TRUE(right(lengths)) << near;
    lengths.push_back(1);
    EXPECT_TRUE(right(lengths)) << near;
  }
}

// A graph that was captured with a reserved workspace does not survive a larger one.
TEST(CudaByKeyWorkspace, ForMoreKeysServesFewer) {
  namespace gpu = detail::cuda;
  for (const std::int64_t acc_bytes : {1, 4, 8, 24}) {
    gpu::workspace_demand before{0, 0};
    for (std::int64_t n = 1; n < gpu::most_keyed_items; n += 1 + n / 37) {
      const gpu::workspace_demand demand = gpu::by_key_demand(n, acc_bytes);
      ASSERT_TRUE(before.fits(demand.bytes())) << n << " keys, " << acc_bytes;
      before = demand;
    }
  }
}

TEST_F(CudaByKey, TenThousandRandomShapes) {
  shape_stream bits(seed());
  for (int shape = 0; shape < 10000; ++shape) {
    const std::uint64_t shape_seed = bits() >> 1;
    const auto n = static_cast<std::int64_t>(1 + bits() % (shape % 100 == 0 ? 100000 : 2500));
    ASSERT_TRUE(right(random_lengths(n, shape_seed))) << "shape " << shape_seed << " of " << n;
  }
}

TEST_F(CudaByKey, ManyRunsOfMixedLengths) {
  EXPECT_TRUE(right(std::vector<std::int64_t>(1000000, 1)));
  EXPECT_TRUE(right({3000000}));
  // A warp of few patches takes a span; of 5 million items a patch.
  EXPECT_TRUE(right(power_law_lengths(500000, seed())));
  EXPECT_TRUE(right(power_law_lengths(2000000, seed())));
  EXPECT_TRUE(right(power_law_lengths(5000000, seed())));
  std::vector<std::int64_t> one_among_many(200000, 1);
  one_among_many[1000] = 700000;
  EXPECT_TRUE(right(one_among_many));
}

// More open runs than a GPU holds warps for, which take turns; and some that are for blocks.
TEST_F(CudaByKey, ManyOpenRuns) {
  for (const std::uint64_t others : {200, 40000}) {
    EXPECT_TRUE(right(lengths_of(9000000, seed(), [=](auto& bits) {
      return 3072 + static_cast<std::int64_t>(bits() % others);
    }))) << others;
  }
}

TEST_F(CudaByKey, ComparesNeighboursLeftToRight) {
  shape_stream bits(seed());
  std::vector<int> keys;
  for (int i = 0; i < 200000; ++i) {
    keys.push_back(i % 10000 < 4000 ? i : static_cast<int>(bits() % 100));
  }
  EXPECT_TRUE(right_trees(exec_, keys, ascends_gently{}));
}

TEST_F(CudaByKey, TheSameBitsEveryTime) {
  const auto keys = keys_of_runs(power_law_lengths(3000000, seed()), 1);
  std::vector<std::uint32_t> items(keys.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(i);
  const auto call = [&] {
    return on_gpu<lifted_hash>(exec_, keys, items, same_tens{}, initial, lifted_node_hash{});
  };
  const auto first = call();
  for (int again = 0; again < 4; ++again) {
    const auto next = call();
    ASSERT_EQ(next.runs, first.runs);
    const auto bytes = static_cast<std::size_t>(first.runs);
    EXPECT_EQ(std::memcmp(next.values.data(), first.values.data(), bytes * sizeof(lifted_hash)), 0);
    EXPECT_EQ(std::memcmp(next.keys.data(), first.keys.data(), bytes * sizeof(int)), 0);
  }
}

}  // namespace
}  // namespace tilefold::test
