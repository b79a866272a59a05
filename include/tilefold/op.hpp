// SPDX-License-Identifier: Apache-2.0
//
// The operators: the library's own functors, what is known about an operator (its traits), and how
// std:: functors, which device code cannot call, become ours.
//
// An operator is any associative callable op(a, b). Commutativity is not asked for: operands stay
// in the order of the range.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tilefold/half.hpp>

// std::plus and its kin. All of <functional> costs every user 0.4 s of nvcc's time; libstdc++ has
// them in a header of their own.
#if __has_include(<bits/stl_function.h>)
#include <bits/stl_function.h>
#else
#include <functional>
#endif

TILEFOLD_WARNINGS_OFF

namespace tilefold {

namespace detail {

template <class T>
concept wrapping_integer = integer<T> && !std::same_as<std::remove_cv_t<T>, bool>;

// std::complex, cuda::std::complex and thrust::complex alike: two reals, in this order, no more.
// Their members cannot be called in device code without a special compiler flag, their bits can.
template <class T>
concept complex_like = std::is_class_v<T> && std::is_trivially_copyable_v<T> && requires(T z) {
  typename T::value_type;
  { z.real() } -> std::convertible_to<typename T::value_type>;
  { z.imag() } -> std::convertible_to<typename T::value_type>;
  requires real<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};

template <class Real>
struct real_pair {
  Real re, im;
};
template <complex_like T>
TILEFOLD_HD auto as_pair(const T& z) {
  return __builtin_bit_cast(real_pair<typename T::value_type>, z);
}
template <complex_like T>
TILEFOLD_HD T from_pair(real_pair<typename T::value_type> z) {
  return __builtin_bit_cast(T, z);
}

// At least `unsigned`, so that promotion cannot smuggle a signed (overflowing) type back in.
template <wrapping_integer T>
using modular_t = std::common_type_t<unsigned, made_unsigned_t<T>>;

// On the host, for any target: the compiler may not fuse the operation that made the value with the
// one that uses it. An empty instruction stands between the two: g++ 12 loses
// __builtin_assoc_barrier where it vectorises, nvcc's front end does not know it, and clang heeds
// no pragma under -ffp-contract=fast. What is longer than a double is never fused.
template <real T>
TILEFOLD_HD void round_on_host([[maybe_unused]] T& value) {
#if !defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) <= 8) {
#if defined(__x86_64__)
    asm("" : "+x"(value));
#elif defined(__aarch64__)
    asm("" : "+w"(value));
#else
    asm("" : "+m"(value));
#endif
  }
#endif
}

// The same where the target can fuse. Elsewhere the code can be vectorised; it would be fused in
// functions that are inlined into one for another target, which executors' are not.
template <real T>
TILEFOLD_HD T host_rounded(T value) {
#if defined(__CUDA_ARCH__)
  return value;
#elif defined(__FMA__) || defined(__FMA4__) || !defined(__x86_64__) || defined(__CUDACC__)
  detail::round_on_host(value);
  return value;
#elif defined(__GNUC__) && !defined(__clang__)
  return __builtin_assoc_barrier(value);
#else
  return value;
#endif
}

// One rounding each, never fused with a neighbouring operation (nvcc contracts by default).
template <real T>
TILEFOLD_HD inline T rounded_sum(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) return __fadd_rn(a, b);
  if constexpr (sizeof(T) == 8) return __dadd_rn(a, b);
#endif
  return a + b;
}
template <real T>
TILEFOLD_HD inline T rounded_product(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) return __fmul_rn(a, b);
  if constexpr (sizeof(T) == 8) return __dmul_rn(a, b);
#endif
  return detail::host_rounded(a * b);
}

template <floating T>
TILEFOLD_HD bool is_nan(T x) {
  if constexpr (is_narrow_float<T>) {
    const float f = static_cast<float>(x);
    return f != f;
  } else {
    return x != x;
  }
}

template <int Bytes>
struct signed_of_size
    : std::conditional<
          Bytes == 1, std::int8_t,
          std::conditional_t<Bytes == 2, std::int16_t,
                             std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>>> {};

// IEEE 754 totalOrder on everything but NaN as an integer comparison: -0 < +0, and the same answer
// on every machine.
template <floating T>
TILEFOLD_HD auto order_key(T x) {
  using key = typename signed_of_size<sizeof(T)>::type;
  const auto bits = __builtin_bit_cast(key, x);
  constexpr int sign_shift = 8 * static_cast<int>(sizeof(T)) - 1;
  // One shift and one operation on three operands.
  constexpr auto all_but_sign = static_cast<key>(~(key{1} << sign_shift));
  return static_cast<key>(bits ^ (bits >> sign_shift & all_but_sign));
}

template <class T>
TILEFOLD_HD bool ordered_less(const T& a, const T& b) {
  if constexpr (real<T> && sizeof(T) > 8) {
    return a < b || (a == b && __builtin_signbit(a) > __builtin_signbit(b));
  } else if constexpr (floating<T>) {
    return detail::order_key(a) < detail::order_key(b);
  } else {
    return a < b;
  }
}

// As constants: device code may use their values, but cannot call numeric_limits; which does not
// know every type of the compiler, either.
template <real T>
inline constexpr T infinity = static_cast<T>(std::numeric_limits<double>::infinity());
template <real T>
inline constexpr T nan = static_cast<T>(std::numeric_limits<double>::quiet_NaN());
template <integer T>
inline constexpr T largest = (std::numeric_limits<T>::max)();
template <integer T>
inline constexpr T smallest = std::numeric_limits<T>::lowest();
#if defined(__SIZEOF_INT128__)
template <>
inline constexpr unsigned_128 largest<unsigned_128> = ~unsigned_128{0};
template <>
inline constexpr unsigned_128 smallest<unsigned_128> = 0;
template <>
inline constexpr signed_128 largest<signed_128> = static_cast<signed_128>(~unsigned_128{0} >> 1);
template <>
inline constexpr signed_128 smallest<signed_128> = -largest<signed_128> - 1;
#endif

#if defined(__CUDA_ARCH__)
// PTX min and max: -0 < +0; a NaN operand is ignored, or wins with .NaN, which is there from sm_80
// on, and not for double.
#define TILEFOLD_EXTREME(name, instruction)                                    \
  template <bool NanWins>                                                      \
  __device__ float name(float a, float b) {                                    \
    float result;                                                              \
    if constexpr (NanWins && __CUDA_ARCH__ >= 800) {                           \
      asm(instruction ".NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b)); \
      return result;                                                           \
    }                                                                          \
    asm(instruction ".f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));       \
    return NanWins && ((a != a) | (b != b)) ? nan<float> : result;             \
  }                                                                            \
  template <bool NanWins>                                                      \
  __device__ double name(double a, double b) {                                 \
    double result;                                                             \
    asm(instruction ".f64 %0, %1, %2;" : "=d"(result) : "d"(a), "d"(b));       \
    return NanWins && ((a != a) | (b != b)) ? nan<double> : result;            \
  }
TILEFOLD_EXTREME(device_min, "min")
TILEFOLD_EXTREME(device_max, "max")
#undef TILEFOLD_EXTREME
#if __CUDA_ARCH__ >= 800
// The same for the narrow floats, as the words that they are.
#define TILEFOLD_NARROW_EXTREME(name, instruction)                              \
  template <bool NanWins, class T>                                              \
  __device__ T name(T a, T b) {                                                 \
    const auto x = __builtin_bit_cast(std::uint16_t, a);                        \
    const auto y = __builtin_bit_cast(std::uint16_t, b);                        \
    std::uint16_t result;                                                       \
    if constexpr (is_half<T> && NanWins) {                                      \
      asm(instruction ".NaN.f16 %0, %1, %2;" : "=h"(result) : "h"(x), "h"(y));  \
    } else if constexpr (is_half<T>) {                                          \
      asm(instruction ".f16 %0, %1, %2;" : "=h"(result) : "h"(x), "h"(y));      \
    } else if constexpr (NanWins) {                                             \
      asm(instruction ".NaN.bf16 %0, %1, %2;" : "=h"(result) : "h"(x), "h"(y)); \
    } else {                                                                    \
      asm(instruction ".bf16 %0, %1, %2;" : "=h"(result) : "h"(x), "h"(y));     \
    }                                                                           \
    return __builtin_bit_cast(T, result);                                       \
  }
TILEFOLD_NARROW_EXTREME(device_min, "min")
TILEFOLD_NARROW_EXTREME(device_max, "max")
#undef TILEFOLD_NARROW_EXTREME
#endif
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <class T>
inline constexpr bool has_min_instruction =
    std::same_as<T, float> || std::same_as<T, double> || is_half<T> || is_bfloat16<T>;
#else
template <class T>
inline constexpr bool has_min_instruction = std::same_as<T, float> || std::same_as<T, double>;
#endif

// IEEE 754-2019 minimum or, if Greatest, maximum; minimumNumber or maximumNumber unless NanWins.
// -0 < +0. Two NaNs count as the same.
template <bool Greatest, bool NanWins, class T>
TILEFOLD_HD T extreme(const T& a, const T& b) {
#if defined(__CUDA_ARCH__)
  if constexpr (has_min_instruction<T>) {
    return Greatest ? device_max<NanWins>(a, b) : device_min<NanWins>(a, b);
  }
#endif
  if constexpr (floating<T>) {
    if (detail::is_nan(a)) return NanWins ? a : b;
    if (detail::is_nan(b)) return NanWins ? b : a;
  }
  return (Greatest ? detail::ordered_less(a, b) : detail::ordered_less(b, a)) ? b : a;
}

template <class T>
concept truth_value = std::constructible_from<bool, const T&>;
// Whose bits the library knows how to join. (Device code cannot call the operators of std::byte.)
template <class T>
concept bitwise = integer<T> || std::same_as<T, std::byte>;
template <class T>
using bits_of_t = std::conditional_t<std::same_as<T, std::byte>, unsigned char, const T&>;
template <class T>
concept addable = wrapping_integer<T> || floating<T> || complex_like<T> || requires(const T& a) {
  { a + a } -> std::convertible_to<T>;
};
template <class T>
concept multipliable =
    wrapping_integer<T> || floating<T> || complex_like<T> || requires(const T& a) {
      { a* a } -> std::convertible_to<T>;
    };
template <class T>
concept orderable = floating<T> || (!complex_like<T> && requires(const T& a) {
                      { a < a } -> std::convertible_to<bool>;
                    });

template <bool Greatest, bool NanWins>
struct extreme_op {
  template <orderable T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    return detail::extreme<Greatest, NanWins>(a, b);
  }
};

}  // namespace detail

/// a + b. Integers wrap modulo 2^bits; floating values are rounded once, never fused.
struct plus {
  template <detail::addable T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    if constexpr (detail::wrapping_integer<T>) {
      using U = detail::modular_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else if constexpr (is_narrow_float<T>) {
      return static_cast<T>(detail::rounded_sum(static_cast<float>(a), static_cast<float>(b)));
    } else if constexpr (detail::real<T>) {
      return detail::rounded_sum(a, b);
    } else if constexpr (detail::complex_like<T>) {
      const auto x = detail::as_pair(a);
      const auto y = detail::as_pair(b);
      return detail::from_pair<T>(
          {detail::rounded_sum(x.re, y.re), detail::rounded_sum(x.im, y.im)});
    } else {
      return a + b;
    }
  }
};

/// a * b. Integers wrap modulo 2^bits; floating values are rounded once; complex products are the
/// four-product formula without fused operations or recovery of infinities.
struct multiplies {
  template <detail::multipliable T>
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    if constexpr (detail::wrapping_integer<T>) {
      using U = detail::modular_t<T>;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else if constexpr (is_narrow_float<T>) {
      return static_cast<T>(detail::rounded_product(static_cast<float>(a), static_cast<float>(b)));
    } else if constexpr (detail::real<T>) {
      return detail::rounded_product(a, b);
    } else if constexpr (detail::complex_like<T>) {
      const auto x = detail::as_pair(a);
      const auto y = detail::as_pair(b);
      const auto re = detail::rounded_sum(detail::rounded_product(x.re, y.re),
                                          -detail::rounded_product(x.im, y.im));
      const auto im = detail::rounded_sum(detail::rounded_product(x.re, y.im),
                                          detail::rounded_product(x.im, y.re));
      return detail::from_pair<T>({re, im});
    } else {
      return a * b;
    }
  }
};

/// IEEE 754-2019 minimum: a NaN operand wins, -0 < +0. Any type with < works.
struct minimum : detail::extreme_op<false, true> {};

/// IEEE 754-2019 maximum: a NaN operand wins, -0 < +0. Any type with < works.
struct maximum : detail::extreme_op<true, true> {};

/// IEEE 754-2019 minimumNumber: a NaN operand is a missing value, -0 < +0.
struct minimum_number : detail::extreme_op<false, false> {};

/// IEEE 754-2019 maximumNumber: a NaN operand is a missing value, -0 < +0.
struct maximum_number : detail::extreme_op<true, false> {};

/// a & b
struct bit_and {
  template <class T>
    requires requires(const T& a) {
      { a& a } -> std::convertible_to<T>;
    }
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    using bits = detail::bits_of_t<T>;
    return static_cast<T>(static_cast<bits>(a) & static_cast<bits>(b));
  }
};

/// a | b
struct bit_or {
  template <class T>
    requires requires(const T& a) {
      { a | a } -> std::convertible_to<T>;
    }
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    using bits = detail::bits_of_t<T>;
    return static_cast<T>(static_cast<bits>(a) | static_cast<bits>(b));
  }
};

/// a ^ b
struct bit_xor {
  template <class T>
    requires requires(const T& a) {
      { a ^ a } -> std::convertible_to<T>;
    }
  TILEFOLD_HD T operator()(const T& a, const T& b) const {
    using bits = detail::bits_of_t<T>;
    return static_cast<T>(static_cast<bits>(a) ^ static_cast<bits>(b));
  }
};

/// a && b, as bool
struct logical_and {
  template <detail::truth_value T>
  TILEFOLD_HD bool operator()(const T& a, const T& b) const {
    return static_cast<bool>(a) && static_cast<bool>(b);
  }
};

/// a || b, as bool
struct logical_or {
  template <detail::truth_value T>
  TILEFOLD_HD bool operator()(const T& a, const T& b) const {
    return static_cast<bool>(a) || static_cast<bool>(b);
  }
};

/// What the library may assume about `Op` on accumulators of type T. The default assumes nothing,
/// which is always correct. Specialize it for an operator of your own. A specialization must have
/// all three flags, also those that are false.
///
/// - `commutative`: op(a, b) and op(b, a) have the same bits (two NaNs count as the same).
/// - `order_free`: the result is the same for every order of evaluation. Floating-point plus is not
///   order_free. An operator that is order_free must be commutative, too.
/// - `separately_rounded`: no multiplication in op whose result a compiler could fuse with an
///   addition outside op, so that op needs no guard against contraction.
/// - `static T identity()`: op(identity(), x) has the bits of x for every x; the value of an empty
///   range. Leave it out if there is none.
template <class Op, class T>
struct op_traits {
  static constexpr bool commutative = false;
  static constexpr bool order_free = false;
  static constexpr bool separately_rounded = false;
};

namespace detail {

template <class T>
concept arithmetic_like = number<T> || complex_like<T>;

// Ours: commutative on every type whose arithmetic we know, never assumed of a class.
template <bool Commutative, bool OrderFree = Commutative>
struct traits_of_ours {
  static constexpr bool commutative = Commutative;
  static constexpr bool order_free = OrderFree;
  static constexpr bool separately_rounded = Commutative;
};
template <class T>
using known_op_traits = traits_of_ours<arithmetic_like<T>, integer<T>>;
template <class T>
using bitwise_traits = traits_of_ours<bitwise<T>>;
template <class T>
using selection_traits = traits_of_ours<number<T>>;

// numeric_limits knows nothing of the narrow types; their extremes come through float.
template <bool Greatest, class T>
TILEFOLD_HD T limit_of() {
  if constexpr (real<T>) {
    return Greatest ? infinity<T> : -infinity<T>;
  } else if constexpr (is_narrow_float<T>) {
    return static_cast<T>(Greatest ? infinity<float> : -infinity<float>);
  } else {
    return Greatest ? largest<T> : smallest<T>;
  }
}

// The bits of the one NaN that results use. Conversion from a float NaN would not do: processors
// disagree about what it gives.
template <class T>
inline constexpr std::uint16_t nan_bits = is_half<T>       ? 0x7e00
                                          : is_bfloat16<T> ? 0x7fc0
                                                           : 0;
template <>
inline constexpr std::uint16_t nan_bits<::__nv_fp8_e4m3> = 0x7f;
template <>
inline constexpr std::uint16_t nan_bits<::__nv_fp8_e5m2> = 0x7e;

template <class T>
TILEFOLD_HD T quiet_nan() {
  if constexpr (real<T>) {
    return nan<T>;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, nan_bits<T>);
  } else {
    return __builtin_bit_cast(T, static_cast<std::uint8_t>(nan_bits<T>));
  }
}

}  // namespace detail

template <class T>
struct op_traits<plus, T> : detail::known_op_traits<T> {
  // -0 and not +0: -0 + x is x for every x, while +0 + -0 is +0.
  TILEFOLD_HD static T identity()
    requires detail::arithmetic_like<T>
  {
    if constexpr (detail::complex_like<T>) {
      using real = typename T::value_type;
      return detail::from_pair<T>({-real{0}, -real{0}});
    } else if constexpr (is_narrow_float<T>) {
      return static_cast<T>(-0.0f);
    } else if constexpr (detail::real<T>) {
      return -static_cast<T>(0);
    } else {
      return T{0};
    }
  }
};

template <class T>
struct op_traits<multiplies, T> : detail::known_op_traits<T> {
  TILEFOLD_HD static T identity()
    requires detail::number<T>
  {
    return static_cast<T>(1.0f);
  }
};

namespace detail {

template <bool Greatest, class T>
struct extreme_traits : selection_traits<T> {
  TILEFOLD_HD static T identity()
    requires number<T>
  {
    return detail::limit_of<!Greatest, T>();
  }
};
template <bool Identity, class T>
struct logical_traits : known_op_traits<T> {
  TILEFOLD_HD static T identity()
    requires std::same_as<T, bool>
  {
    return Identity;
  }
};
// Where NaN is a missing value, "nothing" is NaN: minimum_number(NaN, x) is x.
template <class T>
struct nan_is_nothing : selection_traits<T> {
  TILEFOLD_HD static T identity() { return detail::quiet_nan<T>(); }
};
template <bool Greatest, class T>
using number_traits =
    std::conditional_t<floating<T>, nan_is_nothing<T>, extreme_traits<Greatest, T>>;

}  // namespace detail

template <class T>
struct op_traits<minimum, T> : detail::extreme_traits<false, T> {};
template <class T>
struct op_traits<maximum, T> : detail::extreme_traits<true, T> {};
template <class T>
struct op_traits<minimum_number, T> : detail::number_traits<false, T> {};
template <class T>
struct op_traits<maximum_number, T> : detail::number_traits<true, T> {};

template <class T>
struct op_traits<bit_and, T> : detail::bitwise_traits<T> {
  TILEFOLD_HD static T identity()
    requires detail::bitwise<T>
  {
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else {
      return static_cast<T>(~static_cast<detail::bits_of_t<T>>(T{0}));
    }
  }
};

template <class T>
struct op_traits<bit_or, T> : detail::bitwise_traits<T> {
  TILEFOLD_HD static T identity()
    requires detail::bitwise<T>
  {
    return T{0};
  }
};

template <class T>
struct op_traits<bit_xor, T> : op_traits<bit_or, T> {};

template <class T>
struct op_traits<logical_and, T> : detail::logical_traits<true, T> {};
template <class T>
struct op_traits<logical_or, T> : detail::logical_traits<false, T> {};

namespace detail {

template <class Op, class T>
concept has_identity = requires {
  { op_traits<Op, T>::identity() } -> std::convertible_to<T>;
};

template <class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);

// std:: functors are constexpr host functions: a kernel cannot call them without a compiler flag
// that a library must not ask for. `argument` is the X of std::plus<X>, void for std::plus<>.
template <class Op>
struct normalized_op {
  using type = Op;
  using argument = void;
  static constexpr bool known = false;
};
template <class Ours, class X = void>
struct known_op {
  using type = Ours;
  using argument = X;
  static constexpr bool known = true;
};
template <class X>
struct normalized_op<std::plus<X>> : known_op<plus, X> {};
template <class X>
struct normalized_op<std::multiplies<X>> : known_op<multiplies, X> {};
template <class X>
struct normalized_op<std::bit_and<X>> : known_op<bit_and, X> {};
template <class X>
struct normalized_op<std::bit_or<X>> : known_op<bit_or, X> {};
template <class X>
struct normalized_op<std::bit_xor<X>> : known_op<bit_xor, X> {};
template <class X>
struct normalized_op<std::logical_and<X>> : known_op<logical_and, X> {};
template <class X>
struct normalized_op<std::logical_or<X>> : known_op<logical_or, X> {};
template <class Op>
  requires one_of<Op, plus, multiplies, minimum, maximum, minimum_number, maximum_number, bit_and,
                  bit_or, bit_xor, logical_and, logical_or>
struct normalized_op<Op> : known_op<Op> {};

template <class Op>
using normalized_op_t = typename normalized_op<Op>::type;

// An operator that is one of ours is stateless: make it anew. Anything else is passed through.
template <class Op>
TILEFOLD_HD normalized_op_t<Op> normalize(const Op& op) {
  if constexpr (normalized_op<Op>::known) {
    return {};
  } else {
    return op;
  }
}

}  // namespace detail

}  // namespace tilefold

TILEFOLD_WARNINGS_BACK
