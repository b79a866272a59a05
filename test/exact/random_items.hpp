// SPDX-License-Identifier: Apache-2.0
//
// Random multisets on which sums of floating numbers go wrong.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <tilefold/half.hpp>

namespace tilefold::test {

/// To compare bits, also those of NaN and -0.
template <class T>
std::string bytes_of(const T& x) {
  return {reinterpret_cast<const char*>(&x), sizeof(T)};
}

/// How the items of a multiset are drawn.
enum class exact_kind {
  any_bits,     // any finite number at all
  one_binade,   // numbers of one size
  cancelling,   // x with -x, and something tiny
  halfway,      // numbers whose sum lies on or beside the middle of two neighbours
  subnormal,    // of the smallest numbers
  extreme,      // of the largest ones
  huge_pairs,   // the largest ones with their negatives, and -0
  minus_zeros,  // -0 alone
};
inline constexpr int num_exact_kinds = 8;

template <class T>
struct float_layout;
template <>
struct float_layout<double> {
  using bits = std::uint64_t;
  static constexpr int fraction = 52, exponents = 2047;
};
template <>
struct float_layout<float> {
  using bits = std::uint32_t;
  static constexpr int fraction = 23, exponents = 255;
};
template <>
struct float_layout<half> {
  using bits = std::uint16_t;
  static constexpr int fraction = 10, exponents = 31;
};
template <>
struct float_layout<bfloat16> {
  using bits = std::uint16_t;
  static constexpr int fraction = 7, exponents = 255;
};

template <class T>
T float_of(bool negative, int exponent, std::uint64_t fraction) {
  using layout = float_layout<T>;
  using bits = typename layout::bits;
  const std::uint64_t all = std::uint64_t{negative} << (8 * sizeof(T) - 1) |
                            static_cast<std::uint64_t>(exponent) << layout::fraction |
                            (fraction & ((std::uint64_t{1} << layout::fraction) - 1));
  return __builtin_bit_cast(T, static_cast<bits>(all));
}

template <class T>
T negated(T x) {
  using bits = typename float_layout<T>::bits;
  const auto sign = static_cast<bits>(std::uint64_t{1} << (8 * sizeof(T) - 1));
  return __builtin_bit_cast(T, static_cast<bits>(__builtin_bit_cast(bits, x) ^ sign));
}

template <class T>
std::vector<T> random_multiset(exact_kind kind, int n, std::mt19937_64& random) {
  using layout = float_layout<T>;
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(bound));
  };
  std::vector<T> items;
  const int middle = 1 + below(layout::exponents - 1);
  for (int i = 0; i < n; ++i) {
    const bool negative = random() % 2 != 0;
    switch (kind) {
      case exact_kind::any_bits:
        items.push_back(float_of<T>(negative, below(layout::exponents), random()));
        break;
      case exact_kind::one_binade:
        items.push_back(float_of<T>(negative, middle, random()));
        break;
      case exact_kind::cancelling: {
        const T x = float_of<T>(negative, below(layout::exponents), random());
        items.push_back(x);
        items.push_back(negated(x));
        if (i == 0) items.push_back(float_of<T>(negative, below(layout::exponents / 4), random()));
        break;
      }
      case exact_kind::halfway: {
        // 1 + half a unit in the last place + or - something far smaller, scaled.
        const int exponent = std::max(middle, layout::fraction + 3);
        if (i == 0) items.push_back(float_of<T>(false, exponent, random()));
        if (i == 1) items.push_back(float_of<T>(false, exponent - layout::fraction - 1, 0));
        if (i == 2 && below(3) > 0) items.push_back(float_of<T>(negative, below(2), 1));
        break;
      }
      case exact_kind::subnormal:
        items.push_back(float_of<T>(negative, below(3), random()));
        break;
      case exact_kind::extreme:
        items.push_back(float_of<T>(negative, layout::exponents - 1 - below(2), random()));
        break;
      case exact_kind::huge_pairs: {
        const T x = float_of<T>(negative, layout::exponents - 1 - below(3), random());
        items.insert(items.end(), {x, negated(x), float_of<T>(true, 0, 0)});
        break;
      }
      case exact_kind::minus_zeros:
        items.push_back(float_of<T>(true, 0, 0));
        break;
    }
  }
  std::shuffle(items.begin(), items.end(), random);
  return items;
}

/// What an exact zero is as a sum of these items.
template <class T>
T zero_of(const std::vector<T>& items) {
  const auto is_minus_zero = [](T x) {
    using bits = typename float_layout<T>::bits;
    return __builtin_bit_cast(bits, x) == __builtin_bit_cast(bits, float_of<T>(true, 0, 0));
  };
  const bool all = !items.empty() && std::all_of(items.begin(), items.end(), is_minus_zero);
  return float_of<T>(all, 0, 0);
}

}  // namespace tilefold::test
