// SPDX-License-Identifier: Apache-2.0
//
// The merge of stripes in a warp by itself: of one tree and of many, for 1 to 32 stripes, 2 to 32
// lanes, 1 to 4 items a lane, whole and cut after every item; and every level of nodes on the way.
// No operator is called for an item that does not exist.
#include <tilefold/detail/cuda/fold/stripe_merge.cuh>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/detail/cuda/base/kernel.cuh>
#include <tilefold/detail/cuda/forest/subtree_kernel.cuh>
#include <tilefold/detail/cuda/in_kernel/kernel_fold.cuh>

#include "support/device.cuh"
#include "support/pieces.cuh"

namespace tilefold::test {

// Not in the unnamed namespace: there, nvcc takes members that not every test asks for as never
// referenced.
/// Stripes, lanes, items a lane.
template <int Stripes, int Lanes, int Width>
struct shape {
  static constexpr int stripes = Stripes;
  static constexpr int lanes = Lanes;
  static constexpr int width = Width;
  static constexpr int stripe_items = Lanes * Width;
};

namespace {

namespace part = tilefold::detail::cuda;
using part::stripes_of;
using node = piece<1>;

template <class Op>
using reducer_of = part::closed_reducer<detail::op_reducer<node, Op>>;

/// The node of Width items from item `first` on in one lane, where items from `count` on are
/// missing.
template <bool Full, int Width, class Reducer>
__device__ node packet_at(const Reducer& reducer, int first, int count) {
  part::registers<node, Width> items;
#pragma unroll
  for (int j = 0; j < Width; ++j) {
    const bool is_there = Full || first + j < count;
    items.put(j, is_there ? node(static_cast<std::uint32_t>(first + j)) : node::missing());
  }
  return part::fold_packet<Full>(reducer, items, first, count);
}

/// The counts of all blocks: block b cuts after item b + 1, or none does.
template <bool Full>
__device__ int count_of_block(int all) {
  return Full ? all : static_cast<int>(blockIdx.x) + 1;
}

// ---- the stripes of one tree

/// out[block][lane]: the node of all stripes. The tree begins with item `first`, as a warp's part
/// of a tile does; every group of Shape::lanes has one of its own.
template <class Shape, bool Full, class Op>
__global__ void fold_one_tree(reducer_of<Op> reducer, int first, node* out) {
  constexpr int stripes = Shape::stripes;
  const int lane = static_cast<int>(threadIdx.x) % Shape::lanes;
  const int count = first + count_of_block<Full>(stripes * Shape::stripe_items);
  part::registers<node, stripes> values;
#pragma unroll
  for (int r = 0; r < stripes; ++r) {
    values.put(r, packet_at<Full, Shape::width>(
                      reducer, first + (r * Shape::lanes + lane) * Shape::width, count));
  }
  const part::stripe_fold<stripes, Shape::width, Full, reducer_of<Op>, Shape::lanes> fold(
      reducer, first, count, lane);
  out[blockIdx.x * 32 + threadIdx.x] = fold.fold(values);
}

template <class Shape, bool Full, class Op>
void expect_one_tree() {
  SCOPED_TRACE(::testing::Message() << Shape::stripes << " stripes, " << Shape::lanes << " lanes, "
                                    << Shape::width << " items, " << (Full ? "full" : "cut"));
  constexpr int all = Shape::stripes * Shape::stripe_items;
  const int blocks = Full ? 1 : all;
  for (const int first : {0, 3 * all}) {
    gpu_array<node> out(32 * blocks);
    fold_one_tree<Shape, Full, Op><<<blocks, 32>>>({}, first, out.data());
    must(cudaGetLastError());
    const auto got = out.to_host();
    for (int b = 0; b < blocks; ++b) {
      const node expected = tree_of_pieces<1, Op>(first, Full ? all : b + 1);
      for (int t = 0; t < 32; ++t) {
        ASSERT_EQ(got[static_cast<std::size_t>(32 * b + t)], expected) << "lane " << t;
      }
    }
  }
  EXPECT_EQ(taken_missing_operands(), 0u);
}

template <class Op, class... Shapes>
void expect_one_tree_of_each() {
  (expect_one_tree<Shapes, true, Op>(), ...);
  (expect_one_tree<Shapes, false, Op>(), ...);
}

TEST(StripeFold, OfOneTreeIsTheTree) {
  expect_one_tree_of_each<join_pieces, shape<1, 32, 1>, shape<2, 32, 1>, shape<4, 32, 4>,
                          shape<8, 32, 2>, shape<16, 32, 1>, shape<32, 32, 1>>();
}
TEST(StripeFold, OfOneTreeInFewLanes) {
  expect_one_tree_of_each<join_pieces, shape<1, 2, 4>, shape<2, 2, 1>, shape<4, 4, 1>,
                          shape<1, 8, 1>, shape<8, 16, 1>>();
}
TEST(StripeFold, OfOneTreeWhereOperandsMaySwap) {
  expect_one_tree_of_each<join_either_way, shape<1, 32, 1>, shape<8, 32, 4>, shape<2, 8, 1>>();
}

// ---- the stripes of as many trees

/// out[block][lane]: the node of the stripe that the lane ends with. Tree r begins with item 1000
/// r.
template <class Shape, bool Full, class Op>
__global__ void fold_many_trees(reducer_of<Op> reducer, node* out) {
  constexpr int stripes = Shape::stripes;
  const int lane = static_cast<int>(threadIdx.x) % Shape::lanes;
  const int count = count_of_block<Full>(Shape::stripe_items);
  part::registers<node, stripes> values;
#pragma unroll
  for (int r = 0; r < stripes; ++r) {
    values.put(r, packet_at<Full, Shape::width>(reducer, 1000 * r + lane * Shape::width,
                                                1000 * r + count));
  }
  const part::stripe_fold<stripes, Shape::width, Full, reducer_of<Op>, Shape::lanes,
                          stripes_of::many_trees>
      fold(reducer, 0, count, lane);
  out[blockIdx.x * 32 + threadIdx.x] = fold.fold_each(values);
}

template <class Shape, bool Full, class Op>
void expect_many_trees() {
  SCOPED_TRACE(::testing::Message() << Shape::stripes << " trees, " << Shape::lanes << " lanes, "
                                    << Shape::width << " items, " << (Full ? "full" : "cut"));
  const int blocks = Full ? 1 : Shape::stripe_items;
  int period = 1;
  while (period < Shape::stripes) period *= 2;
  gpu_array<node> out(32 * blocks);
  fold_many_trees<Shape, Full, Op><<<blocks, 32>>>({}, out.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  for (int b = 0; b < blocks; ++b) {
    for (int t = 0; t < 32; ++t) {
      const int stripe = t % Shape::lanes % period;
      if (stripe >= Shape::stripes) continue;
      ASSERT_EQ(got[static_cast<std::size_t>(32 * b + t)],
                (tree_of_pieces<1, Op>(1000 * stripe, Full ? Shape::stripe_items : b + 1)))
          << "lane " << t;
    }
  }
  EXPECT_EQ(taken_missing_operands(), 0u);
}

template <class Op, class... Shapes>
void expect_many_trees_of_each() {
  (expect_many_trees<Shapes, true, Op>(), ...);
  (expect_many_trees<Shapes, false, Op>(), ...);
}

TEST(StripeFold, OfManyTreesIsEachTree) {
  expect_many_trees_of_each<join_pieces, shape<1, 32, 1>, shape<3, 32, 1>, shape<4, 32, 2>,
                            shape<7, 32, 1>, shape<32, 32, 1>, shape<5, 8, 1>, shape<2, 2, 4>>();
}
TEST(StripeFold, OfManyTreesWhereOperandsMaySwap) {
  expect_many_trees_of_each<join_either_way, shape<6, 32, 1>, shape<4, 4, 1>>();
}

// ---- one stripe that several lanes hold alike

template <int Lanes, int FirstBit, bool Full, class Op>
__global__ void fold_held_alike(reducer_of<Op> reducer, node* out) {
  const int lane = static_cast<int>(threadIdx.x) % Lanes;
  const int count = count_of_block<Full>(Lanes);
  const int first = lane >> FirstBit << FirstBit;
  const node mine = packet_at<Full, 1 << FirstBit>(reducer, first, count);
  const part::lane_nodes_fold<1, Full, reducer_of<Op>, Lanes> fold(reducer, 0, count, lane);
  out[blockIdx.x * 32 + threadIdx.x] = fold.template fold<FirstBit>(mine);
}

template <int Lanes, int FirstBit, bool Full, class Op>
void expect_held_alike() {
  SCOPED_TRACE(::testing::Message()
               << Lanes << " lanes, alike from bit " << FirstBit << (Full ? ", full" : ", cut"));
  const int blocks = Full ? 1 : Lanes;
  gpu_array<node> out(32 * blocks);
  fold_held_alike<Lanes, FirstBit, Full, Op><<<blocks, 32>>>({}, out.data());
  must(cudaGetLastError());
  const auto got = out.to_host();
  for (int b = 0; b < blocks; ++b) {
    const node expected = tree_of_pieces<1, Op>(0, Full ? Lanes : b + 1);
    for (int t = 0; t < 32; ++t) {
      ASSERT_EQ(got[static_cast<std::size_t>(32 * b + t)], expected) << "lane " << t;
    }
  }
  EXPECT_EQ(taken_missing_operands(), 0u);
}

template <class Op, bool Full>
void expect_all_held_alike() {
  expect_held_alike<32, 0, Full, Op>();
  expect_held_alike<32, 3, Full, Op>();
  expect_held_alike<8, 0, Full, Op>();
  expect_held_alike<8, 1, Full, Op>();
  expect_held_alike<4, 2, Full, Op>();
  expect_held_alike<2, 0, Full, Op>();
}

TEST(StripeFold, OfOneStripeThatLanesHoldAlike) {
  expect_all_held_alike<join_pieces, true>();
  expect_all_held_alike<join_pieces, false>();
  expect_all_held_alike<join_either_way, true>();
}

// ---- every level on the way

/// kept[block][node], times[block][node]: what nodes() hands out at level `bits`, and how often.
template <class Shape, bool Full>
__global__ void keep_nodes(reducer_of<join_pieces> reducer, int bits, node* kept, int* times) {
  constexpr int stripes = Shape::stripes;
  const int lane = static_cast<int>(threadIdx.x);
  const int count = count_of_block<Full>(stripes * Shape::stripe_items);
  part::registers<node, stripes> values;
#pragma unroll
  for (int r = 0; r < stripes; ++r) {
    values.put(r, packet_at<Full, Shape::width>(reducer, (r * 32 + lane) * Shape::width, count));
  }
  const auto place = static_cast<int>(blockIdx.x) * 32 * stripes;
  part::stripe_nodes<stripes, Shape::width, Full, reducer_of<join_pieces>>(reducer, 0, count, lane)
      .nodes(values, bits, [=](int number, const node& value) {
        kept[place + number] = value;
        atomicAdd(times + place + number, 1);
      });
}

template <class Shape, bool Full>
void expect_nodes() {
  constexpr int packets = Shape::stripes * 32;
  constexpr int all = packets * Shape::width;
  const int blocks = Full ? 1 : all;
  for (int bits = 0; (1 << bits) <= packets; ++bits) {
    SCOPED_TRACE(::testing::Message() << Shape::stripes << " stripes of " << Shape::width
                                      << ", level " << bits << (Full ? ", full" : ", cut"));
    gpu_array<node> kept(blocks * packets);
    const gpu_array<int> times(std::vector<int>(static_cast<std::size_t>(blocks * packets)));
    keep_nodes<Shape, Full><<<blocks, 32>>>({}, bits, kept.data(), times.data());
    must(cudaGetLastError());
    const auto got = kept.to_host();
    const auto how_often = times.to_host();
    const int node_items = Shape::width << bits;
    for (int b = 0; b < blocks; ++b) {
      const int count = Full ? all : b + 1;
      for (int i = 0; i < packets; ++i) {
        const auto at = static_cast<std::size_t>(b * packets + i);
        const bool has_items = i * node_items < count;
        ASSERT_EQ(how_often[at], has_items ? 1 : 0) << "node " << i << " of " << count << " items";
        if (!has_items) continue;
        ASSERT_EQ(got[at],
                  (tree_of_pieces<1>(i * node_items, std::min(node_items, count - i * node_items))))
            << "node " << i << " of " << count << " items";
      }
    }
  }
  EXPECT_EQ(taken_missing_operands(), 0u);
}

template <class... Shapes>
void expect_nodes_of_each() {
  (expect_nodes<Shapes, true>(), ...);
  (expect_nodes<Shapes, false>(), ...);
}

TEST(StripeFold, HandsOutEveryNodeOfALevelOnce) {
  expect_nodes_of_each<shape<1, 32, 1>, shape<2, 32, 4>, shape<4, 32, 1>, shape<8, 32, 1>>();
}

}  // namespace
}  // namespace tilefold::test
