// SPDX-License-Identifier: Apache-2.0
//
// What the tests of sequential_blocks() on a GPU share: operators, items, and bytes of results.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilefold/cuda.cuh>
#include <tilefold/host.hpp>
#include <tilefold/sequential_blocks.hpp>

#include "support/items.hpp"
#include "support/oracle.hpp"
#include "support/seed.hpp"

namespace tilefold::test {

/// Bytes of a result, to compare.
template <class T>
std::vector<unsigned char> bytes_of(const std::vector<T>& values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<unsigned char> bytes_of(const T& value) {
  return bytes_of(std::vector<T>{value});
}

/// Items of a type, an operator on them, and an initial value.
struct float_sums {
  static auto items(std::int64_t n) { return make_items<float>(pattern::mixed, n, seed()); }
  plus op;
  float init = 0.5f;
};
struct double_sums {
  static auto items(std::int64_t n) { return make_items<double>(pattern::mixed, n, seed()); }
  plus op;
  double init = 0.5;
};
/// Of which no two can change places.
struct hashes {
  static auto items(std::int64_t n) { return leaf_hashes(static_cast<std::size_t>(n)); }
  node_hash op;
  tree_hash init{1, 2};
};

/// The same in 64 bytes.
struct wide_hash {
  tree_hash of[4];
};
struct wide_node_hash {
  TILEFOLD_HD wide_hash operator()(const wide_hash& a, const wide_hash& b) const {
    return {{node_hash{}(a.of[0], b.of[0]), node_hash{}(a.of[1], b.of[1]),
             node_hash{}(a.of[2], b.of[2]), node_hash{}(a.of[3], b.of[3])}};
  }
};
struct wide_hashes {
  static std::vector<wide_hash> items(std::int64_t n) {
    std::vector<wide_hash> all;
    for (std::int64_t i = 0; i < n; ++i) {
      all.push_back({{leaf_hash(i), leaf_hash(i + 1), leaf_hash(2 * i), leaf_hash(-i)}});
    }
    return all;
  }
  wide_node_hash op;
  wide_hash init{};
};

}  // namespace tilefold::test
