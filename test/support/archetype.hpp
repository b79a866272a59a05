// SPDX-License-Identifier: Apache-2.0
//
// A type of which nothing can be done but what the docs ask for: items and accumulators are copied,
// and given to functions. It has no default constructor, no address by &, no comma, and no operator
// new of its own that would do. For host and device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tilefold/config.hpp>

namespace tilefold::test {

/// An affine map modulo 2^32 or a key, whose parts are given to its maker.
class archetype {
 public:
  TILEFOLD_HD archetype(std::uint32_t factor, std::uint32_t term) : factor_(factor), term_(term) {}

  TILEFOLD_HD std::uint32_t factor() const { return factor_; }
  TILEFOLD_HD std::uint32_t term() const { return term_; }

  void operator&() const = delete;
  template <class T>
  void operator,(const T&) const = delete;
  static void* operator new(std::size_t) = delete;
  static void* operator new(std::size_t, void*) = delete;
  static void* operator new[](std::size_t) = delete;
  static void operator delete(void*) = delete;
  bool operator==(const archetype&) const = delete;
  bool operator<(const archetype&) const = delete;
  void operator!() const = delete;

 private:
  std::uint32_t factor_;
  std::uint32_t term_;
};

/// One after the other: associative, not commutative.
template <class T>
struct composition {
  TILEFOLD_HD T operator()(const T& f, const T& g) const {
    return T(f.factor() * g.factor(), f.term() * g.factor() + g.term());
  }
};

template <class T>
struct less_by_term {
  TILEFOLD_HD bool operator()(const T& a, const T& b) const { return a.term() < b.term(); }
};

template <class T>
struct equal_factors {
  TILEFOLD_HD bool operator()(const T& a, const T& b) const { return a.factor() == b.factor(); }
};

}  // namespace tilefold::test
