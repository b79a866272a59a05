// SPDX-License-Identifier: Apache-2.0
//
// The two families of pseudo-random numbers of the tests, the same on every machine. Values, which
// host and device make of an index or draw one after the other; and shapes: how many, how long,
// where. The seed is the test's own, or the process's (seed.hpp). Committed references have
// generators of their own, which other languages repeat (golden/, contraction/).
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <tilefold/config.hpp>

namespace tilefold::test {

// ---- values

/// The finalizer of splitmix64: a bijection that lets every input bit move every output bit.
TILEFOLD_HD constexpr std::uint64_t mixed_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// splitmix64.
class bit_stream {
 public:
  explicit bit_stream(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u) {}
  std::uint64_t next() { return mixed_bits(state_ += 0x9e3779b97f4a7c15u); }
  /// A number in [0, bound).
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>((next() >> 1) % static_cast<std::uint64_t>(bound));
  }
  bool one_in(int chance) { return below(chance) == 0; }

 private:
  std::uint64_t state_;
};

// ---- shapes

class shape_stream {
 public:
  using result_type = std::uint64_t;

  explicit shape_stream(std::uint64_t seed) : bits_(seed) {}
  std::uint64_t operator()() { return bits_(); }
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
  /// A number in [0, bound).
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>((bits_() >> 1) % static_cast<std::uint64_t>(bound));
  }
  bool one_in(std::int64_t chance) { return below(chance) == 0; }

 private:
  std::mt19937_64 bits_;
};

/// Floats of both signs and of 40 binades, so that the order of a sum shows.
inline std::vector<float> mixed_floats(std::int64_t n, std::uint64_t seed) {
  shape_stream bits(seed);
  std::vector<float> items;
  for (std::int64_t i = 0; i < n; ++i) {
    const float magnitude = std::ldexp(1.0f, static_cast<int>(bits() % 40) - 20);
    items.push_back((bits() % 2 == 0 ? magnitude : -magnitude) *
                    (1.0f + 0.001f * static_cast<float>(bits() % 997)));
  }
  return items;
}

}  // namespace tilefold::test
