// SPDX-License-Identifier: Apache-2.0
//
// The shuffles of the tree: the even and the odd lanes of two neighbouring vectors, so that even +
// odd is one level. Included once for every instruction set, as Highway's own -inl headers are.
//
// On machines whose wide vectors are made of 128-bit blocks, lanes in full order are expensive:
// they cost two instructions or one slow one (docs/host.md). There each level takes "even" and
// "odd" where one instruction finds them, and what it moves out of order the next levels move back:
// after log2(lanes) levels, a cycle, the lanes are in order again. Level is counted from the first
// one of a cycle that starts with vectors in order.

// Per instruction set, hence no #pragma once.
#if defined(TILEFOLD_MERGE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEFOLD_MERGE_INL
#undef TILEFOLD_MERGE_INL
#else
#define TILEFOLD_MERGE_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_MAX_BYTES == 64

// float: two levels inside the blocks of four lanes, two among the four blocks.
template <int Level, class D>
HWY_INLINE hn::Vec512<float> even_lanes(D, hn::Vec512<float> a, hn::Vec512<float> b) {
  if constexpr (Level % 4 < 2) return {_mm512_shuffle_ps(a.raw, b.raw, 0x88)};
  return {_mm512_shuffle_f32x4(a.raw, b.raw, 0x88)};
}
template <int Level, class D>
HWY_INLINE hn::Vec512<float> odd_lanes(D, hn::Vec512<float> a, hn::Vec512<float> b) {
  if constexpr (Level % 4 < 2) return {_mm512_shuffle_ps(a.raw, b.raw, 0xdd)};
  return {_mm512_shuffle_f32x4(a.raw, b.raw, 0xdd)};
}

// double: one level inside the blocks of two lanes, two among the four blocks.
template <int Level, class D>
HWY_INLINE hn::Vec512<double> even_lanes(D, hn::Vec512<double> a, hn::Vec512<double> b) {
  if constexpr (Level % 3 < 1) return {_mm512_unpacklo_pd(a.raw, b.raw)};
  return {_mm512_shuffle_f64x2(a.raw, b.raw, 0x88)};
}
template <int Level, class D>
HWY_INLINE hn::Vec512<double> odd_lanes(D, hn::Vec512<double> a, hn::Vec512<double> b) {
  if constexpr (Level % 3 < 1) return {_mm512_unpackhi_pd(a.raw, b.raw)};
  return {_mm512_shuffle_f64x2(a.raw, b.raw, 0xdd)};
}

#elif HWY_ARCH_X86 && HWY_MAX_BYTES == 32

// float: two levels inside the blocks of four lanes, one among the two blocks.
template <int Level, class D>
HWY_INLINE hn::Vec256<float> even_lanes(D d, hn::Vec256<float> a, hn::Vec256<float> b) {
  if constexpr (Level % 3 < 2) return {_mm256_shuffle_ps(a.raw, b.raw, 0x88)};
  return hn::ConcatLowerLower(d, b, a);
}
template <int Level, class D>
HWY_INLINE hn::Vec256<float> odd_lanes(D d, hn::Vec256<float> a, hn::Vec256<float> b) {
  if constexpr (Level % 3 < 2) return {_mm256_shuffle_ps(a.raw, b.raw, 0xdd)};
  return hn::ConcatUpperUpper(d, b, a);
}

// double: one level inside the blocks of two lanes, one among the two blocks.
template <int Level, class D>
HWY_INLINE hn::Vec256<double> even_lanes(D d, hn::Vec256<double> a, hn::Vec256<double> b) {
  if constexpr (Level % 2 < 1) return {_mm256_unpacklo_pd(a.raw, b.raw)};
  return hn::ConcatLowerLower(d, b, a);
}
template <int Level, class D>
HWY_INLINE hn::Vec256<double> odd_lanes(D d, hn::Vec256<double> a, hn::Vec256<double> b) {
  if constexpr (Level % 2 < 1) return {_mm256_unpackhi_pd(a.raw, b.raw)};
  return hn::ConcatUpperUpper(d, b, a);
}

#elif HWY_TARGET != HWY_SCALAR

template <int Level, class D>
HWY_INLINE hn::Vec<D> even_lanes(D d, hn::Vec<D> a, hn::Vec<D> b) {
  return hn::ConcatEven(d, b, a);
}
template <int Level, class D>
HWY_INLINE hn::Vec<D> odd_lanes(D d, hn::Vec<D> a, hn::Vec<D> b) {
  return hn::ConcatOdd(d, b, a);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#endif  // TILEFOLD_MERGE_INL
