// SPDX-License-Identifier: Apache-2.0
//
// Blocks of numbers cut at anchors (detail/exact/exact_blocks.hpp has the picture), with vector
// instructions: every lane has running sums of its own. Compiled once for every instruction set.
#include <cstdint>
#include <type_traits>

#include <tilefold/detail/exact/exact_blocks.hpp>
#include <tilefold/detail/host/simd.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/exact_cuts.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "src/host/array_items-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

#if TILEFOLD_SIMD_TARGET

namespace hn = hwy::HWY_NAMESPACE;

using tag = hn::ScalableTag<double>;
using vector = hn::Vec<tag>;
using bits_tag = hn::RebindToUnsigned<tag>;
using bits_vector = hn::Vec<bits_tag>;
inline constexpr std::int64_t lanes = hn::MaxLanes(tag());

/// An array's items as doubles.
template <class T>
struct doubles_of;
template <>
struct doubles_of<double> {
  using type = array_items<double, double>;
};
template <>
struct doubles_of<float> {
  using type = array_items<float, double, widening>;
};
template <>
struct doubles_of<half> {
  using type = array_items<std::uint16_t, double, narrow_to_double<float16_to_float>>;
};
template <>
struct doubles_of<bfloat16> {
  using type = array_items<std::uint16_t, double, narrow_to_double<brain16_to_float>>;
};

/// The terms of one array or two; visit() is given vectors of them, `per_item` for each vector of
/// items. An absent item's term is 0. What is returned is not 0 where a term was not exact.
template <class T, exact_term Term>
class terms {
  using items = typename doubles_of<T>::type;

 public:
  static constexpr int per_item = 1;
  // Halves do: all are multiples of 2^-24 below 2^16, and the least anchor of their sums is 2^28.
  static constexpr bool fit_any_anchor = std::is_same_v<T, half> && Term == exact_term::item;

  terms(const void* first, const void* second) : first_(first, nullptr), second_(second, nullptr) {}

  template <class Visit>
  HWY_INLINE bits_vector load(std::int64_t i, const Visit& visit) const {
    const vector x = first_.load(i);
    if constexpr (Term == exact_term::product) {
      visit(hn::Mul(x, second_.load(i)));
    } else {
      visit(of_one(x));
    }
    return hn::Zero(bits_tag());
  }
  template <class Visit>
  HWY_INLINE bits_vector load_some(std::int64_t i, std::int64_t n, const Visit& visit) const {
    const vector zero = hn::Zero(tag());
    const vector x = first_.load_some(i, n, zero);
    if constexpr (Term == exact_term::product) {
      visit(hn::Mul(x, second_.load_some(i, n, zero)));
    } else {
      visit(of_one(x));
    }
    return hn::Zero(bits_tag());
  }
  template <int Vectors>
  HWY_INLINE void prefetch(std::int64_t i) const {
    if constexpr (Term != exact_term::product) first_.template prefetch<Vectors>(i);
  }

 private:
  HWY_INLINE static vector of_one(vector x) {
    return Term == exact_term::square ? hn::Mul(x, x) : x;
  }

  items first_, second_;
};

HWY_INLINE bits_vector bits_of(vector x) { return hn::BitCast(bits_tag(), x); }
HWY_INLINE bits_vector anchor_bits(int top) { return hn::Set(bits_tag(), anchors::bits(top)); }

// Whether a multiply-add rounds once.
#undef TILEFOLD_FUSES
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
#define TILEFOLD_FUSES 0
#else
#define TILEFOLD_FUSES 1
#endif
#if TILEFOLD_FUSES

/// Products of doubles: each is rounded, and what was rounded off, by a fused multiply-add. That is
/// a double unless the product is tiny.
template <exact_term Term>
class long_products {
 public:
  static constexpr int per_item = 2;
  static constexpr bool fit_any_anchor = false;

  long_products(const void* first, const void* second)
      : first_(first, nullptr), second_(second, nullptr) {}

  template <class Visit>
  HWY_INLINE bits_vector load(std::int64_t i, const Visit& visit) const {
    const vector x = first_.load(i);
    return visit_product(x, squares ? x : second_.load(i), visit);
  }
  template <class Visit>
  HWY_INLINE bits_vector load_some(std::int64_t i, std::int64_t n, const Visit& visit) const {
    const vector zero = hn::Zero(tag());
    const vector x = first_.load_some(i, n, zero);
    return visit_product(x, squares ? x : second_.load_some(i, n, zero), visit);
  }
  template <int Vectors>
  HWY_INLINE void prefetch(std::int64_t i) const {
    if constexpr (squares) first_.template prefetch<Vectors>(i);
  }

 private:
  static constexpr bool squares = Term == exact_term::square;

  template <class Visit>
  HWY_INLINE static bits_vector visit_product(vector x, vector y, const Visit& visit) {
    const tag d;
    const vector product = hn::Mul(x, y);
    visit(product);
    visit(hn::MulSub(x, y, product));
    // 2^-960, far above where digits could be lost; of zeros none are.
    const auto tiny = hn::Lt(hn::Abs(product), hn::Set(d, 0x1p-960));
    const auto none = hn::Zero(d);
    const auto lost = hn::And(tiny, hn::And(hn::Ne(x, none), hn::Ne(y, none)));
    return hn::BitCast(bits_tag(), hn::IfThenElseZero(lost, hn::Set(d, 1.0)));
  }

  array_items<double, double> first_, second_;
};
template <>
class terms<double, exact_term::product> : public long_products<exact_term::product> {
  using long_products<exact_term::product>::long_products;
};
template <>
class terms<double, exact_term::square> : public long_products<exact_term::square> {
  using long_products<exact_term::square>::long_products;
};

#endif  // TILEFOLD_FUSES

/// Running sums in every lane, one at each level. Members and not an array, so that they stay in
/// registers.
template <int Levels>
struct running_sums {
  vector sum;
  running_sums<Levels - 1> lower;

  HWY_INLINE explicit running_sums(int top)
      : sum(hn::BitCast(tag(), anchor_bits(top))), lower(top - anchors::step) {}

  /// What is returned is 0, or a sign, where nothing is left.
  HWY_INLINE bits_vector add(vector x) {
    const vector next = hn::Add(sum, x);
    const vector digit = hn::Sub(next, sum);
    sum = next;
    return lower.add(hn::Sub(x, digit));
  }
};
template <>
struct running_sums<1> {
  vector sum;

  HWY_INLINE explicit running_sums(int top) : sum(hn::BitCast(tag(), anchor_bits(top))) {}

  HWY_INLINE bits_vector add(vector x) {
    const vector next = hn::Add(sum, x);
    const vector digit = hn::Sub(next, sum);
    sum = next;
    return hn::Xor(bits_of(x), bits_of(digit));
  }
  // For items that any first anchor takes as they are.
  HWY_INLINE void add_unchecked(vector x) { sum = hn::Add(sum, x); }
};

/// Four of them, which do not wait for each other.
template <int Levels, bool Checked>
struct four_chains {
  int top;
  running_sums<Levels> a, b, c, d;
  bits_vector moved, left;

  HWY_INLINE explicit four_chains(int first_top) : top(first_top), a(top), b(top), c(top), d(top) {
    moved = left = hn::Zero(bits_tag());
  }

  template <class Items>
  HWY_INLINE void add_from(const Items& items, std::int64_t i, running_sums<Levels>& chain) {
    note(items.load(i, adder{*this, chain}));
  }
  // As many as there are below n.
  template <class Items>
  HWY_INLINE void add_some_from(const Items& items, std::int64_t i, std::int64_t n,
                                running_sums<Levels>& chain) {
    if (i + lanes <= n) {
      add_from(items, i, chain);
    } else if (i < n) {
      note(items.load_some(i, n - i, adder{*this, chain}));
    }
  }

  /// Stores the sums; whether they are all.
  HWY_INLINE bool store(std::int64_t* sums) {
    if constexpr (!Checked) {
      // An infinity, or a NaN, stays.
      note_move(a), note_move(b), note_move(c), note_move(d);
    }
    store_level(a, b, c, d, top, sums);
    const bits_vector above = hn::ShiftRight<anchors::fraction>(moved);
    const bits_vector below = hn::ShiftLeft<1>(left);
    return hn::AllTrue(bits_tag(), hn::Eq(hn::Or(above, below), hn::Zero(bits_tag())));
  }

 private:
  struct adder {
    four_chains& all;
    running_sums<Levels>& chain;

    HWY_INLINE void operator()(vector x) const {
      if constexpr (Checked) {
        all.note(chain.add(x));
        all.note_move(chain);
      } else {
        chain.add_unchecked(x);
      }
    }
  };

  HWY_INLINE void note(bits_vector not_added) { left = hn::Or(left, not_added); }
  HWY_INLINE void note_move(const running_sums<Levels>& chain) {
    moved = hn::Or(moved, hn::Xor(bits_of(chain.sum), anchor_bits(top)));
  }

  template <int Left>
  HWY_INLINE static void store_level(const running_sums<Left>& a, const running_sums<Left>& b,
                                     const running_sums<Left>& c, const running_sums<Left>& d,
                                     int top, std::int64_t* sums) {
    // Modulo 2^64, of which the sum takes less.
    const auto two = hn::Add(bits_of(a.sum), bits_of(b.sum));
    const auto four = hn::Add(two, hn::Add(bits_of(c.sum), bits_of(d.sum)));
    const auto anchors_of_four = hn::ShiftLeft<2>(anchor_bits(top));
    HWY_ALIGN std::uint64_t of_lanes[hn::MaxLanes(bits_tag())];
    hn::Store(hn::Sub(four, anchors_of_four), bits_tag(), of_lanes);
    // Not by SumOfLanes: with AVX-512 it adds signed integers, which overflow.
    std::uint64_t all = 0;
    for (const std::uint64_t bits : of_lanes) all += bits;
    *sums = static_cast<std::int64_t>(all);
    if constexpr (Left > 1) {
      store_level(a.lower, b.lower, c.lower, d.lower, top - anchors::step, sums + 1);
    }
  }
};

template <class T, exact_term Term>
class cuts {
  using terms_type = terms<T, Term>;
  static constexpr int chains = 4;
  static constexpr std::int64_t group = chains * lanes;

 public:
  static exact_cutter cutter() {
    constexpr bool narrow = !std::is_same_v<T, double> && Term == exact_term::item;
    return {run, largest, (group << anchors::items_level) / terms_type::per_item, narrow ? 1 : 2};
  }

 private:
  static bool run(const void* first, const void* second, std::int64_t n, int top, int levels,
                  std::int64_t* sums) {
    const terms_type items(first, second);
    switch (levels) {
      case 1:
        return run_at<1>(items, n, top, sums);
      case 2:
        return run_at<2>(items, n, top, sums);
      case 3:
        return run_at<3>(items, n, top, sums);
      case 4:
        return run_at<4>(items, n, top, sums);
      default:
        return run_at<anchors::most_levels>(items, n, top, sums);
    }
  }

  template <int Levels>
  HWY_INLINE static bool run_at(const terms_type& items, std::int64_t n, int top,
                                std::int64_t* sums) {
    four_chains<Levels, !(Levels == 1 && terms_type::fit_any_anchor)> running(top);
    std::int64_t i = 0;
    for (; i + group <= n; i += group) {
      items.template prefetch<chains>(i);
      running.add_from(items, i, running.a);
      running.add_from(items, i + lanes, running.b);
      running.add_from(items, i + 2 * lanes, running.c);
      running.add_from(items, i + 3 * lanes, running.d);
    }
    // One more for each chain at most.
    running.add_some_from(items, i, n, running.a);
    running.add_some_from(items, i + lanes, n, running.b);
    running.add_some_from(items, i + 2 * lanes, n, running.c);
    running.add_some_from(items, i + 3 * lanes, n, running.d);
    return running.store(sums);
  }

  struct largest_seen {
    bits_vector& most;

    // NaNs stay the largest.
    HWY_INLINE void operator()(vector x) const {
      most = hn::Max(most, hn::ShiftLeft<1>(bits_of(x)));
    }
  };

  static int largest(const void* first, const void* second, std::int64_t n) {
    const terms_type items(first, second);
    const bits_tag d;
    bits_vector most = hn::Zero(d);
    bits_vector wrong = hn::Zero(d);
    const largest_seen see{most};
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) wrong = hn::Or(wrong, items.load(i, see));
    if (i < n) wrong = hn::Or(wrong, items.load_some(i, n - i, see));
    if (!hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)))) return 1024;
    const std::uint64_t bits = hn::GetLane(hn::MaxOfLanes(d, most)) >> 1;
    return anchors::exponent_of(__builtin_bit_cast(double, bits));
  }
};

template <exact_term Term>
exact_cutter cutter_of(simd_type type) {
  switch (type) {
    case simd_type::float32:
      return cuts<float, Term>::cutter();
    case simd_type::float64:
      if constexpr (Term == exact_term::item || TILEFOLD_FUSES) {
        return cuts<double, Term>::cutter();
      }
      return {};
    case simd_type::float16:
      return cuts<half, Term>::cutter();
    case simd_type::brain16:
      return cuts<bfloat16, Term>::cutter();
    default:
      return {};
  }
}

exact_cutter find_cutter(exact_term term, simd_type type) {
  switch (term) {
    case exact_term::item:
      return cutter_of<exact_term::item>(type);
    case exact_term::square:
      return cutter_of<exact_term::square>(type);
    default:
      return cutter_of<exact_term::product>(type);
  }
}

#else

exact_cutter find_cutter(exact_term, simd_type) { return {}; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_cutter);

exact_cutter find_exact_cutter(exact_term term, simd_type type) {
  return HWY_DYNAMIC_DISPATCH(find_cutter)(term, type);
}

}  // namespace tilefold::detail::host
#endif  // HWY_ONCE
