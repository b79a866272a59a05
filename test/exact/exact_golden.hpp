// SPDX-License-Identifier: Apache-2.0
//
// Committed results of exact reducers, written by make_exact_golden.py without the library, and the
// multisets of items they are of, spelled here a second time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ios>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tilefold/half.hpp>

#include "random_items.hpp"

namespace tilefold::test::exact_golden {

struct row {
  const char* type;
  const char* family;
  const char* reducer;
  std::uint64_t each;        // a hash of the results of all multisets
  std::uint64_t everything;  // the result of all of their items
};

inline constexpr row rows[] = {
#include "exact_golden.inc"
};

/// A dot product whose terms cancel.
struct dot_row {
  const char* type;
  const char* factors;  // bits of x[0], y[0], x[1]..., in hexadecimal digits
  std::uint64_t value;
};

inline constexpr dot_row dot_rows[] = {
#include "exact_dots.inc"
};

/// The generator of make_golden.py.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::uint64_t wide() {
    const std::uint64_t high = next();
    return high << 31 | next();
  }

 private:
  std::uint64_t state_;
};

/// The script's functions of the same names; m is the multiset's number.
template <class T>
class families {
  using layout = float_layout<T>;
  static constexpr int fraction = layout::fraction;
  static constexpr int exponents = layout::exponents;
  static constexpr int binades = exponents - fraction - 2;

 public:
  using multiset = std::vector<T>;

  static std::vector<multiset> of(const std::string& name) {
    const auto make = [](std::uint64_t number, int count, auto one) {
      numbers r(1000 * number + 100 * sizeof(T) + fraction);
      std::vector<multiset> all;
      for (int m = 0; m < count; ++m) all.push_back(one(r, m));
      return all;
    };
    if (name == "any_bits") return make(0, 60, any_bits);
    if (name == "cancelling") return make(1, 60, cancelling);
    if (name == "ramp") return make(2, 3, ramp);
    if (name == "extremes") return make(3, 60, extremes);
    if (name == "subnormals") return make(4, 60, subnormals);
    if (name == "halfway") return make(5, 6 * binades, halfway);
    if (name == "zeros") return make(6, 12, zeros);
    return make(7, 60, specials);
  }

 private:
  static T item(bool negative, std::uint64_t exponent, std::uint64_t below) {
    return float_of<T>(negative, static_cast<int>(exponent), below);
  }
  static T any_item(numbers& r) {
    const bool negative = (r.next() & 1) != 0;
    const std::uint64_t exponent = r.next() % exponents;
    return item(negative, exponent, r.wide());
  }
  static multiset shuffled(multiset items, numbers& r) {
    for (std::size_t i = items.size() - 1; i > 0; --i)
      std::swap(items[i], items[r.next() % (i + 1)]);
    return items;
  }

  static multiset any_bits(numbers& r, int) {
    multiset items;
    for (int i = 0; i < 40; ++i) items.push_back(any_item(r));
    return items;
  }
  static multiset cancelling(numbers& r, int) {
    multiset items;
    for (int i = 0; i < 16; ++i) {
      items.push_back(any_item(r));
      items.push_back(negated(items.back()));
    }
    const bool negative = (r.next() & 1) != 0;
    const std::uint64_t exponent = r.next() % (exponents / 4);
    items.push_back(item(negative, exponent, r.wide()));
    return shuffled(std::move(items), r);
  }
  static multiset ramp(numbers& r, int) {
    multiset items;
    for (int e = 0; e < exponents; ++e) {
      items.push_back(item(e % 2 != 0, static_cast<std::uint64_t>(e), r.wide()));
    }
    return shuffled(std::move(items), r);
  }
  static multiset extremes(numbers& r, int m) {
    multiset items;
    for (int i = 0; i < 2 + m % 7; ++i) {
      const bool negative = (r.next() & 1) != 0;
      const bool largest = (r.next() & 1) != 0;
      items.push_back(item(negative, exponents - 1, largest ? ~std::uint64_t{0} : r.wide()));
    }
    return items;
  }
  static multiset subnormals(numbers& r, int) {
    multiset items;
    for (int i = 0; i < 16; ++i) {
      const bool negative = (r.next() & 1) != 0;
      const std::uint64_t exponent = r.next() % 3;
      items.push_back(item(negative, exponent, r.wide()));
    }
    return items;
  }
  static multiset halfway(numbers& r, int m) {
    const int exponent = fraction + 2 + m / 6 % binades;
    const bool odd = (m / 3 & 1) != 0;
    const T x = item(odd, static_cast<std::uint64_t>(exponent),
                     (r.wide() & ~std::uint64_t{1}) | (odd ? 1 : 0));
    const T half_unit = item(odd, static_cast<std::uint64_t>(exponent - fraction - 1), 0);
    const T tiny = item((r.next() & 1) != 0, 0, m % 3 != 0 ? 1 : 0);
    return shuffled({x, half_unit, tiny}, r);
  }
  static multiset zeros(numbers& r, int m) {
    multiset items;
    for (int i = 0; i < 5; ++i) items.push_back(item(m % 4 != 0 || (r.next() & 1) != 0, 0, 0));
    return items;
  }
  static multiset specials(numbers& r, int m) {
    multiset items;
    for (int i = 0; i < 5; ++i) items.push_back(any_item(r));
    for (int i = 0; i < 1 + m % 3; ++i) {
      const std::uint64_t kind = r.next() % 4;
      const bool negative = (r.next() & 1) != 0;
      items.push_back(item(negative, exponents, kind < 3 ? 0 : r.wide() | 1));
    }
    return shuffled(std::move(items), r);
  }
};

template <class T>
inline constexpr const char* name_of = std::is_same_v<T, float>    ? "float"
                                       : std::is_same_v<T, double> ? "double"
                                       : std::is_same_v<T, half>   ? "half"
                                                                   : "bfloat16";

template <class T>
std::uint64_t bits_of(T x) {
  return __builtin_bit_cast(typename float_layout<T>::bits, x);
}

inline const std::set<std::string> sums_and_means{"sum", "mean"};
inline const std::set<std::string> products{"sum_of_squares", "l2", "dot_with_reversed"};

/// Expects the committed results of `reducers`, or of all: `fold(reducer's name, multisets)`
/// returns one of each multiset.
template <class T, class Fold>
void expect_all(const Fold& fold, const std::set<std::string>& reducers = {}) {
  std::size_t checked = 0;
  for (const row& wanted : rows) {
    if (std::string(wanted.type) != name_of<T>) continue;
    if (!reducers.empty() && !reducers.contains(wanted.reducer)) continue;
    const auto sets = families<T>::of(wanted.family);
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const T result : fold(std::string(wanted.reducer), sets)) {
      hash = (hash ^ bits_of(result)) * 0x100000001b3u;
    }
    EXPECT_EQ(hash, wanted.each) << wanted.type << " " << wanted.family << " " << wanted.reducer;
    std::vector<T> everything;
    for (const auto& items : sets) everything.insert(everything.end(), items.begin(), items.end());
    const std::vector<T> results =
        fold(std::string(wanted.reducer), std::vector<std::vector<T>>{everything});
    EXPECT_EQ(bits_of(results.at(0)), wanted.everything)
        << wanted.type << " all " << wanted.family << " " << wanted.reducer;
    ++checked;
  }
  EXPECT_EQ(checked, 8 * (reducers.empty() ? 5 : reducers.size()));
}

/// Expects the committed dot products of `dot(x, y)`.
template <class T, class Dot>
void expect_dots(const Dot& dot) {
  using bits = typename float_layout<T>::bits;
  int checked = 0;
  for (const dot_row& wanted : dot_rows) {
    if (std::string(wanted.type) != name_of<T>) continue;
    std::vector<T> factors[2];
    std::istringstream text(wanted.factors);
    std::uint64_t factor;
    for (int i = 0; text >> std::hex >> factor; ++i) {
      factors[i % 2].push_back(__builtin_bit_cast(T, static_cast<bits>(factor)));
    }
    EXPECT_EQ(factors[1].size(), 20u);
    EXPECT_EQ(bits_of(dot(factors[0], factors[1])), wanted.value) << wanted.factors;
    ++checked;
  }
  EXPECT_GT(checked, 2);
}

}  // namespace tilefold::test::exact_golden
