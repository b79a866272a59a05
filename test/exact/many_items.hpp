// SPDX-License-Identifier: Apache-2.0
//
// Many random items, of one kind (random_items.hpp) or mixed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// Items for many sums at once, in which short ways and long ones meet: those of any_items(), and
/// numbers of one size; of sizes that change from one stretch to the next, with zeros between;
/// zeros of both signs; of one size but for some; some that are not finite.
inline constexpr int num_forest_kinds = num_exact_kinds + 6;
template <class T>
std::vector<T> forest_items(int kind, std::size_t n, std::mt19937_64& random) {
  if constexpr (!std::is_integral_v<T>) {
    if (kind > num_exact_kinds) {
      const float infinity = std::numeric_limits<float>::infinity();
      std::normal_distribution<float> normal;
      std::vector<T> items(n);
      for (std::size_t i = 0; i < n; ++i) {
        float x = normal(random);
        switch (kind - num_exact_kinds) {
          case 1:
            break;
          case 2:
            x = i / 3000 % 3 == 0 ? 0 : std::ldexp(x, static_cast<int>(i / 700 % 20) - 10);
            break;
          case 3:
            x = random() % 1500 == 0 ? x : random() % 700 == 0 ? 0.0f : -0.0f;
            break;
          case 4:
            if (random() % 300 == 0) {
              const float size = std::ldexp(3.0f, static_cast<int>(random() % 12));
              x = x < 0 ? -size : size;
            }
            break;
          default:
            if (random() % 400 == 0) x = random() % 2 == 0 ? infinity : -infinity;
            if (random() % 2000 == 0) x = std::numeric_limits<float>::quiet_NaN();
        }
        items[i] = static_cast<T>(x);
      }
      return items;
    }
  }
  return any_items<T>(std::min(kind, num_exact_kinds), n, random);
}

/// Where the parts of n items begin and end; some are empty.
inline std::vector<std::int64_t> random_cuts(std::size_t n, int parts, std::mt19937_64& random) {
  std::vector<std::int64_t> cuts{0, static_cast<std::int64_t>(n)};
  for (int i = 1; i < parts; ++i) {
    cuts.push_back(static_cast<std::int64_t>(random() % (n + 1)));
  }
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace tilefold::test
