// SPDX-License-Identifier: Apache-2.0
//
// Arrays as sequences of vectors: which vector of accumulators the items from index i on make.
// Included once for every instruction set, as Highway's own -inl headers are; needs no alignment.

// Per instruction set, hence no #pragma once.
#if defined(TILEFOLD_ARRAY_ITEMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TILEFOLD_ARRAY_ITEMS_INL
#undef TILEFOLD_ARRAY_ITEMS_INL
#else
#define TILEFOLD_ARRAY_ITEMS_INL
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

// One lane is no vector, and vectors whose length the compiler does not know cannot be kept in
// arrays: those targets are left to the scalar templates.
#undef TILEFOLD_SIMD_TARGET
#define TILEFOLD_SIMD_TARGET (HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE)

HWY_BEFORE_NAMESPACE();
namespace tilefold::detail::host {
namespace HWY_NAMESPACE {

#if TILEFOLD_SIMD_TARGET

namespace hn = hwy::HWY_NAMESPACE;

// Far enough ahead for DRAM to answer in time (docs/host.md); may point past the array, harmlessly.
inline constexpr std::uintptr_t prefetch_bytes = 8192;

HWY_INLINE void prefetch_lines(const void* p, std::size_t bytes) {
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(p) + prefetch_bytes;
  for (std::size_t line = 0; line < bytes; line += 64) {
    hwy::Prefetch(reinterpret_cast<const char*>(ahead + line));
  }
}

// In a register, read from memory once. Compilers like to make the load a part of each instruction
// that uses the value, and a second read of a line that is still on its way slows the stream down
// to half (docs/host.md).
template <class V>
HWY_INLINE V read_once(V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && (HWY_COMPILER_GCC || HWY_COMPILER_CLANG)
  asm("" : "+v"(v.raw));
#endif
  return v;
}

struct no_conversion {
  template <class D, class V>
  HWY_INLINE static V convert(D, V v) {
    return v;
  }
};

struct widening {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    return hn::PromoteTo(d, v);
  }
};

// Over a type of twice the size.
struct widening_twice {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    using between = hwy::MakeWide<hn::TFromV<V>>;
    return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<between, D>(), v));
  }
};

// bfloat16 is the upper half of a float.
struct brain16_to_float {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V bits) {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  }
};

struct float16_to_float {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V bits) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
    const hn::Rebind<hwy::float16_t, D> df16;
    return hn::PromoteTo(d, hn::BitCast(df16, bits));
#else
    // Highway's own emulation takes infinities for numbers. Here: the magnitude as a float whose
    // exponent is too small by 112; a product with 2^112 sets that right and normalises subnormals,
    // exactly. Infinity and NaN then want the largest exponent.
    const hn::RebindToSigned<D> di;
    const auto wide = hn::BitCast(di, hn::PromoteTo(hn::RebindToUnsigned<D>(), bits));
    const auto magnitude = hn::And(wide, hn::Set(di, 0x7fff));
    const auto unscaled = hn::BitCast(d, hn::ShiftLeft<13>(magnitude));
    const auto finite = hn::BitCast(di, hn::Mul(unscaled, hn::Set(d, 0x1p112f)));
    const auto special =
        hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(di, 0x7bff)), hn::Set(di, 0x7f800000));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(wide, magnitude));
    return hn::BitCast(d, hn::Or(hn::Or(finite, special), sign));
#endif
  }
};

struct integer_to_double {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    using item = hn::TFromV<V>;
    if constexpr (sizeof(item) == 8) {
      return hn::ConvertTo(d, v);
    } else if constexpr (sizeof(item) < 4) {
      return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<std::int32_t, D>(), v));
    } else if constexpr (std::is_signed_v<item>) {
      return hn::PromoteTo(d, v);
    } else {
      // The bits of 2^52 + v, which a subtraction makes exact.
      const auto wide = hn::PromoteTo(hn::Rebind<std::uint64_t, D>(), v);
      const auto bias = hn::Set(d, 0x1p52);
      return hn::Sub(hn::BitCast(d, hn::Or(wide, hn::BitCast(hn::RebindToUnsigned<D>(), bias))),
                     bias);
    }
  }
};

template <class ToFloat>
struct narrow_to_double {
  template <class D, class V>
  HWY_INLINE static hn::Vec<D> convert(D d, V v) {
    return hn::PromoteTo(d, ToFloat::convert(hn::Rebind<float, D>(), v));
  }
};

// Loads that read nothing where their mask says so, and wait for nothing.
inline constexpr bool masks_loads = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;

/// Vector of the `n` items from `p` on, 0 <= n <= lanes, and then anything that a load may give.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* p, std::int64_t n) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) >= 4)
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
#endif
  HWY_ALIGN T items[hn::MaxLanes(D())] = {};
  std::memcpy(items, p, static_cast<std::size_t>(n) * sizeof(T));
  return hn::Load(d, items);
}

/// An array of Raw whose items are converted to accumulators of type Lane.
template <class Raw, class Lane, class Conversion = no_conversion>
class array_items {
 public:
  using tag = hn::ScalableTag<Lane>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t step = hn::MaxLanes(tag());
  /// Whether load_some() is as fast as load(), also of no item and of a whole vector.
  static constexpr bool masks = masks_loads && sizeof(Raw) >= 4;

  array_items(const void* first, const void*) : first_(static_cast<const Raw*>(first)) {}

  const Raw* data() const { return first_; }

  /// The items [i, i + step).
  HWY_INLINE vector load(std::int64_t i) const {
    return Conversion::convert(tag(), read_once(hn::LoadU(raw_tag(), first_ + i)));
  }

  /// The items [i, i + n), 0 < n < step, and then `absent`.
  HWY_INLINE vector load_some(std::int64_t i, std::int64_t n, vector absent) const {
    const vector present = Conversion::convert(tag(), load_first(raw_tag(), first_ + i, n));
    return hn::IfThenElse(hn::FirstN(tag(), static_cast<std::size_t>(n)), present, absent);
  }

  /// For a reader that takes the next `Vectors` vectors together.
  template <int Vectors>
  HWY_INLINE void prefetch(std::int64_t i) const {
    prefetch_lines(first_ + i, Vectors * step * sizeof(Raw));
  }
  HWY_INLINE void prefetch_some(std::int64_t i, std::int64_t n) const {
    prefetch_lines(first_ + i, static_cast<std::size_t>(n) * sizeof(Raw));
  }

 private:
  using raw_tag = hn::Rebind<Raw, tag>;
  const Raw* first_;
};

/// The products of two arrays.
template <class T>
class product_items {
 public:
  using tag = hn::ScalableTag<T>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t step = hn::MaxLanes(tag());
  static constexpr bool masks = array_items<T, T>::masks;

  product_items(const void* first, const void* second)
      : first_(first, nullptr), second_(second, nullptr) {}

  HWY_INLINE vector load(std::int64_t i) const { return hn::Mul(first_.load(i), second_.load(i)); }

  HWY_INLINE vector load_some(std::int64_t i, std::int64_t n, vector absent) const {
    const vector one = hn::Set(tag(), T{1});
    return hn::Mul(first_.load_some(i, n, absent), second_.load_some(i, n, one));
  }

  // Two streams at once are better left to the hardware (docs/host.md).
  template <int Vectors>
  HWY_INLINE void prefetch(std::int64_t) const {}
  HWY_INLINE void prefetch_some(std::int64_t, std::int64_t) const {}

 private:
  array_items<T, T> first_, second_;
};

/// The squares of floats, in double.
class wide_square_items {
 public:
  using tag = hn::ScalableTag<double>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t step = hn::MaxLanes(tag());
  static constexpr bool masks = array_items<float, double, widening>::masks;

  wide_square_items(const void* first, const void*) : items_(first, nullptr) {}

  HWY_INLINE vector load(std::int64_t i) const { return square(items_.load(i)); }
  HWY_INLINE vector load_some(std::int64_t i, std::int64_t n, vector absent) const {
    const vector present = square(items_.load_some(i, n, absent));
    return hn::IfThenElse(hn::FirstN(tag(), static_cast<std::size_t>(n)), present, absent);
  }
  template <int Vectors>
  HWY_INLINE void prefetch(std::int64_t i) const {
    items_.template prefetch<Vectors>(i);
  }
  HWY_INLINE void prefetch_some(std::int64_t i, std::int64_t n) const {
    items_.prefetch_some(i, n);
  }

 private:
  HWY_INLINE static vector square(vector v) { return hn::Mul(v, v); }

  array_items<float, double, widening> items_;
};

/// An array of bytes in which eight neighbours make one 64-bit sum: for sums modulo 2^64 only,
/// where an absent item counts as 0.
template <bool Signed>
class byte_sums {
 public:
  using tag = hn::ScalableTag<std::uint64_t>;
  using vector = hn::Vec<tag>;

  static constexpr std::int64_t step = 8 * hn::MaxLanes(tag());

  byte_sums(const void* first, const void*) : first_(static_cast<const std::uint8_t*>(first)) {}

  HWY_INLINE vector load(std::int64_t i) const { return sums(hn::LoadU(raw_tag(), first_ + i)); }

  HWY_INLINE vector load_some(std::int64_t i, std::int64_t n, vector) const {
    HWY_ALIGN std::uint8_t items[step] = {};
    std::memcpy(items, first_ + i, static_cast<std::size_t>(n));
    return sums(hn::Load(raw_tag(), items));
  }

  template <int Vectors>
  HWY_INLINE void prefetch(std::int64_t i) const {
    prefetch_lines(first_ + i, Vectors * step);
  }

 private:
  using raw_tag = hn::Repartition<std::uint8_t, tag>;

  HWY_INLINE static vector sums(hn::Vec<raw_tag> bytes) {
    if constexpr (Signed) {
      // The machine sums unsigned bytes: add 128 to each of eight, and take it back from the sum.
      const auto biased = hn::Xor(bytes, hn::Set(raw_tag(), 0x80));
      return hn::Sub(hn::SumsOf8(biased), hn::Set(tag(), 8 * 128));
    } else {
      return hn::SumsOf8(bytes);
    }
  }

  const std::uint8_t* first_;
};

#endif  // TILEFOLD_SIMD_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace tilefold::detail::host
HWY_AFTER_NAMESPACE();

#endif  // TILEFOLD_ARRAY_ITEMS_INL
