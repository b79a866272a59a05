// SPDX-License-Identifier: Apache-2.0
//
// The climb of the last to arrive by itself: who completes a group, that it sees what the others
// wrote, and that the counters are zero again; and blocks of one warp with small tiles that climb
// through several levels of groups, however the tiles are dealt to them.
#include <tilefold/detail/cuda/range/tile_kernel.cuh>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "support/device.cuh"
#include "support/pieces.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {
namespace {

namespace part = tilefold::detail::cuda;

// ---- arrivals

/// Block b writes a value for each of its `arrived[b]` partials of group of_group[b], and arrives.
/// Who completes the group adds up all its values; completed[group] counts who did.
__global__ void arrive_at_groups(const int* of_group, const unsigned* arrived,
                                 const unsigned* places, const unsigned* group_begins,
                                 unsigned* values, unsigned* arrivals, unsigned* sums,
                                 unsigned* completed) {
  __shared__ bool is_last;
  const int group = of_group[blockIdx.x];
  const unsigned mine = arrived[blockIdx.x];
  const unsigned begin = group_begins[group];
  const unsigned count = group_begins[group + 1] - begin;
  // One thread writes them all, and it is the one that arrives.
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < mine; ++i) values[places[blockIdx.x] + i] = places[blockIdx.x] + i + 1;
  }
  if (!part::arrive(arrivals + group, mine, count, is_last)) return;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    atomicAdd(sums + group, values[begin + i]);
  }
  if (threadIdx.x == 0) atomicAdd(completed + group, 1u);
}

TEST(Climb, TheLastToArriveSeesWhatAllWrote) {
  shape_stream bits(seed());
  std::vector<int> of_group;
  std::vector<unsigned> arrived, places, group_begins{0};
  const int groups = 3000;
  for (int g = 0; g < groups; ++g) {
    const auto blocks = 1 + bits() % (g % 50 == 0 ? 300 : 5);
    unsigned place = group_begins.back();
    for (unsigned b = 0; b < blocks; ++b) {
      of_group.push_back(g);
      arrived.push_back(1 + static_cast<unsigned>(bits() % 7));
      places.push_back(place);
      place += arrived.back();
    }
    group_begins.push_back(place);
  }
  // Blocks of a group are not neighbours.
  std::vector<std::size_t> order(of_group.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), bits);
  const auto in_order = [&](const auto& of_blocks) {
    auto all = of_blocks;
    for (std::size_t i = 0; i < order.size(); ++i) all[i] = of_blocks[order[i]];
    return all;
  };
  const gpu_array<int> device_groups(in_order(of_group));
  const gpu_array<unsigned> device_arrived(in_order(arrived)), device_places(in_order(places));
  const gpu_array<unsigned> begins(group_begins);
  const gpu_array<unsigned> arrivals(std::vector<unsigned>(groups, 0u));
  for (int again = 0; again < 3; ++again) {
    const gpu_array<unsigned> values(std::vector<unsigned>(group_begins.back(), 0u));
    const gpu_array<unsigned> sums(std::vector<unsigned>(groups, 0u));
    const gpu_array<unsigned> completed(std::vector<unsigned>(groups, 0u));
    arrive_at_groups<<<static_cast<unsigned>(order.size()), 64>>>(
        device_groups.data(), device_arrived.data(), device_places.data(), begins.data(),
        values.data(), arrivals.data(), sums.data(), completed.data());
    must(cudaGetLastError());
    const auto got = sums.to_host(), by = completed.to_host();
    for (std::size_t g = 0; g < groups; ++g) {
      unsigned expected = 0;
      for (unsigned i = group_begins[g]; i < group_begins[g + 1]; ++i) expected += i + 1;
      ASSERT_EQ(by[g], 1u) << "completed group " << g;
      ASSERT_EQ(got[g], expected) << "group " << g;
    }
    ASSERT_EQ(arrivals.to_host(), std::vector<unsigned>(groups, 0u)) << "not left as found";
  }
}

// ---- levels of groups

// 32 threads of one item: a tile is 32 items, a group 128 partials.
constexpr tile_policy tiny{32, 1};
using node = piece<1>;
using reducer_type = part::closed_reducer<detail::op_reducer<node, join_pieces>>;
using source_type = detail::source<const std::uint32_t*>;
using work_type = part::tile_work<tiny, source_type, reducer_type, detail::no_init, node*>;

/// The partials and counters of `tiles` tiles: one of each a tile, and of each group of each level.
struct levels {
  explicit levels(std::int64_t tiles) {
    partials = tiles;
    while (tiles > 1) {
      tiles = (tiles + part::group_size(tiny) - 1) / part::group_size(tiny);
      partials += tiles;
      arrivals += tiles;
    }
  }
  std::int64_t partials;
  std::int64_t arrivals = 1;
};

class Climber : public ::testing::Test {
 protected:
  explicit Climber(std::int64_t tiles = most_tiles)
      : partials_(levels(tiles).partials),
        arrivals_(std::vector<unsigned>(static_cast<std::size_t>(levels(tiles).arrivals), 0u)) {}

  void expect_unused() {
    for (const unsigned count : arrivals_.to_host()) ASSERT_EQ(count, 0u) << "left behind";
    EXPECT_EQ(taken_missing_operands(), 0u);
  }
  part::scratch<node> memory() const { return {partials_.data(), arrivals_.data()}; }

  static constexpr std::int64_t most_tiles = 128 * 128 + 128 + 1;

  gpu_array<node> out_{1};

 private:
  gpu_array<node> partials_;
  gpu_array<unsigned> arrivals_;
};

template <class Work>
__global__ void fold_tiles(source_type source, reducer_type reducer, node* out, std::int64_t n,
                           part::tile_shares shares, part::scratch<node> memory) {
  __shared__ typename Work::shared_memory shared;
  const detail::no_init init{};
  Work{source, {reducer, init, out, shared}, n}.run(shares, memory, shared);
}

TEST_F(Climber, FoldsTilesHoweverTheyAreDealt) {
  shape_stream bits(seed());
  std::vector<std::int64_t> tile_counts{
      1,   2,   3,    127,           128,       129,           130,       255,
      256, 257, 1000, 128 * 128 - 1, 128 * 128, 128 * 128 + 1, most_tiles};
  for (int i = 0; i < 10; ++i) {
    tile_counts.push_back(1 + static_cast<std::int64_t>(bits() % (most_tiles / 4)));
  }
  std::vector<std::uint32_t> items;
  for (std::uint32_t i = 0; i < most_tiles * tiny.tile(); ++i) items.push_back(i);
  const gpu_array<std::uint32_t> array(items);
  for (const std::int64_t tiles : tile_counts) {
    for (const std::int64_t lack : {0, 1, 31}) {
      const std::int64_t n = tiles * tiny.tile() - lack;
      const auto expected = tree_of_pieces<1>(0, n);
      for (const std::int64_t wanted : {1, 2, 7, 128, 1000, 20000}) {
        const std::int64_t blocks = std::min(wanted, tiles);
        const part::tile_shares shares{static_cast<unsigned>(tiles / blocks),
                                       static_cast<unsigned>(tiles % blocks)};
        fold_tiles<work_type><<<static_cast<unsigned>(blocks), tiny.nt>>>(
            source_type{{array.data()}}, {}, out_.data(), n, shares, memory());
        must(cudaGetLastError());
        ASSERT_EQ(out_.to_host()[0], expected)
            << n << " items, " << tiles << " tiles, " << blocks << " blocks";
      }
    }
  }
  expect_unused();
}

// Each block with a single value of its own.
template <class Work>
__global__ void add_blocks(reducer_type reducer, node* out, part::scratch<node> memory) {
  __shared__ typename Work::shared_memory shared;
  const detail::no_init init{};
  const typename Work::grid_type grid{reducer, init, out, shared};
  grid.write_node(node(blockIdx.x), memory.partials + blockIdx.x, gridDim.x);
  grid.climb_from(memory, blockIdx.x, blockIdx.x + 1, gridDim.x);
}

TEST_F(Climber, FoldsOneValueABlock) {
  for (const std::int64_t blocks : {1, 2, 3, 127, 128, 129, 256, 4000, 128 * 128, 128 * 128 + 1}) {
    for (int again = 0; again < 3; ++again) {
      add_blocks<work_type><<<static_cast<unsigned>(blocks), tiny.nt>>>({}, out_.data(), memory());
      must(cudaGetLastError());
      ASSERT_EQ(out_.to_host()[0], tree_of_pieces<1>(0, blocks)) << blocks << " blocks";
    }
  }
  expect_unused();
}

}  // namespace
}  // namespace tilefold::test
