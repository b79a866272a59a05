// SPDX-License-Identifier: Apache-2.0
//
// Folds whose result no order of evaluation can change, with vector instructions: integers (sums
// and products wrap), and minima and maxima, which compare floating items as integer keys. Compiled
// once for every instruction set; simd_folds.cpp chooses among them.
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <tilefold/detail/host/simd.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/host/order_free_folds.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "src/host/array_items-inl.hpp"
#include "src/host/lane_ops-inl.hpp"
#include "src/host/simd_folds.hpp"

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

#if TILEFOLD_SIMD_TARGET

namespace hn = hwy::HWY_NAMESPACE;

// The integer that a lane ends as: itself modulo the accumulator's size.
template <class Acc>
struct integer_result {
  template <class Lane>
  static Acc of(Lane lane) {
    return static_cast<Acc>(lane);
  }
};

/// All lanes of a vector in one.
template <class Op, class D, class V>
HWY_INLINE hn::TFromD<D> fold_lanes(D d, V v) {
  constexpr std::size_t bytes = sizeof(hn::TFromD<D>);
  if constexpr (sizeof(V) > 16) {
    const hn::Half<D> half;
    const auto lower = hn::LowerHalf(half, v);
    return fold_lanes<Op>(half, lane_op<Op>::apply(lower, hn::UpperHalf(half, v)));
  } else {
    v = lane_op<Op>::apply(v, hn::ShiftRightBytes<8>(d, v));
    if constexpr (bytes <= 4) v = lane_op<Op>::apply(v, hn::ShiftRightBytes<4>(d, v));
    if constexpr (bytes <= 2) v = lane_op<Op>::apply(v, hn::ShiftRightBytes<2>(d, v));
    if constexpr (bytes <= 1) v = lane_op<Op>::apply(v, hn::ShiftRightBytes<1>(d, v));
    return hn::GetLane(v);
  }
}

/// One fold: Items says what vector i of the input is, Op combines lanes, Result ends it.
template <class Items, class Op, class Result>
class order_free_fold {
 public:
  using items = Items;
  using result = Result;
  using op = Op;
  using tag = typename Items::tag;
  using lane = hn::TFromD<tag>;

  static void run(const void* first, const void* second, std::int64_t n, void* result) {
    const auto value = Result::of(fold(Items(first, second), n));
    std::memcpy(result, &value, sizeof value);
  }

  static lane fold(const Items& items, std::int64_t n) {
    return fold_lanes<Op>(tag(), fold_vectors(items, n));
  }

 private:
  using vector = hn::Vec<tag>;

  // Independent chains, so that the latency of one operation does not count.
  static constexpr int chains = 8;
  static constexpr std::int64_t step = Items::step;
  static constexpr std::int64_t block = chains * step;

  // Whether an item may be taken twice. What is left of an array then overlaps what came before it.
  static constexpr bool counts_twice = std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum>;

  template <class V>
  HWY_INLINE static V combine(V a, V b) {
    return lane_op<Op>::apply(a, b);
  }

  HWY_INLINE static vector fold_vectors(const Items& items, std::int64_t n) {
    const vector identity = hn::Set(tag(), op_traits<Op, lane>::identity());
    if constexpr (counts_twice) {
      if (n < step) return items.load_some(0, n, identity);
      if (n < block) {
        vector v = items.load(n - step);
        for (std::int64_t i = 0; i < n - step; i += step) v = combine(v, items.load(i));
        return v;
      }
    }
    vector v[chains];
    for (vector& chain : v) chain = identity;
    std::int64_t i = 0;
    for (; counts_twice ? i < n : i + block <= n; i += block) {
      const std::int64_t at = counts_twice && n - block < i ? n - block : i;
      items.template prefetch<chains>(at);
      for (int k = 0; k < chains; ++k) v[k] = combine(v[k], items.load(at + k * step));
    }
    if constexpr (!counts_twice) {
      for (; i + step <= n; i += step) v[0] = combine(v[0], items.load(i));
      if (i < n) v[1] = combine(v[1], items.load_some(i, n - i, identity));
    }
    for (int half = chains / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) v[k] = combine(v[k], v[k + half]);
    }
    return v[0];
  }
};

// What stays in the first-level cache.
inline constexpr std::int64_t first_level_bytes = 16384;

/// What Fold, a minimum or a maximum by keys, finds of floats of type T. While a block has no NaN,
/// the processor's instruction finds it, but for a zero's sign, which is looked up.
template <class Fold, class T>
class float_fold {
 public:
  using items = typename Fold::items;
  using result = typename Fold::result;
  using op = typename Fold::op;
  using tag = typename Fold::tag;
  using lane = typename Fold::lane;

  static void run(const void* first, const void*, std::int64_t n, void* result_of) {
    const auto value = result::of(fold({first, nullptr}, n));
    std::memcpy(result_of, &value, sizeof value);
  }

  static lane fold(const items& array, std::int64_t n) {
    constexpr std::int64_t block = first_level_bytes / sizeof(T);
    lane key = fold_block(array.data(), n < block ? n : block);
    for (std::int64_t i = block; i < n; i += block) {
      key = op()(key, fold_block(array.data() + i, n - i < block ? n - i : block));
    }
    return key;
  }

 private:
  using floats = hn::ScalableTag<T>;
  using vector = hn::Vec<floats>;
  using reader = array_items<T, T>;
  static constexpr int chains = 8;
  static constexpr std::int64_t step = reader::step;
  static constexpr lane sign = std::numeric_limits<lane>::min();
  static constexpr bool least = std::is_same_v<op, minimum>;
  // Of two zeros, the one that is found.
  static constexpr lane first_zero = least ? sign : lane{0};

  static lane fold_block(const lane* block, std::int64_t n) {
    const reader array(block, nullptr);
    const floats d;
    if (n < chains * step) return Fold::fold({block, nullptr}, n);
    vector v[chains];
    const auto none = hn::IsNaN(hn::Zero(d));
    hn::Mask<floats> nan[] = {none, none};
    for (int k = 0; k < chains; ++k) v[k] = array.load(k * step);
    for (std::int64_t i = 0; i < n; i += chains * step) {
      // The last ones overlap those before them.
      const std::int64_t at = n - chains * step < i ? n - chains * step : i;
      array.template prefetch<chains>(at);
      for (int k = 0; k < chains; ++k) {
        const vector item = array.load(at + k * step);
        nan[k % 2] = hn::Or(nan[k % 2], hn::IsNaN(item));
        v[k] = lane_op<op>::apply(v[k], item);
      }
    }
    if (!hn::AllFalse(d, hn::Or(nan[0], nan[1]))) return Fold::fold({block, nullptr}, n);
    for (int half = chains / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) v[k] = lane_op<op>::apply(v[k], v[k + half]);
    }
    const vector best = least ? hn::MinOfLanes(d, v[0]) : hn::MaxOfLanes(d, v[0]);
    lane bits = hn::GetLane(hn::BitCast(tag(), best));
    if ((bits & ~sign) == 0) bits = has(block, n, first_zero) ? first_zero : first_zero ^ sign;
    return bits < 0 ? bits ^ ~sign : bits;
  }

  // Whether one of n items, a vector or more, has these bits.
  HWY_INLINE static bool has(const lane* block, std::int64_t n, lane bits) {
    const array_items<lane, lane> array(block, nullptr);
    const auto wanted = hn::Set(tag(), bits);
    for (std::int64_t i = 0; i < n - step; i += step) {
      if (!hn::AllFalse(tag(), hn::Eq(array.load(i), wanted))) return true;
    }
    return !hn::AllFalse(tag(), hn::Eq(array.load(n - step), wanted));
  }
};

/// By keys alone, where there is no such instruction.
template <class Fold>
class float_fold<Fold, void> : public Fold {};

/// Two folds of the same items, of type T, block by block.
template <class First, class Second, class T>
struct both_folds {
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    constexpr std::int64_t block = first_level_bytes / sizeof(T);
    const auto* const items = static_cast<const T*>(first);
    auto one = First::fold({items, nullptr}, n < block ? n : block);
    auto other = Second::fold({items, nullptr}, n < block ? n : block);
    for (std::int64_t i = block; i < n; i += block) {
      const std::int64_t count = n - i < block ? n - i : block;
      one = typename First::op()(one, First::fold({items + i, nullptr}, count));
      other = typename Second::op()(other, Second::fold({items + i, nullptr}, count));
    }
    const decltype(First::result::of(one)) values[] = {First::result::of(one),
                                                       Second::result::of(other)};
    std::memcpy(result, &values, sizeof values);
  }
};

/// The first place of the result of Fold among items of type T, and its key as a Key.
template <class Fold, class T, class Key>
class first_place {
 public:
  static void run(const void* first, const void*, std::int64_t n, void* result) {
    constexpr std::int64_t block = first_level_bytes / sizeof(T);
    const auto* const items = static_cast<const T*>(first);
    lane best = Fold::fold({items, nullptr}, n < block ? n : block);
    std::int64_t at = 0;
    for (std::int64_t i = block; i < n; i += block) {
      const lane found = Fold::fold({items + i, nullptr}, n - i < block ? n - i : block);
      if (found == typename Fold::op()(found, best) && found != best) {
        best = found;
        at = i;
      }
    }
    const struct {
      Key key;
      std::int64_t index;
    } place{static_cast<Key>(best), at + index_of(best, items + at, n - at)};
    std::memcpy(result, &place, sizeof place);
  }

 private:
  using tag = typename Fold::tag;
  using lane = typename Fold::lane;

  // One of the n items has this key. Any NaN has that of NaNs, and other items have their own bits.
  HWY_INLINE static std::int64_t index_of(lane key, const T* items, std::int64_t n) {
    if constexpr (requires { Fold::result::nan_key; }) {
      if (key == Fold::result::nan_key) {
        return first_equal(key, typename Fold::items(items, nullptr), n);
      }
    }
    return first_equal(Fold::result::of(key), array_items<T, T>(items, nullptr), n);
  }

  template <class Items>
  HWY_INLINE static std::int64_t first_equal(lane value, const Items& items, std::int64_t n) {
    constexpr std::int64_t step = Items::step;
    const auto wanted = hn::Set(tag(), value);
    const auto find = [&](auto v) HWY_ATTR { return hn::FindFirstTrue(tag(), hn::Eq(v, wanted)); };
    if (n < step) return find(items.load_some(0, n, wanted));
    std::int64_t i = 0;
    for (; i + 4 * step <= n; i += 4 * step) {
      const auto equal = [&](int k) HWY_ATTR { return hn::Eq(items.load(i + k * step), wanted); };
      const auto some = hn::Or(hn::Or(equal(0), equal(1)), hn::Or(equal(2), equal(3)));
      if (!hn::AllFalse(tag(), some)) break;
    }
    for (; i < n - step; i += step) {
      const std::intptr_t found = find(items.load(i));
      if (found >= 0) return i + found;
    }
    return n - step + find(items.load(n - step));
  }
};

template <class Raw, class Lane, class Acc, class Conversion = no_conversion>
simd_fold integer_fold(simd_op op) {
  using items = array_items<Raw, Lane, Conversion>;
  using result = integer_result<Acc>;
  switch (op) {
    case simd_op::plus:
      return order_free_fold<items, plus, result>::run;
    case simd_op::multiplies:
      if constexpr (sizeof(Lane) >= 4) return order_free_fold<items, multiplies, result>::run;
      return nullptr;
    default:
      return nullptr;
  }
}

template <class T, class Key = T>
simd_fold place_fold(simd_op op) {
  using items = array_items<T, T>;
  switch (op) {
    case simd_op::first_minimum:
    case simd_op::first_minimum_number:
      return first_place<order_free_fold<items, minimum, integer_result<T>>, T, Key>::run;
    case simd_op::first_maximum:
    case simd_op::first_maximum_number:
      return first_place<order_free_fold<items, maximum, integer_result<T>>, T, Key>::run;
    default:
      return nullptr;
  }
}

template <class T>
simd_fold selection_fold(simd_op op) {
  using items = array_items<T, T>;
  using least = order_free_fold<items, minimum, integer_result<T>>;
  using greatest = order_free_fold<items, maximum, integer_result<T>>;
  switch (op) {
    case simd_op::minimum:
    case simd_op::minimum_number:
      return least::run;
    case simd_op::maximum:
    case simd_op::maximum_number:
      return greatest::run;
    case simd_op::extremes:
    case simd_op::number_extremes:
      return both_folds<least, greatest, T>::run;
    default:
      return place_fold<T>(op);
  }
}

template <class U>
simd_fold bit_fold(simd_op op) {
  using items = array_items<U, U>;
  switch (op) {
    case simd_op::bit_and:
      return order_free_fold<items, bit_and, integer_result<U>>::run;
    case simd_op::bit_or:
      return order_free_fold<items, bit_or, integer_result<U>>::run;
    case simd_op::bit_xor:
      return order_free_fold<items, bit_xor, integer_result<U>>::run;
    default:
      return nullptr;
  }
}

template <class Int, int Significand, class Float = void>
simd_fold float_selection_fold(simd_op op) {
  using nan_high = key_order<Int, Significand, true>;
  using nan_low = key_order<Int, Significand, false>;
  using least =
      float_fold<order_free_fold<array_items<Int, Int, nan_low>, minimum, nan_low>, Float>;
  using greatest =
      float_fold<order_free_fold<array_items<Int, Int, nan_high>, maximum, nan_high>, Float>;
  using least_number =
      float_fold<order_free_fold<array_items<Int, Int, nan_high>, minimum, nan_high>, Float>;
  using greatest_number =
      float_fold<order_free_fold<array_items<Int, Int, nan_low>, maximum, nan_low>, Float>;
  switch (op) {
    case simd_op::minimum:
      return least::run;
    case simd_op::maximum:
      return greatest::run;
    case simd_op::minimum_number:
      return least_number::run;
    case simd_op::maximum_number:
      return greatest_number::run;
    case simd_op::extremes:
      return both_folds<least, greatest, Int>::run;
    case simd_op::number_extremes:
      return both_folds<least_number, greatest_number, Int>::run;
    case simd_op::first_minimum:
      return first_place<least, Int, Int>::run;
    case simd_op::first_maximum:
      return first_place<greatest, Int, Int>::run;
    case simd_op::first_minimum_number:
      return first_place<least_number, Int, Int>::run;
    case simd_op::first_maximum_number:
      return first_place<greatest_number, Int, Int>::run;
    default:
      return nullptr;
  }
}

// The accumulator is the value type.
simd_fold same_type_fold(simd_op op, simd_type type) {
  const bool bits = op == simd_op::bit_and || op == simd_op::bit_or || op == simd_op::bit_xor;
  const bool arithmetic = op == simd_op::plus || op == simd_op::multiplies;
  switch (type) {
    case simd_type::boolean:
      return bits ? bit_fold<std::uint8_t>(op) : nullptr;
    case simd_type::int8:
      return bits ? bit_fold<std::uint8_t>(op) : selection_fold<std::int8_t>(op);
    case simd_type::uint8:
      return bits ? bit_fold<std::uint8_t>(op) : selection_fold<std::uint8_t>(op);
    case simd_type::int16:
      return bits ? bit_fold<std::uint16_t>(op) : selection_fold<std::int16_t>(op);
    case simd_type::uint16:
      return bits ? bit_fold<std::uint16_t>(op) : selection_fold<std::uint16_t>(op);
    case simd_type::int32:
    case simd_type::uint32:
      if (bits) return bit_fold<std::uint32_t>(op);
      if (arithmetic) return integer_fold<std::uint32_t, std::uint32_t, std::uint32_t>(op);
      return type == simd_type::int32 ? selection_fold<std::int32_t>(op)
                                      : selection_fold<std::uint32_t>(op);
    case simd_type::int64:
    case simd_type::uint64:
      if (bits) return bit_fold<std::uint64_t>(op);
      if (arithmetic) return integer_fold<std::uint64_t, std::uint64_t, std::uint64_t>(op);
      return type == simd_type::int64 ? selection_fold<std::int64_t>(op)
                                      : selection_fold<std::uint64_t>(op);
    case simd_type::float16:
      return float_selection_fold<std::int16_t, 10>(op);
    case simd_type::brain16:
      return float_selection_fold<std::int16_t, 7>(op);
    case simd_type::float32:
      return float_selection_fold<std::int32_t, 23, float>(op);
    case simd_type::float64:
      return float_selection_fold<std::int64_t, 52, double>(op);
    default:
      return nullptr;
  }
}

constexpr bool is_integer_of(simd_type type, int bytes) {
  const int rank = bytes == 4 ? 4 : 6;
  const int first = static_cast<int>(simd_type::int8) + rank;
  return static_cast<int>(type) == first || static_cast<int>(type) == first + 1;
}

template <bool Signed>
simd_fold byte_sum(simd_type accumulator) {
  if (is_integer_of(accumulator, 4)) {
    return order_free_fold<byte_sums<Signed>, plus, integer_result<std::uint32_t>>::run;
  }
  if (is_integer_of(accumulator, 8)) {
    return order_free_fold<byte_sums<Signed>, plus, integer_result<std::uint64_t>>::run;
  }
  return nullptr;
}

simd_fold widened_place_fold(simd_op op, simd_type value) {
  switch (value) {
    case simd_type::int8:
      return place_fold<std::int8_t, std::int64_t>(op);
    case simd_type::uint8:
      return place_fold<std::uint8_t, std::int64_t>(op);
    case simd_type::int16:
      return place_fold<std::int16_t, std::int64_t>(op);
    case simd_type::uint16:
      return place_fold<std::uint16_t, std::int64_t>(op);
    case simd_type::int32:
      return place_fold<std::int32_t, std::int64_t>(op);
    case simd_type::uint32:
      return place_fold<std::uint32_t, std::int64_t>(op);
    default:
      return nullptr;
  }
}

// The accumulator is wider than the value: sums, products and places only.
simd_fold widening_fold(simd_op op, simd_type value, simd_type accumulator) {
  if (accumulator == simd_type::int64) {
    if (const simd_fold place = widened_place_fold(op, value)) return place;
  }
  if (op == simd_op::plus) {
    if (value == simd_type::int8) return byte_sum<true>(accumulator);
    if (value == simd_type::uint8 || value == simd_type::boolean)
      return byte_sum<false>(accumulator);
  }
  if (is_integer_of(accumulator, 4)) {
    if (value == simd_type::int16) {
      return integer_fold<std::int16_t, std::int32_t, std::uint32_t, widening>(op);
    }
    if (value == simd_type::uint16) {
      return integer_fold<std::uint16_t, std::uint32_t, std::uint32_t, widening>(op);
    }
  }
  if (is_integer_of(accumulator, 8)) {
    if (op == simd_op::plus && value == simd_type::int16) {
      return integer_fold<std::int16_t, std::int64_t, std::uint64_t, widening_twice>(op);
    }
    if (op == simd_op::plus && value == simd_type::uint16) {
      return integer_fold<std::uint16_t, std::uint64_t, std::uint64_t, widening_twice>(op);
    }
    if (value == simd_type::int32) {
      return integer_fold<std::int32_t, std::int64_t, std::uint64_t, widening>(op);
    }
    if (value == simd_type::uint32) {
      return integer_fold<std::uint32_t, std::uint64_t, std::uint64_t, widening>(op);
    }
  }
  return nullptr;
}

simd_fold find_order_free_fold(simd_op op, simd_type value, simd_type accumulator) {
  return value == accumulator ? same_type_fold(op, value) : widening_fold(op, value, accumulator);
}

#else

simd_fold find_order_free_fold(simd_op, simd_type, simd_type) { return nullptr; }

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilefold::detail::host {

HWY_EXPORT(find_order_free_fold);

simd_fold order_free_fold_for(simd_op op, simd_type value, simd_type accumulator) {
  return HWY_DYNAMIC_DISPATCH(find_order_free_fold)(op, value, accumulator);
}

}  // namespace tilefold::detail::host
#endif  // HWY_ONCE
