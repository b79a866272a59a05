// SPDX-License-Identifier: Apache-2.0
//
// Pieces that a GPU folds, against those of the host and against nodes of the neighbour tree.
#pragma once

#include <tilefold/piece.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/reduce.hpp>

#include "../support/device.cuh"
#include "../support/oracle.hpp"
#include "../support/order.hpp"
#include "../support/random.hpp"
#include "../support/seed.hpp"

namespace {

using tilefold::test::node_hash;
using tilefold::test::shape_stream;
using tilefold::test::tree_hash;

// Lengths of every way that a launch can take, at positions near and far.
template <class T, class Op>
void expect_pieces_of_the_host(const std::vector<T>& x, Op op) {
  SCOPED_TRACE(tilefold::test::seed());
  shape_stream bits(tilefold::test::seed());
  const tilefold::test::gpu_array<T> on_gpu(x);
  const T* const items = on_gpu.data();
  tilefold::cuda_executor gpu;
  const tilefold::host_executor host;
  for (int i = 0; i < 150; ++i) {
    const auto all = static_cast<std::int64_t>(x.size());
    const std::int64_t n = 1 + bits.below(i % 3 == 0 ? all : i % 3 == 1 ? 2000 : 70);
    const std::int64_t first = bits.below(all - n + 1);
    std::int64_t position = static_cast<std::int64_t>(bits() >> (1 + bits.below(62)));
    if (position > (std::int64_t{1} << 62)) position = 0;
    const auto expected =
        tilefold::reduce_piece(host, x.data() + first, x.data() + first + n, position, op);
    const auto got = tilefold::reduce_piece(gpu, items + first, items + first + n, position, op);
    ASSERT_EQ(got.num_blocks(), expected.num_blocks());
    ASSERT_EQ(got.begin(), expected.begin());
    ASSERT_EQ(got.end(), expected.end());
    // Every block's value.
    ASSERT_EQ(got.to_bytes(), expected.to_bytes())
        << n << " items from " << first << " at " << position;
    if (position == 0) {
      const auto a = got.value();
      const auto b = expected.value();
      ASSERT_EQ(0, std::memcmp(&a, &b, sizeof a)) << n << " items from " << first;
    }
  }
  // The whole from parts of both.
  for (int i = 0; i < 30; ++i) {
    tilefold::piece<T, Op> whole(op);
    while (whole.end() < static_cast<std::int64_t>(x.size())) {
      const auto left = static_cast<std::int64_t>(x.size()) - whole.end();
      const std::int64_t n = bits.below(left + 1);
      const std::int64_t at = whole.end();
      if (bits.one_in(2)) {
        whole.append(gpu, items + at, items + at + n);
      } else {
        whole.append(host, x.data() + at, x.data() + at + n);
      }
    }
    const auto a = whole.value();
    const auto b = tilefold::reduce(host, x, op);
    ASSERT_EQ(0, std::memcmp(&a, &b, sizeof a)) << "round " << i;
  }
}

inline std::vector<float> mixed_floats(std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t bits = tilefold::test::mixed_bits(i);
    x[i] = std::ldexp(static_cast<float>(static_cast<int>(bits % 2001) - 1000),
                      static_cast<int>(bits >> 32 & 31) - 16);
  }
  return x;
}

constexpr std::int64_t items = 1500000;

/// Pieces of one sequence, whose item i stands at position `far` + i, against its nodes.
template <class T, class Op>
class nodes_of {
 public:
  nodes_of(std::vector<T> x, Op op) : op_(op), levels_{std::move(x)} {
    while (levels_.back().size() > 1) {
      const std::vector<T>& below = levels_.back();
      std::vector<T> level;
      for (std::size_t i = 0; i + 1 < below.size(); i += 2) {
        level.push_back(op(below[i], below[i + 1]));
      }
      levels_.push_back(std::move(level));
    }
  }
  const std::vector<T>& items() const { return levels_.front(); }

  /// `items` are those of the sequence, or others of these values, in memory of the GPU.
  template <class Exec, class Item>
  void expect_piece(Exec& exec, const Item* items, std::int64_t begin, std::int64_t end,
                    std::int64_t far) const {
    const auto piece = tilefold::reduce_piece(exec, items + begin, items + end, far + begin, op_);
    const std::vector<std::byte> bytes = piece.to_bytes();
    const auto count = static_cast<std::size_t>(piece.num_blocks());
    // In front of the checksum.
    const std::byte* value = bytes.data() + bytes.size() - 8 - count * sizeof(T);
    std::size_t found = 0;
    for (std::int64_t first = begin; first < end; ++found, value += sizeof(T)) {
      std::size_t level = 0;
      std::int64_t size = 1;
      for (; first % (2 * size) == 0 && first + 2 * size <= end; size *= 2) ++level;
      ASSERT_LT(found, count);
      const T& expected = levels_[level][static_cast<std::size_t>(first / size)];
      ASSERT_EQ(0, std::memcmp(value, &expected, sizeof(T)))
          << "[" << begin << ", " << end << ") at " << far << ": block of " << size << " from "
          << first;
      first += size;
    }
    ASSERT_EQ(found, count);
  }

  /// Pieces whose ends lie around borders of tiles and groups, and anywhere, of aligned memory and
  /// of other.
  template <class Exec>
  void expect_pieces(Exec& exec, std::int64_t tile, int rounds) const {
    SCOPED_TRACE(tilefold::test::seed());
    shape_stream bits(tilefold::test::seed());
    const auto all = static_cast<std::int64_t>(items().size());
    for (const std::int64_t offset : {0, 1, 3}) {
      // Memory ends where the items end. Aligned loads also take what lies in front of them.
      tilefold::test::gpu_array<T> memory(all + offset);
      memory.assign(items().data(), offset, 0);
      memory.assign(items().data(), all, offset);
      for (int i = 0; i < rounds; ++i) {
        const auto any_end = [&] {
          const std::int64_t unit = bits.one_in(2) ? tile : std::int64_t{1} << bits.below(20);
          const std::int64_t near = bits.below(all / unit + 1) * unit + bits.below(9) - 4;
          return bits.one_in(3) ? bits.below(all + 1)
                                : tilefold::detail::bounded(near, std::int64_t{0}, all);
        };
        std::int64_t begin = any_end();
        std::int64_t end = bits.one_in(4) ? begin + bits.below(100) : any_end();
        if (begin > end) std::swap(begin, end);
        if (end > all) end = all;
        expect_piece(exec, memory.data() + offset, begin, end,
                     bits.one_in(2) ? 0 : bits.below(1000) << 40);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }

 private:
  Op op_;
  std::vector<std::vector<T>> levels_;
};

}  // namespace
