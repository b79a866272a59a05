// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of blocks of numbers, at the speed of ordinary additions. An anchor is a large power
// of two, 1.5 * 2^E. A running sum that starts there takes an item x without leaving its binade:
//
//     next = sum + x        rounded to a multiple of the anchor's last bit, 2^(E - 52)
//     digit = next - sum    exact: what of x went into the sum
//     x - digit             exact: what is left, for the next anchor, 45 bits lower
//
// If nothing is left of any item, and the first sum never left its binade, the block's sum is that
// of (bits of a sum - bits of its anchor) * 2^(E - 52), in integers. Two anchors do for doubles of
// ordinary spread, one for floats. A block for which six are not enough, or which has items that
// are huge, infinite or NaN, is added item by item. Host only, in the default rounding mode.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/detail/exact/exact_state.hpp>

TILEFOLD_WARNINGS_OFF

namespace tilefold::detail {

/// What is added of the elements.
enum class exact_term { item, product, square };

namespace anchors {

inline constexpr int fraction = 52;
// A running sum takes 2^7 items at most.
inline constexpr int items_level = 7;
inline constexpr int step = fraction - items_level;
inline constexpr int most_levels = 6;

/// The exponent of an anchor for items below 2^(largest + 1), with room for a sum of them.
constexpr int above(int largest) { return largest + 2 + items_level; }

inline std::uint64_t bits(int exponent) {
  constexpr std::uint64_t half = std::uint64_t{1} << (fraction - 1);
  return (static_cast<std::uint64_t>(exponent + 1023) << fraction) + half;
}

/// A number's bits. (nvcc 13.0 fails on a cast of anything but a variable.)
inline std::uint64_t bits_of(double x) { return __builtin_bit_cast(std::uint64_t, x); }

inline double of_bits(std::uint64_t x) { return __builtin_bit_cast(double, x); }

/// The exponent of a number, from its bits; 1024 if it is not finite.
inline int exponent_of(double x) { return static_cast<int>(bits_of(x) >> fraction & 0x7ff) - 1023; }

}  // namespace anchors

/// How blocks of one array, or of two that are read in step, are cut.
struct exact_cutter {
  /// Cuts n items, at most `block`, at `levels` anchors from 2^top on: 1 to 4, or 6. Stores the sum
  /// of level l in units of 2^(top - 52 - 45 l). Returns false if something is left, or an item is
  /// too large for the first anchor or not finite.
  bool (*cut)(const void* first, const void* second, std::int64_t n, int top, int levels,
              std::int64_t* sums) = nullptr;
  /// The exponent of the largest of n items; 1024 if there is none, or the items cannot be cut.
  int (*largest)(const void* first, const void* second, std::int64_t n) = nullptr;
  std::int64_t block = 0;
  /// How many anchors ordinary data take.
  int levels = 1;
};

/// Adds doubles of any size to a state, through signed sums of 32 bits each that are kept in 64.
template <class State>
class exact_limbs {
 public:
  explicit exact_limbs(State& state) : state_(state) {}
  ~exact_limbs() { flush(); }
  exact_limbs(const exact_limbs&) = delete;
  exact_limbs& operator=(const exact_limbs&) = delete;

  void add(double x) {
    const float_parts parts = detail::parts_of(x);
    if (!parts.finite || parts.mantissa == 0) {
      state_.add(x);
      return;
    }
    // A narrow number has zeros where its state has no bits.
    const int lowest = parts.exponent - State::least;
    const std::uint64_t mantissa = lowest < 0 ? parts.mantissa >> -lowest : parts.mantissa;
    const int bit = lowest < 0 ? 0 : lowest;
    const int shift = bit % 32;
    const auto sign = -static_cast<std::int64_t>(parts.negative);
    const auto low = static_cast<std::int64_t>(mantissa << shift & low_bits);
    const auto high = static_cast<std::int64_t>(mantissa >> (32 - shift));  // < 2^52
    limb_[bit / 32] += (low ^ sign) - sign;
    limb_[bit / 32 + 1] += (high ^ sign) - sign;
    if (++count_ == most) flush();
  }
  void add_product_of(double x, double y) { state_.add_product_of(x, y); }

 private:
  static constexpr std::uint64_t low_bits = 0xffffffff;
  static constexpr int most = 1 << 10;
  using integer = wide_integer<State::words>;

  void flush() {
    if (count_ == 0) return;
    integer all;
    std::int64_t carry = 0;
    const auto next = [&](std::int64_t& limb) {
      carry += limb;
      limb = 0;
      const std::uint64_t digit = static_cast<std::uint64_t>(carry) & low_bits;
      carry >>= 32;
      return digit;
    };
    for (int i = 0; i < State::words; ++i) {
      const std::uint64_t low = next(limb_[2 * i]);
      all.word[i] = low | next(limb_[2 * i + 1]) << 32;
    }
    state_.sum.add(all);
    state_.marks |= seen::other;
    count_ = 0;
  }

  State& state_;
  std::int64_t limb_[2 * State::words] = {};
  int count_ = 0;
};

/// Adds blocks to a state. What was found of one block is tried on the next.
template <class State>
class exact_blocks {
 public:
  exact_blocks(const exact_cutter& cutter, State& state)
      : cutter_(cutter), state_(state), levels_(cutter.levels) {}

  /// Adds n >= 1 items, at most cutter.block. put(to, i) adds item i to a state, or to limbs.
  template <class Put>
  void add(const void* first, const void* second, std::int64_t n, const Put& put) {
    if (n < few) {
      add_each(n, put);
    } else if (not_cut_ % 8 == 0 && cut(first, second, n, put)) {
      not_cut_ = 0;
    } else {
      ++not_cut_;
      add_each(n, put);
    }
  }

 private:
  // Fewer items are not worth cutting.
  static constexpr std::int64_t few = 8;
  static constexpr int largest_top = 1023;
  // No anchor has bits below the last one of a state or of a double.
  static constexpr int least_top =
      (State::least < -1074 ? -1074 : State::least) + anchors::fraction;

  template <class Put>
  void add_each(std::int64_t n, const Put& put) {
    exact_limbs<State> limbs(state_);
    for (std::int64_t i = 0; i < n; ++i) put(limbs, i);
  }

  template <class Put>
  bool cut(const void* first, const void* second, std::int64_t n, const Put& put) {
    constexpr std::int64_t some = 64;
    if (!aimed_) aim(first, second, n < some ? n : some);
    if (cuts(first, second, n, put)) return true;
    aim(first, second, n);
    while (!cuts(first, second, n, put)) {
      if (top_ > largest_top || levels_ == anchors::most_levels) {
        levels_ = cutter_.levels;
        aimed_ = false;
        return false;
      }
      levels_ = levels_ == 4 ? anchors::most_levels : levels_ + 1;
      unused_ = 0;
    }
    return true;
  }

  void aim(const void* first, const void* second, std::int64_t n) {
    top_ = anchors::above(cutter_.largest(first, second, n));
    aimed_ = true;
  }

  // At the anchors that are set.
  template <class Put>
  bool cuts(const void* first, const void* second, std::int64_t n, const Put& put) {
    const int lowest = least_top + anchors::step * (levels_ - 1);
    const int top = top_ < lowest ? lowest : top_;
    std::int64_t sums[anchors::most_levels];
    if (top > largest_top || !cutter_.cut(first, second, n, top, levels_, sums)) return false;
    int used = 0;
    for (int l = 0; l < levels_; ++l) {
      if (sums[l] == 0) continue;
      state_.add_multiple(sums[l], top - anchors::fraction - anchors::step * l);
      used = l + 1;
    }
    if (used == 0) {
      note_zeros(n, put);
    } else {
      state_.marks |= seen::other;
    }
    // Seldom is a sum zero that had anything to take.
    unused_ = used < levels_ && levels_ > 1 ? unused_ + 1 : 0;
    if (unused_ == 8) {
      levels_ = levels_ == anchors::most_levels ? 4 : levels_ - 1;
      unused_ = 0;
    }
    return true;
  }

  // Items whose sum is zero: whether they are anything but -0.
  template <class Put>
  void note_zeros(std::int64_t n, const Put& put) {
    State some = State::nothing();
    for (std::int64_t i = 0; i < n && (some.marks & seen::other) == 0; ++i) put(some, i);
    state_.marks |= (some.marks & seen::other) != 0 ? seen::other : some.marks;
  }

  const exact_cutter& cutter_;
  State& state_;
  int levels_;
  int unused_ = 0;   // blocks one after the other that did not need the last level
  int not_cut_ = 0;  // blocks one after the other that were added item by item
  int top_ = 0;
  bool aimed_ = false;
};

/// The term of element i of one or two arrays of T. Products are exact, fused or not.
template <class T, exact_term Term>
double term_of(const void* first, const void* second, std::int64_t i) {
  const auto x = static_cast<double>(detail::exact_item(static_cast<const T*>(first)[i]));
  if constexpr (Term == exact_term::item) {
    return x;
  } else if constexpr (Term == exact_term::square) {
    return x * x;
  } else {
    return x * static_cast<double>(detail::exact_item(static_cast<const T*>(second)[i]));
  }
}

/// Without vector instructions of its own: for terms that are doubles exactly.
template <class T, exact_term Term>
class plain_cuts {
 public:
  static constexpr exact_cutter cutter() {
    constexpr bool narrow = !std::is_same_v<T, double> && Term == exact_term::item;
    return {cut, largest, lanes << anchors::items_level, narrow ? 1 : 2};
  }

 private:
  static constexpr std::int64_t lanes = 4;

  static bool cut(const void* first, const void* second, std::int64_t n, int top, int levels,
                  std::int64_t* sums) {
    return levels == 1   ? cut_at<1>(first, second, n, top, sums)
           : levels == 2 ? cut_at<2>(first, second, n, top, sums)
           : levels == 3 ? cut_at<3>(first, second, n, top, sums)
           : levels == 4 ? cut_at<4>(first, second, n, top, sums)
                         : cut_at<anchors::most_levels>(first, second, n, top, sums);
  }

  template <int Levels>
  struct running_sums {
    double sum[Levels][lanes];
    std::uint64_t moved[lanes];
    std::uint64_t left[lanes];

    void add(const double (&items)[lanes], std::uint64_t above) {
      for (int k = 0; k < lanes; ++k) {
        double x = items[k];
        for (int l = 0; l < Levels; ++l) {
          const double next = sum[l][k] + x;
          x -= next - sum[l][k];
          sum[l][k] = next;
        }
        moved[k] |= anchors::bits_of(sum[0][k]) ^ above;
        left[k] |= anchors::bits_of(x);
      }
    }
  };

  template <int Levels>
  static bool cut_at(const void* first, const void* second, std::int64_t n, int top,
                     std::int64_t* sums) {
    running_sums<Levels> running;
    std::uint64_t anchor[Levels];
    for (int l = 0; l < Levels; ++l) {
      anchor[l] = anchors::bits(top - anchors::step * l);
      for (double& sum : running.sum[l]) sum = anchors::of_bits(anchor[l]);
    }
    for (std::int64_t k = 0; k < lanes; ++k) running.moved[k] = running.left[k] = 0;
    double items[lanes];
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      for (std::int64_t k = 0; k < lanes; ++k) {
        items[k] = detail::term_of<T, Term>(first, second, i + k);
      }
      running.add(items, anchor[0]);
    }
    if (i < n) {
      for (std::int64_t k = 0; k < lanes; ++k) {
        items[k] = i + k < n ? detail::term_of<T, Term>(first, second, i + k) : 0.0;
      }
      running.add(items, anchor[0]);
    }
    std::uint64_t moved = 0;
    std::uint64_t left = 0;
    for (std::int64_t k = 0; k < lanes; ++k) {
      moved |= running.moved[k];
      left |= running.left[k];
    }
    for (int l = 0; l < Levels; ++l) {
      std::uint64_t sum = 0;
      for (const double s : running.sum[l]) sum += anchors::bits_of(s) - anchor[l];
      sums[l] = static_cast<std::int64_t>(sum);
    }
    return moved >> anchors::fraction == 0 && left << 1 == 0;
  }

  static int largest(const void* first, const void* second, std::int64_t n) {
    std::uint64_t most = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto bits = anchors::bits_of(detail::term_of<T, Term>(first, second, i));
      most = most > bits << 1 ? most : bits << 1;
    }
    return static_cast<int>(most >> (anchors::fraction + 1)) - 1023;
  }
};

}  // namespace tilefold::detail

TILEFOLD_WARNINGS_BACK
