// SPDX-License-Identifier: Apache-2.0
//
// Items with indices for the tests of reduce_by_index: indices of many shapes, some of them without
// a result, and the serial oracle. Uses nothing of the library but TILEFOLD_HD.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "oracle.hpp"
#include "order.hpp"
#include "random.hpp"

namespace tilefold::test {

enum class index_shape {
  uniform,     // any result
  one,         // all items have the same
  power_law,   // half of the items have the first, a quarter the second...
  ascending,   // runs, as of sorted keys
  descending,  // the last result first
  rare,        // few results have items
  outside,     // a third have no result, below and above
  all_outside,
};

inline constexpr index_shape index_shapes[] = {
    index_shape::uniform,    index_shape::one,  index_shape::power_law, index_shape::ascending,
    index_shape::descending, index_shape::rare, index_shape::outside,   index_shape::all_outside};

inline std::string name_of(index_shape shape) {
  static constexpr const char* names[] = {"uniform",    "one",  "power_law", "ascending",
                                          "descending", "rare", "outside",   "all_outside"};
  return names[static_cast<int>(shape)];
}

/// An index that none of `num_results` results has, if the type holds one; else the last result's.
template <class Index>
Index outside_index(std::int64_t num_results, shape_stream& bits) {
  using limits = std::numeric_limits<Index>;
  const auto most = static_cast<std::uint64_t>((limits::max)());
  const auto results = static_cast<std::uint64_t>(num_results);
  if (std::is_signed_v<Index> && (bits.one_in(2) || results > most)) {
    return bits.one_in(2) ? Index(-1) : (limits::min)();
  }
  if (results > most) return static_cast<Index>(num_results - 1);
  return bits.one_in(2) ? static_cast<Index>(num_results) : (limits::max)();
}

/// n indices for num_results >= 1 results, as far as the type holds them.
template <class Index>
std::vector<Index> indices_of(index_shape shape, std::int64_t n, std::int64_t num_results,
                              std::uint64_t seed) {
  shape_stream bits(seed);
  const auto most = static_cast<std::uint64_t>((std::numeric_limits<Index>::max)());
  const auto last = std::min(most, static_cast<std::uint64_t>(num_results) - 1);
  const std::int64_t results = static_cast<std::int64_t>(last) + 1;
  const std::int64_t only = bits.below(results);
  std::vector<Index> indices;
  for (std::int64_t j = 0; j < n; ++j) {
    const auto share = [&] {
      return static_cast<std::int64_t>(double(j) / double(n) * double(results));
    };
    std::int64_t index = 0;
    switch (shape) {
      case index_shape::uniform:
        index = bits.below(results);
        break;
      case index_shape::one:
        index = only;
        break;
      case index_shape::power_law:
        while (index + 1 < results && bits.one_in(2)) ++index;
        if (bits.one_in(4)) index = bits.below(results);
        break;
      case index_shape::ascending:
        index = share();
        break;
      case index_shape::descending:
        index = results - 1 - share();
        break;
      case index_shape::rare:
        index = (only + 101 * bits.below(3)) % results;
        break;
      case index_shape::outside:
      case index_shape::all_outside:
        if (shape == index_shape::all_outside || bits.one_in(3)) {
          indices.push_back(outside_index<Index>(num_results, bits));
          continue;
        }
        index = bits.below(results);
    }
    indices.push_back(static_cast<Index>(index));
  }
  return indices;
}

/// The result of an index, or -1.
template <class Index>
std::int64_t result_of_index(Index index, std::int64_t num_results) {
  if constexpr (std::is_signed_v<Index>) {
    if (index < 0) return -1;
  }
  const auto i = static_cast<std::uint64_t>(index);
  return i < static_cast<std::uint64_t>(num_results) ? static_cast<std::int64_t>(i) : -1;
}

/// The positions of the items of each result, in their order.
template <class Index>
std::vector<std::vector<std::int64_t>> positions_by_index(const std::vector<Index>& indices,
                                                          std::int64_t num_results) {
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(num_results));
  for (std::size_t j = 0; j < indices.size(); ++j) {
    const std::int64_t i = result_of_index(indices[j], num_results);
    if (i >= 0) positions[static_cast<std::size_t>(i)].push_back(static_cast<std::int64_t>(j));
  }
  return positions;
}

/// The hashes of the trees of all results, of items that are their own position, after `initial`.
template <class Index>
std::vector<lifted_hash> hashes_by_index(const lifted_hash& initial,
                                         const std::vector<Index>& indices,
                                         std::int64_t num_results) {
  std::vector<running_fold<lifted_node_hash, lifted_hash>> folds(
      static_cast<std::size_t>(num_results),
      running_fold<lifted_node_hash, lifted_hash>(lifted_node_hash{}));
  std::vector<bool> has_items(static_cast<std::size_t>(num_results));
  for (std::size_t j = 0; j < indices.size(); ++j) {
    const std::int64_t i = result_of_index(indices[j], num_results);
    if (i < 0) continue;
    has_items[static_cast<std::size_t>(i)] = true;
    folds[static_cast<std::size_t>(i)].push(lifted_hash(leaf_hash(static_cast<std::int64_t>(j))));
  }
  std::vector<lifted_hash> hashes(static_cast<std::size_t>(num_results), initial);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (has_items[i]) hashes[i] = lifted_node_hash{}(initial, folds[i].value());
  }
  return hashes;
}

/// Items 0, 1, ..., n - 1.
inline std::vector<std::uint32_t> own_positions(std::int64_t n) {
  std::vector<std::uint32_t> items(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::uint32_t>(i);
  return items;
}

/// Says which results differ.
template <class T>
std::string differences(const std::vector<T>& got, const std::vector<T>& expected) {
  std::string text;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i < got.size() && got[i] == expected[i]) continue;
    if (++wrong <= 5) text += "result " + std::to_string(i) + ", ";
  }
  if (got.size() != expected.size()) text += "another size, ";
  return wrong == 0 ? text : text + std::to_string(wrong) + " wrong";
}

}  // namespace tilefold::test
