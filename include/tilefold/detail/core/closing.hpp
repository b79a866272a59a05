// SPDX-License-Identifier: Apache-2.0
//
// What closing is, for host and device. Where a compiler sees a product and the sum that takes it,
// it may fuse both into one operation with one rounding. Which ones it sees together depends on
// unrolling, inlining and tile shapes, and must not move a bit. So a value is closed when it goes
// from the caller's code to the library's or back, and from one call of the caller's operator to
// the next: the compiler then cannot know where it came from, and must round it.
//
//     items that an iterator computes | f | a reducer's lift | combine | combine | project | output
//
// On the host an empty instruction stands between, on a GPU the addition of a zero that only the
// launch knows. Nothing is closed where nothing could be fused: items in memory, integers,
// operators of ours.
#pragma once

#include <concepts>
#include <cstring>
#include <type_traits>

#include <tilefold/op.hpp>

namespace tilefold::detail {

/// Whether a value of type T may hold a product.
template <class T>
inline constexpr bool may_hold_product =
    !integer<T> && !std::is_enum_v<T> && !std::is_pointer_v<T> && !std::is_empty_v<T>;

/// Whether the conversion of a value of type From may be the caller's code, which computes.
template <class From, class To>
inline constexpr bool conversion_may_fuse =
    !std::same_as<From, To> && !(arithmetic_like<From> && arithmetic_like<To>);

// Whether code for this target can fuse. Where it cannot, the executors' functions are not inlined
// into those that are compiled for another target, so loops over items can still be vectorized.
#if defined(__x86_64__) && !defined(__FMA__) && !defined(__FMA4__)
inline constexpr bool host_fuses = false;
#else
inline constexpr bool host_fuses = true;
#endif

/// The value, closed whatever the target; a reference to it, closed in place, unless it fits
/// registers.
template <class T>
decltype(auto) closed_on_host(const T& value) {
  if constexpr (complex_like<T>) {
    auto z = detail::as_pair(value);
    detail::round_on_host(z.re);
    detail::round_on_host(z.im);
    return detail::from_pair<T>(z);
  } else if constexpr (real<T>) {
    T result = value;
    detail::round_on_host(result);
    return result;
  } else {
    if constexpr (may_hold_product<T>) {
      // As bytes, which may be written even where a member is const. Nothing is: the compiler is
      // only to believe that something could be, so the value may be const itself.
      auto& bytes = reinterpret_cast<unsigned char(&)[sizeof(T)]>(const_cast<T&>(value));
      if constexpr (std::is_trivially_copyable_v<T>) {
        asm("" : "+m"(bytes));
      } else {
        // The value may lead to products elsewhere in memory.
        asm volatile("" : "+m"(bytes) : : "memory");
      }
    }
    return static_cast<const T&>(value);
  }
}

#if defined(__CUDA_ARCH__)
/// The value after adding `zero`, which is 0, to each of its words. (Not exclusive or: what a
/// combine passes through is closed again, and twice the same is nothing.)
template <class T>
__device__ __forceinline__ T closed_on_device(const T& value, unsigned zero) {
  constexpr int count = (static_cast<int>(sizeof(T)) + 3) / 4;
  struct words {
    unsigned word[count];
  } w;
  if constexpr (sizeof(T) % 4 == 0 && std::is_trivially_copyable_v<T>) {
    w = __builtin_bit_cast(words, value);
  } else {
    w.word[count - 1] = 0;
    std::memcpy(&w, static_cast<const void*>(__builtin_addressof(value)), sizeof(T));
  }
#pragma unroll
  for (int i = 0; i < count; ++i) w.word[i] += zero;
  if constexpr (sizeof(T) % 4 == 0 && std::is_trivially_copyable_v<T>) {
    return __builtin_bit_cast(T, w);
  } else {
    union room {
      __device__ room() {}
      __device__ ~room() {}
      T value;
    } result;
    std::memcpy(static_cast<void*>(&result), &w, sizeof(T));
    return result.value;
  }
}
#endif

/// Closes values. Part of what a launch is given.
struct border {
  unsigned zero = 0;  // the compiler of device code must not know it

  TILEFOLD_NO_EXEC_CHECK
  /// The value; a reference to it where it need not be touched.
  template <class T>
  TILEFOLD_HD decltype(auto) operator()(const T& value) const {
#if defined(__CUDA_ARCH__)
    if constexpr (may_hold_product<T>) {
      return detail::closed_on_device(value, zero);
    } else {
      return static_cast<const T&>(value);
    }
#else
    if constexpr (host_fuses && may_hold_product<T>) {
      return detail::closed_on_host(value);
    } else {
      return static_cast<const T&>(value);
    }
#endif
  }
};

/// Where nothing is closed.
struct no_border {
  template <class T>
  TILEFOLD_HD const T& operator()(const T& value) const {
    return value;
  }
};

/// Whether a reducer's lift is told of the border, because the caller's code stands before it.
template <class Reducer, class... Values>
concept lifts_across_border = requires(const Reducer& reducer, const Values&... values) {
  reducer.lift_across(border{}, values...);
};

/// Whether its combine is told of the border, because a conversion of the caller's own stands
/// behind the caller's operator.
template <class Reducer>
concept combines_across_border =
    requires(const Reducer& reducer, const typename Reducer::accumulator& a) {
      reducer.combine_across(border{}, a, a);
    };

/// Whether its combine has additions that cannot be fused with anything before them: on a GPU ours
/// are instructions of their own.
template <class Reducer>
#if defined(__CUDA_ARCH__)
inline constexpr bool sums_apart = requires { requires Reducer::rounds_alone; };
#else
inline constexpr bool sums_apart = false;
#endif

/// The steps of a fold with `reducer`, each closed to the next.
template <class Reducer>
struct closed_steps {
  using accumulator = typename Reducer::accumulator;
  using result = typename Reducer::result;
  static constexpr bool closes_result = requires { requires Reducer::result_may_fuse; };

  const Reducer& reducer;
  border closing{};

  TILEFOLD_NO_EXEC_CHECK
  template <class... Values>
  TILEFOLD_HD accumulator lift(const Values&... values) const {
    if constexpr (Reducer::lift_may_fuse && !sums_apart<Reducer>) {
      return closing(lift_open(values...));
    } else {
      return lift_open(values...);
    }
  }

  /// combine() in two steps, for callers whose shuffle or memory closes the result to fusion, or
  /// which close it later, off the critical path.
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD accumulator combine_open(const accumulator& a, const accumulator& b) const {
    if constexpr (combines_across_border<Reducer>) {
      return reducer.combine_across(closing, a, b);
    } else {
      return reducer.combine(a, b);
    }
  }
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD accumulator closed(const accumulator& combined) const {
    if constexpr (Reducer::combine_may_fuse) {
      return closing(combined);
    } else {
      return combined;
    }
  }

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD accumulator combine(const accumulator& a, const accumulator& b) const {
    if constexpr (Reducer::combine_may_fuse) {
      return closing(combine_open(a, b));
    } else {
      return combine_open(a, b);
    }
  }

  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD accumulator combine_equals(const accumulator& a, const accumulator& b) const {
    if constexpr (combines_across_border<Reducer>) {
      return combine(a, b);
    } else if constexpr (Reducer::combine_may_fuse) {
      return closing(reducer.combine_equals(a, b));
    } else {
      return reducer.combine_equals(a, b);
    }
  }

  /// To the caller, or to an output that computes something of it.
  TILEFOLD_NO_EXEC_CHECK
  TILEFOLD_HD result project(const accumulator& value) const {
    if constexpr (closes_result) {
      return closing(reducer.project(value));
    } else {
      return reducer.project(value);
    }
  }

 private:
  TILEFOLD_NO_EXEC_CHECK
  template <class... Values>
  TILEFOLD_HD accumulator lift_open(const Values&... values) const {
    if constexpr (lifts_across_border<Reducer, Values...>) {
      return reducer.lift_across(closing, values...);
    } else {
      return reducer.lift(values...);
    }
  }
};
template <class Reducer>
closed_steps(const Reducer&) -> closed_steps<Reducer>;
template <class Reducer>
closed_steps(const Reducer&, border) -> closed_steps<Reducer>;

}  // namespace tilefold::detail
