// SPDX-License-Identifier: Apache-2.0
//
// A family of operators, functions and reducers that nobody picked by hand: a number decides the
// struct, and by which rule each of its fields is made. No function adds what it has multiplied, so
// whoever fuses the two has done so across the border between two calls. Host and device code.
//
// Fields are of three kinds, so that numbers stay finite in trees of any size:
//
// - carriers are near 1 or -1, and only passed on, chosen or swapped;
// - powers are products of carriers and of powers;
// - totals are sums of anything, or a total times a carrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tilefold/config.hpp>

#include "../support/oracle.hpp"
#include "arithmetic.hpp"

namespace tilefold::test::net {

/// Numbers from a seed, for compile time as well.
TILEFOLD_HD constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t i) {
  return mixed_bits(mixed_bits(seed + 0x9e3779b97f4a7c15u) + i);
}
TILEFOLD_HD constexpr int draw_below(int bound, std::uint64_t seed, std::uint64_t i) {
  return static_cast<int>(net::draw(seed, i) % static_cast<std::uint64_t>(bound));
}

// ---- structs

template <class Real, int N>
struct real_fields {
  Real real[N];
};
template <class Real>
struct real_fields<Real, 0> {};
template <class Int, int N>
struct key_fields {
  Int key[N];
};
template <class Int>
struct key_fields<Int, 0> {};

template <class Real, int Reals, class Int, int Keys>
struct fields : real_fields<Real, Reals>, key_fields<Int, Keys> {};

/// The structs of the family: 8 to 48 bytes, none with padding.
template <class Real, int Reals, class Int, int Keys>
struct shape {
  using real = Real;
  using key = Int;
  static constexpr int reals = Reals;
  static constexpr int keys = Keys;
  template <class Arithmetic>
  using values = fields<typename Arithmetic::template real<Real>, Reals, Int, Keys>;
  static_assert(sizeof(values<as_written>) == Reals * sizeof(Real) + Keys * sizeof(Int));
};

template <class... Shapes>
struct shape_list {
  static constexpr int size = sizeof...(Shapes);
};
using shapes = shape_list<shape<float, 2, std::uint32_t, 0>,   //
                          shape<double, 2, std::uint64_t, 1>,  //
                          shape<float, 3, std::uint32_t, 1>,   //
                          shape<float, 1, std::uint32_t, 1>,   //
                          shape<double, 2, std::uint64_t, 0>,  //
                          shape<float, 3, std::uint32_t, 0>,   //
                          shape<double, 4, std::uint64_t, 2>,  //
                          shape<float, 4, std::uint32_t, 1>,   //
                          shape<double, 3, std::uint64_t, 1>,  //
                          shape<float, 8, std::uint32_t, 2>,   //
                          shape<float, 4, std::uint16_t, 0>,   //
                          shape<double, 3, std::uint32_t, 2>,  //
                          shape<float, 9, std::uint32_t, 3>,   //
                          shape<float, 2, std::uint16_t, 4>,   //
                          shape<double, 1, std::uint32_t, 2>,  //
                          shape<float, 5, std::uint32_t, 2>,   //
                          shape<float, 1, std::uint16_t, 4>,   //
                          shape<double, 5, std::uint64_t, 0>,  //
                          shape<float, 0, std::uint16_t, 5>,   //
                          shape<float, 0, std::uint32_t, 3>>;

template <int I, class List>
struct shape_at;
template <int I, class First, class... Rest>
struct shape_at<I, shape_list<First, Rest...>> : shape_at<I - 1, shape_list<Rest...>> {};
template <class First, class... Rest>
struct shape_at<0, shape_list<First, Rest...>> {
  using type = First;
};

// ---- the rules of an operator

enum class kind { carrier, power, total };

TILEFOLD_HD constexpr kind kind_of(std::uint64_t seed, int reals, int field) {
  if (field == 0 && reals > 1) return kind::carrier;
  if (field == reals - 1) return kind::total;
  if (field == 1) return kind::power;
  return static_cast<kind>(net::draw_below(3, seed, 1000 + static_cast<unsigned>(field)));
}

/// A field that is of `at_most` that kind, by chance; field 0 is the least.
TILEFOLD_HD constexpr int field_of(kind at_most, std::uint64_t seed, int reals, std::uint64_t i) {
  const int start = net::draw_below(reals, seed, i);
  for (int k = 0; k < reals; ++k) {
    const int field = (start + k) % reals;
    if (net::kind_of(seed, reals, field) <= at_most) return field;
  }
  return 0;
}
TILEFOLD_HD constexpr int total_of(std::uint64_t seed, int reals, std::uint64_t i) {
  const int start = net::draw_below(reals, seed, i);
  for (int k = 0; k < reals; ++k) {
    const int field = (start + k) % reals;
    if (net::kind_of(seed, reals, field) == kind::total) return field;
  }
  return reals - 1;
}

/// Combines two structs of a shape by rules that `Seed` decides.
template <std::uint64_t Seed, class Shape>
struct generated_op {
  template <class Values>
  TILEFOLD_HD Values operator()(const Values& a, const Values& b) const {
    Values both;
    fill(a, b, both, std::make_integer_sequence<int, Shape::reals>(),
         std::make_integer_sequence<int, Shape::keys>());
    return both;
  }

 private:
  static constexpr std::uint64_t rule_seed = net::draw(Seed, 1);
  TILEFOLD_HD static constexpr int choose(int field, int what, int bound) {
    return net::draw_below(bound, rule_seed, static_cast<std::uint64_t>(16 * field + what));
  }
  TILEFOLD_HD static constexpr int source(kind at_most, int field, int what) {
    return net::field_of(at_most, rule_seed, Shape::reals,
                         static_cast<std::uint64_t>(16 * field + what));
  }

  template <class Values, int... Real, int... Key>
  TILEFOLD_HD static void fill(const Values& a, const Values& b, Values& both,
                               std::integer_sequence<int, Real...>,
                               std::integer_sequence<int, Key...>) {
    ((both.real[Real] = real<Real>(a, b)), ...);
    ((both.key[Key] = key<Key>(a, b)), ...);
  }

  template <int I, class Values>
  TILEFOLD_HD static auto real(const Values& a, const Values& b) {
    constexpr kind made = net::kind_of(rule_seed, Shape::reals, I);
    if constexpr (made == kind::carrier) {
      return carrier<I>(a, b);
    } else if constexpr (made == kind::power) {
      return power<I>(a, b);
    } else if constexpr (I == Shape::reals - 1) {
      return last_total<I>(a, b);
    } else {
      return total<I>(a, b);
    }
  }

  template <int I, class Values>
  TILEFOLD_HD static auto carrier(const Values& a, const Values& b) {
    constexpr int p = source(kind::carrier, I, 1);
    constexpr int q = source(kind::carrier, I, 2);
    constexpr int rule = choose(I, 3, Shape::keys > 0 ? 6 : 5);
    if constexpr (rule == 0 || rule == 4) {
      return b.real[p];
    } else if constexpr (rule == 1) {
      return a.real[p];
    } else if constexpr (rule == 2) {
      return b.real[q] < a.real[p] ? b.real[q] : a.real[p];
    } else if constexpr (rule == 3) {
      return a.real[p] < b.real[q] ? b.real[q] : a.real[p];
    } else {
      return ((a.key[0] ^ b.key[0]) & 1) != 0 ? a.real[p] : b.real[q];
    }
  }

  template <int I, class Values>
  TILEFOLD_HD static auto power(const Values& a, const Values& b) {
    constexpr int p = source(kind::power, I, 1);
    constexpr int q = source(kind::power, I, 2);
    constexpr int rule = choose(I, 3, I == 1 ? 4 : 5);
    if constexpr (rule <= 2) {
      return a.real[p] * b.real[q];
    } else if constexpr (rule == 3) {
      return a.real[source(kind::carrier, I, 4)] * b.real[source(kind::carrier, I, 5)];
    } else {
      return b.real[p];
    }
  }

  // The last field adds up what another field carries on, which may be a product of f's or of the
  // call before: the sum that a compiler would fuse it with.
  template <int I, class Values>
  TILEFOLD_HD static auto last_total(const Values& a, const Values& b) {
    constexpr int fed_by = Shape::reals > 2 ? choose(I, 1, 2) : 0;
    constexpr int rule = choose(I, 2, 4);
    if constexpr (rule == 0) {
      return a.real[I] + b.real[fed_by];
    } else if constexpr (rule == 1) {
      return (a.real[I] + b.real[I]) + a.real[fed_by];
    } else if constexpr (rule == 2) {
      return (a.real[I] + b.real[I]) + b.real[fed_by];
    } else {
      return a.real[fed_by] + b.real[I];
    }
  }

  template <int I, class Values>
  TILEFOLD_HD static auto total(const Values& a, const Values& b) {
    constexpr int p = source(kind::total, I, 1);
    constexpr int q = source(kind::total, I, 2);
    constexpr int r = source(kind::total, I, 4);
    constexpr int rule = choose(I, 3, 8);
    if constexpr (rule <= 1) {
      return a.real[p] + b.real[q];
    } else if constexpr (rule == 2) {
      return (a.real[I] + b.real[q]) + a.real[r];
    } else if constexpr (rule <= 4) {
      return (a.real[p] + b.real[I]) + b.real[r];
    } else if constexpr (rule == 5) {
      return a.real[net::total_of(rule_seed, Shape::reals, 500 + I)] *
             b.real[source(kind::carrier, I, 5)];
    } else if constexpr (rule == 6) {
      return a.real[source(kind::carrier, I, 5)] *
             b.real[net::total_of(rule_seed, Shape::reals, 500 + I)];
    } else {
      return b.real[net::total_of(rule_seed, Shape::reals, 500 + I)] + a.real[p];
    }
  }

  // The first key spells the tree; the others may do less.
  template <int I, class Values>
  TILEFOLD_HD static auto key(const Values& a, const Values& b) {
    using Int = typename Shape::key;
    constexpr int p = choose(100 + I, 1, Shape::keys);
    constexpr int q = choose(100 + I, 2, Shape::keys);
    constexpr int rule = I == 0 ? 0 : choose(100 + I, 3, 4);
    if constexpr (rule <= 1) {
      constexpr int left = I == 0 ? 0 : p;
      constexpr int right = I == 0 ? 0 : q;
      return static_cast<Int>(mixed_bits(std::uint64_t{a.key[left]} * 0x9e3779b97f4a7c15u +
                                         (std::uint64_t{b.key[right]} ^ 0x1234567u)));
    } else if constexpr (rule == 2) {
      return a.key[p];
    } else {
      return static_cast<Int>(a.key[p] ^ b.key[q]);
    }
  }
};

// ---- functions of items

/// A constant a little away from 1, or from 0: so little that the product of 2^17 items is finite.
template <class Real>
TILEFOLD_HD constexpr Real near_one(std::uint64_t seed, int field) {
  return static_cast<Real>(
      1.0 + (1 + net::draw_below(1 << 20, seed, 50 + static_cast<unsigned>(field))) * 0x1p-33);
}
template <class Real>
TILEFOLD_HD constexpr Real near_zero(std::uint64_t seed, int field) {
  return static_cast<Real>((net::near_one<double>(seed, field) - 1.0) * 0x1p6);
}

/// The last thing that a function does to a number: multiply, add, or nothing.
enum class ending { product, sum, pass };

template <std::uint64_t Seed>
TILEFOLD_HD constexpr ending ending_of(int field) {
  return static_cast<ending>(net::draw_below(3, Seed, 70 + static_cast<unsigned>(field)));
}

/// The same of what makes the items: what goes into the first fields is a product as a rule.
template <std::uint64_t Seed>
TILEFOLD_HD constexpr ending first_ending_of(int field) {
  if (field < 2 && net::draw_below(5, Seed, 90 + static_cast<unsigned>(field)) != 0) {
    return ending::product;
  }
  return net::ending_of<Seed>(field);
}

/// x after that, with constants for field `I`.
template <ending End, std::uint64_t Seed, int I, class Real, class X>
TILEFOLD_HD X ended(const X& x) {
  if constexpr (End == ending::product) {
    return x * X(net::near_one<Real>(Seed, I));
  } else if constexpr (End == ending::sum) {
    return x + X(net::near_zero<Real>(Seed, I));
  } else {
    return x;
  }
}

/// Raw items (numbers, narrow ones too, so that a thread of a GPU folds several) as structs.
/// Computed in `Work`, then converted: each field multiplies last, adds last, or does neither.
template <std::uint64_t Seed, class Shape, class Arithmetic, class Raw, class Work>
struct generated_f {
  using number = typename Arithmetic::template real<Work>;
  using real = typename Arithmetic::template real<typename Shape::real>;
  using values = typename Shape::template values<Arithmetic>;

  TILEFOLD_HD values operator()(const Raw& item) const {
    return made<false>(item, item, std::make_integer_sequence<int, Shape::reals>(),
                       std::make_integer_sequence<int, Shape::keys>());
  }
  /// Of two ranges: what ends by a product multiplies the two numbers.
  TILEFOLD_HD values operator()(const Raw& a, const Raw& b) const {
    return made<true>(a, b, std::make_integer_sequence<int, Shape::reals>(),
                      std::make_integer_sequence<int, Shape::keys>());
  }

 private:
  template <bool OfTwo, int... Real, int... Key>
  TILEFOLD_HD static values made(const Raw& a, const Raw& b, std::integer_sequence<int, Real...>,
                                 std::integer_sequence<int, Key...>) {
    values all;
    ((all.real[Real] = static_cast<real>(number_of<OfTwo, Real>(number_in(a), number_in(b)))), ...);
    ((all.key[Key] = static_cast<typename Shape::key>(
          mixed_bits(bits_of(a) + 65537u * bits_of(b) + static_cast<unsigned>(Key)))),
     ...);
    return all;
  }
  template <bool OfTwo, int I>
  TILEFOLD_HD static number number_of(const number& x, const number& y) {
    constexpr ending end = net::first_ending_of<Seed>(I);
    if constexpr (OfTwo && end == ending::product) {
      return x * y;
    } else {
      return net::ended<end, Seed, I, Work>(x);
    }
  }
  TILEFOLD_HD static number number_in(const Raw& item) {
    if constexpr (sizeof(Raw) == 2) {
      return static_cast<Work>(static_cast<float>(item));
    } else {
      return static_cast<Work>(item);
    }
  }
  TILEFOLD_HD static std::uint64_t bits_of(const Raw& item) {
    if constexpr (sizeof(Raw) == 8) {
      return __builtin_bit_cast(std::uint64_t, item);
    } else if constexpr (sizeof(Raw) == 4) {
      return __builtin_bit_cast(std::uint32_t, item);
    } else {
      return __builtin_bit_cast(std::uint16_t, item);
    }
  }
};

/// A struct's fields, each multiplied, or added to, or as they are: a lift or a projection.
template <std::uint64_t Seed, class Shape>
struct generated_step {
  template <class Values>
  TILEFOLD_HD Values operator()(const Values& x) const {
    Values made = x;
    step(made, std::make_integer_sequence<int, Shape::reals>());
    return made;
  }

 private:
  template <class Values, int... Real>
  TILEFOLD_HD static void step(Values& x, std::integer_sequence<int, Real...>) {
    ((x.real[Real] =
          net::ended<net::ending_of<Seed>(Real), Seed, Real, typename Shape::real>(x.real[Real])),
     ...);
  }
};

}  // namespace tilefold::test::net
