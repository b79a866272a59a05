// SPDX-License-Identifier: Apache-2.0
//
// Operators on lanes, and floating items as integer keys in their order. Included once for every
// instruction set, as Highway's own -inl headers are.

// Per instruction set, hence no #pragma once.
#if defined(TILEFOLD_LANE_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEFOLD_LANE_OPS_INL
#undef TILEFOLD_LANE_OPS_INL
#else
#define TILEFOLD_LANE_OPS_INL
#endif

#include <limits>

#include <hwy/highway.h>
#include <tilefold/op.hpp>

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The vector twin of an operator of ours.
template <class Op>
struct lane_op;
template <>
struct lane_op<plus> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Add(a, b);
  }
};
template <>
struct lane_op<multiplies> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};
#if HWY_TARGET != HWY_SCALAR
/// Products of complex numbers of two floats, each a lane of 64 bits: as multiplies makes them.
struct multiplies_pairs {};
template <>
struct lane_op<multiplies_pairs> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    const hn::DFromV<V> d;
    const hn::Repartition<float, decltype(d)> parts;
    const auto x = hn::BitCast(parts, a);
    const auto y = hn::BitCast(parts, b);
    const auto by_real = hn::Mul(hn::DupEven(x), y);
    const auto by_imaginary = hn::Mul(hn::DupOdd(x), hn::Reverse2(parts, y));
    return hn::BitCast(d,
                       hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary)));
  }
};
#endif
template <>
struct lane_op<minimum> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Min(a, b);
  }
};
template <>
struct lane_op<maximum> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Max(a, b);
  }
};
template <>
struct lane_op<bit_and> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::And(a, b);
  }
};
template <>
struct lane_op<bit_or> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Or(a, b);
  }
};
template <>
struct lane_op<bit_xor> {
  template <class V>
  HWY_INLINE static V apply(V a, V b) {
    return hn::Xor(a, b);
  }
};

// What a binary floating format of Significand bits looks like as a signed integer.
template <class Int, int Significand>
struct float_bits {
  static constexpr Int magnitude = std::numeric_limits<Int>::max();
  static constexpr Int infinity = static_cast<Int>(magnitude - ((Int{1} << Significand) - 1));
  static constexpr Int quiet_nan = static_cast<Int>(infinity | (Int{1} << (Significand - 1)));
};

// Integer keys in the order of the floating values, -0 below +0; as order_key() makes them, except
// that every NaN has the key which makes the operator treat it as it should: last in line where a
// NaN is a missing value, first where it wins. No other value has that key.
template <class Int, int Significand, bool NanIsHighest>
struct key_order {
  static constexpr Int nan_key =
      NanIsHighest ? std::numeric_limits<Int>::max() : std::numeric_limits<Int>::min();
  using layout = float_bits<Int, Significand>;

  template <class D, class V>
  HWY_INLINE static V convert(D d, V bits) {
    const hn::RebindToUnsigned<D> du;
    const auto sign = hn::BroadcastSignBit(bits);
    const auto flip = hn::BitCast(d, hn::ShiftRight<1>(hn::BitCast(du, sign)));
    const auto magnitude = hn::And(bits, hn::Set(d, layout::magnitude));
    const auto nan = hn::Gt(magnitude, hn::Set(d, layout::infinity));
    return hn::IfThenElse(nan, hn::Set(d, nan_key), hn::Xor(bits, flip));
  }

  template <class D, class V>
  HWY_INLINE static V restore(D d, V key) {
    const hn::RebindToUnsigned<D> du;
    const auto sign = hn::BroadcastSignBit(key);
    const auto flip = hn::BitCast(d, hn::ShiftRight<1>(hn::BitCast(du, sign)));
    const auto nan = hn::Eq(key, hn::Set(d, nan_key));
    return hn::IfThenElse(nan, hn::Set(d, layout::quiet_nan), hn::Xor(key, flip));
  }

  static Int of(Int key) {
    if (key == nan_key) return layout::quiet_nan;
    return static_cast<Int>(key < 0 ? key ^ layout::magnitude : key);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#endif  // TILEFOLD_LANE_OPS_INL
