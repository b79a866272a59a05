// SPDX-License-Identifier: Apache-2.0
//
// Rows of one length around the limits up to which each is a short range of its own, in one block
// or in a cluster (short_kernel.cuh): what the programs that test them share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/if_empty.hpp>
#include <tilefold/reducers/arg.hpp>
#include <tilefold/segmented_reduce.hpp>

#include "../conformance/cases.hpp"
#include "../support/device.cuh"
#include "../support/items.hpp"
#include "../support/seed.hpp"

namespace tilefold::test {

struct rows {
  std::int64_t num, length;
};

// Around a warp's, a block's and a cluster's longest row, of items of 2 to 16 bytes.
inline const std::vector<std::int64_t> row_lengths{
    1,     2,     31,    32,    33,    511,    512,    1000,   1024,  1025,
    2048,  2049,  4096,  8191,  8192,  8193,   9999,   16384,  16385, 32768,
    32769, 40000, 65536, 65537, 70001, 131072, 131073, 262144, 262145};

// Around the numbers up to which short ones are taken; the rows of a shape are at most so many
// items.
inline constexpr std::int64_t most_items = std::int64_t{1} << 20;

inline std::vector<rows> shapes() {
  std::vector<rows> all;
  for (const std::int64_t length : row_lengths) {
    for (const std::int64_t num :
         {1, 2, 16, 17, 131, 133, 256, 257, 512, 513, 640, 641, 1024, 1025}) {
      if (num == 1 || num * length <= most_items) all.push_back({num, length});
    }
  }
  return all;
}

template <class Item>
std::vector<Item> items_of(std::int64_t n) {
  if constexpr (requires { Item::word; }) {
    using word = std::remove_extent_t<decltype(Item::word)>;
    constexpr std::int64_t count = sizeof(Item) / sizeof(word);
    const auto words = make_items<word>(pattern::any_bits, n * count, seed());
    std::vector<Item> items(static_cast<std::size_t>(n));
    std::memcpy(items.data(), words.data(), items.size() * sizeof(Item));
    return items;
  } else {
    return make_items<Item>(pattern::mixed, n, seed());
  }
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
// Between a value and its index lies memory that nobody writes.
template <class T>
bool same_bits(const reducers::indexed_value<T>& a, const reducers::indexed_value<T>& b) {
  return test::same_bits(a.value, b.value) && a.index == b.index;
}

/// Whether a GPU's rows have the host's bits, from aligned memory and not. `fold` folds rows with
/// an executor: (executor, first item, rows, results).
template <class Result, class Item, class Fold>
void have_the_hosts_bits(const std::vector<rows>& all, const Fold& fold) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto items = items_of<Item>(most_items + 3);
  const gpu_array<Item> device(items);
  cuda_executor gpu;
  for (const rows shape : all) {
    for (const int off : {0, 3}) {
      std::vector<Result> expected(static_cast<std::size_t>(shape.num));
      fold(host_executor{}, items.data() + off, shape, expected.data());
      const gpu_array<Result> out(shape.num);
      fold(gpu, static_cast<const Item*>(device.data()) + off, shape, out.data());
      const auto got = out.to_host();
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_TRUE(test::same_bits(got[i], expected[i]))
            << "row " << i << " of " << shape.num << " of " << shape.length << " items from "
            << off;
      }
    }
  }
}

/// An operator that is not associative, so that each order has bits of its own.
template <class Item>
struct mix_rows {
  template <class Exec, class It>
  void operator()(Exec&& exec, It first, const rows& of, Item* out) const {
    tilefold::segmented_reduce_into(exec, first, of.num, of.length, out,
                                    if_empty(mix_words{}, Item{}));
  }
};

/// Whether rows that repeat after `period` have the host's bits; it folds one period.
template <class Item>
void many_have_the_hosts_bits(const rows& shape, std::int64_t period) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto some = items_of<Item>(period * shape.length);
  std::vector<Item> items;
  items.reserve(static_cast<std::size_t>(shape.num * shape.length));
  for (std::int64_t i = 0; i < shape.num; i += period) {
    const std::int64_t num = std::min(period, shape.num - i);
    items.insert(items.end(), some.begin(), some.begin() + num * shape.length);
  }
  std::vector<Item> expected(static_cast<std::size_t>(period));
  mix_rows<Item>{}(host_executor{}, some.data(), {period, shape.length}, expected.data());
  const gpu_array<Item> device(items);
  const gpu_array<Item> out(shape.num);
  cuda_executor gpu;
  mix_rows<Item>{}(gpu, static_cast<const Item*>(device.data()), shape, out.data());
  const auto got = out.to_host();
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(test::same_bits(got[i], expected[i % static_cast<std::size_t>(period)]))
        << "row " << i << " of " << shape.num << " of " << shape.length;
  }
}

}  // namespace tilefold::test
