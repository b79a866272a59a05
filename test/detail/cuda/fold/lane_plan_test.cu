// SPDX-License-Identifier: Apache-2.0
//
// The plan of the lanes by itself: which lane has which stretch of which tree, for any lengths
// of trees; and what the lanes make of it: the tree of each, in items and accumulators of several
// sizes.
#include <tilefold/detail/cuda/fold/lane_plan.cuh>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/cuda/base/kernel.cuh>

#include "support/device.cuh"
#include "support/pieces.cuh"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::test {

// Nodes of equally many items, a power of two, are joined in a way of their own: it notes when it
// is asked for others.
template <class Reducer>
struct joining_equals : Reducer {
  using accumulator = typename Reducer::accumulator;
  static constexpr bool commutative_among_equals = true;

  __device__ accumulator combine_equals(const accumulator& a, const accumulator& b) const {
    const int items = a.last - a.first;
    const bool is_equal = items == b.last - b.first && (items & (items + 1)) == 0;
    join_pieces::note_missing(!is_equal);
    return Reducer::combine(a, b);
  }
};

namespace {

namespace part = tilefold::detail::cuda;

// ---- the plan

/// What a lane knows.
struct plan {
  int trees, owner, count, stretches, stretch, available;
  bool holds_result;

  friend bool operator==(const plan&, const plan&) = default;
};

template <int Items>
__global__ void plan_lanes(const int* lengths, plan* out) {
  const auto place = blockIdx.x * blockDim.x + threadIdx.x;
  const part::lane_plan<Items> dealt(lengths[place]);
  out[place] = {dealt.trees,   dealt.owner,       dealt.count,         dealt.stretches,
                dealt.stretch, dealt.available(), dealt.holds_result()};
}

template <int Items>
bool is_too_long(int length) {
  return length == part::lane_plan<Items>::for_warps ||
         length == part::lane_plan<Items>::for_blocks;
}

/// Tree after tree, stretch after stretch, as long as all stretches of a tree find a lane.
template <int Items>
std::vector<plan> expected_plan(const int* lengths) {
  struct stretch_of_tree {
    int tree, stretches, stretch;
  };
  std::vector<stretch_of_tree> lanes;
  int trees = 0;
  for (; trees < 32; ++trees) {
    const int length = lengths[trees];
    const int stretches =
        is_too_long<Items>(length) ? 1 : std::max(1, (length + Items - 1) / Items);
    if (static_cast<int>(lanes.size()) + stretches > 32) break;
    for (int s = 0; s < stretches; ++s) lanes.push_back({trees, stretches, s});
  }
  // Lanes that are left over stand behind the last tree's.
  while (lanes.size() < 32) {
    lanes.push_back({trees - 1, lanes.back().stretches, lanes.back().stretch + 1});
  }
  std::vector<plan> expected;
  for (const stretch_of_tree& lane : lanes) {
    const int length = lengths[lane.tree];
    const bool idle = is_too_long<Items>(length);
    expected.push_back({trees, lane.tree, length, lane.stretches, lane.stretch,
                        idle ? 0 : std::clamp(length - lane.stretch * Items, 0, Items),
                        lane.stretch == 0 && !idle});
  }
  return expected;
}

/// Lengths for one warp: of one of several kinds, the first tree's at most what can be dealt.
template <int Items>
void add_lengths(shape_stream& bits, std::vector<int>& lengths) {
  constexpr int most = part::lane_plan<Items>::most_items;
  const int kind = static_cast<int>(bits() % 6);
  const int longest = kind == 0 ? Items : kind == 1 ? 3 * Items : kind == 2 ? 1 : most;
  const auto trees = kind == 5 ? 1 + bits() % 32 : 32;
  for (unsigned t = 0; t < 32; ++t) {
    int length = static_cast<int>(bits() % (static_cast<unsigned>(longest) + 1));
    if (kind == 3) length = length >> (bits() % 12);
    if (kind == 4 && bits() % 4 == 0) {
      length =
          bits() % 2 == 0 ? part::lane_plan<Items>::for_warps : part::lane_plan<Items>::for_blocks;
    }
    lengths.push_back(t < trees ? length : part::lane_plan<Items>::no_tree);
  }
}

template <int Items>
void expect_plans() {
  SCOPED_TRACE(::testing::Message() << "stretches of " << Items);
  shape_stream bits(seed());
  constexpr int warps = 20000;
  std::vector<int> lengths;
  for (int w = 0; w < warps; ++w) add_lengths<Items>(bits, lengths);
  const gpu_array<int> device_lengths(lengths);
  gpu_array<plan> out(32 * warps);
  plan_lanes<Items><<<warps / 4, 128>>>(device_lengths.data(), out.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  for (std::size_t w = 0; w < warps; ++w) {
    const auto expected = expected_plan<Items>(lengths.data() + 32 * w);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const plan& mine = got[32 * w + lane];
      ASSERT_TRUE(mine == expected[lane])
          << "warp " << w << ", lane " << lane << ": " << mine.trees << " trees, tree "
          << mine.owner << " of " << mine.count << " items, stretch " << mine.stretch << " of "
          << mine.stretches << ", " << mine.available << " items";
    }
  }
}

TEST(LanePlan, DealsTreesOfAnyLengths) {
  expect_plans<1>();
  expect_plans<2>();
  expect_plans<4>();
  expect_plans<8>();
  expect_plans<16>();
}

// ---- what the lanes make of it

/// An item of Bytes bytes that tells which one it is.
template <int Bytes>
struct numbered {
  std::uint32_t number[Bytes / 4];
};

struct piece_of_number {
  template <int Bytes>
  TILEFOLD_HD auto operator()(const numbered<Bytes>& item) const {
    return item.number[Bytes / 4 - 1];
  }
};

template <int Words, int Bytes>
using reducer_of =
    part::closed_reducer<detail::op_reducer<piece<Words>, join_pieces, piece_of_number>>;

/// A warp folds the next trees of its 32, of which tree t begins with item begins[t]; out[t] is the
/// value of those that it could deal.
template <class Item, class Reducer>
__global__ void fold_dealt(Reducer reducer, const Item* items, const int* lengths,
                           const int* begins, typename Reducer::accumulator* out, int* folded) {
  using source = detail::source<const Item*>;
  constexpr int items_of_lane = part::stretch_items<source>;
  const auto warp = static_cast<int>(blockIdx.x) * 32;
  const part::lane_plan<items_of_lane> dealt(lengths[warp + static_cast<int>(threadIdx.x)]);
  part::stretch_fold<source, Reducer> fold(reducer, dealt);
  const source tree{{items + begins[warp + dealt.owner]}};
  fold.load(tree, 0, fold.is_inner());
  const auto value = fold.fold();
  if (dealt.holds_result() && dealt.count > 0) out[warp + dealt.owner] = value;
  if (threadIdx.x == 0) folded[blockIdx.x] = dealt.trees;
}

template <int Bytes, class Reducer, int Words>
void expect_values() {
  using item = numbered<Bytes>;
  constexpr int items_of_lane = part::stretch_items<detail::source<const item*>>;
  shape_stream bits(seed());
  constexpr int warps = 3000;
  std::vector<int> lengths, begins;
  for (int w = 0; w < warps; ++w) add_lengths<items_of_lane>(bits, lengths);
  std::vector<item> items(1 << 16);
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (auto& number : items[i].number) number = static_cast<std::uint32_t>(i);
  }
  for (const int length : lengths) {
    const auto room = static_cast<std::int64_t>(items.size()) - std::max(length, 0);
    begins.push_back(static_cast<int>(bits() % static_cast<std::uint64_t>(room)));
  }
  const gpu_array<item> array(items);
  const gpu_array<int> device_lengths(lengths), device_begins(begins);
  gpu_array<piece<Words>> out(32 * warps);
  gpu_array<int> folded(warps);
  fold_dealt<<<warps, 32>>>(Reducer{}, static_cast<const item*>(array.data()),
                            static_cast<const int*>(device_lengths.data()),
                            static_cast<const int*>(device_begins.data()), out.data(),
                            folded.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  const auto trees = folded.to_host();
  for (int w = 0; w < warps; ++w) {
    for (int t = 0; t < trees[static_cast<std::size_t>(w)]; ++t) {
      const auto at = static_cast<std::size_t>(32 * w + t);
      if (lengths[at] == 0 || is_too_long<items_of_lane>(lengths[at])) continue;
      ASSERT_EQ(got[at], (tree_of_pieces<Words>(begins[at], lengths[at])))
          << "tree " << t << " of warp " << w << ", " << lengths[at] << " items of " << Bytes
          << " bytes";
    }
  }
  EXPECT_EQ(taken_missing_operands(), 0u);
}

TEST(StretchFold, HasEveryTree) {
  expect_values<4, reducer_of<1, 4>, 1>();
  expect_values<8, reducer_of<1, 8>, 1>();
  expect_values<16, reducer_of<1, 16>, 1>();
  expect_values<48, reducer_of<1, 48>, 1>();
}
// Lanes fold long stretches a packet at a time.
TEST(StretchFold, HasEveryTreeOfLargeAccumulators) {
  expect_values<4, reducer_of<2, 4>, 2>();
  expect_values<8, reducer_of<5, 8>, 5>();
}
TEST(StretchFold, JoinsEqualsWhereTheyAreEqual) {
  expect_values<4, joining_equals<reducer_of<1, 4>>, 1>();
  expect_values<4, joining_equals<reducer_of<2, 4>>, 2>();
}

}  // namespace
}  // namespace tilefold::test
