// SPDX-License-Identifier: Apache-2.0
//
// Many random items, of one kind (random_items.hpp) or mixed.
#pragma once

#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

#include "random_items.hpp"

namespace tilefold::test {

/// n items: multisets of one kind, or of a random one each, one after the other.
template <class T>
std::vector<T> items_of(int kind, std::size_t n, std::mt19937_64& random) {
  std::vector<T> items;
  while (items.size() < n) {
    const auto k =
        kind < num_exact_kinds ? kind : static_cast<int>(random() % (num_exact_kinds - 1));
    const auto more = random_multiset<T>(static_cast<exact_kind>(k), 1000, random);
    items.insert(items.end(), more.begin(), more.end());
  }
  items.resize(n);
  return items;
}

/// The same, or any integers at all.
template <class T>
std::vector<T> any_items(int kind, std::size_t n, std::mt19937_64& random) {
  if constexpr (std::is_integral_v<T>) {
    std::vector<T> items(n);
    for (T& x : items) x = static_cast<T>(random());
    return items;
  } else {
    return items_of<T>(kind, n, random);
  }
}

}  // namespace tilefold::test
