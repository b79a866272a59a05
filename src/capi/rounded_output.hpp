// SPDX-License-Identifier: Apache-2.0
//
// Results of operations that compute in double, rounded once to a narrower type that a caller asks
// for.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/half.hpp>
#include <tilefold/reducer.hpp>

#if defined(__CUDACC__)
#include <tilefold/detail/cuda/columns/columns_kernel.cuh>
#endif

#include "types.hpp"

namespace tilefold::capi {

/// Whether results that are double can be given in a type.
constexpr bool rounds_to(dtype type) {
  return type == dtype::float64 || type == dtype::float32 || type == dtype::float16 ||
         type == dtype::bfloat16;
}

/// A float whose last bit is 1 if it is not the double: rounded once more, to a type of fewer bits,
/// it is what rounding the double to that type gives.
TILEFOLD_HD inline float rounded_to_odd(double value) {
  const auto near = static_cast<float>(value);
  const auto back = static_cast<double>(near);
  const std::uint64_t bits_of_value = __builtin_bit_cast(std::uint64_t, value) << 1;
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff0000000000000} << 1;
  const std::uint64_t bits_of_back = __builtin_bit_cast(std::uint64_t, back) << 1;
  if (bits_of_back == bits_of_value || bits_of_value >= infinity) return near;
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, near);
  return __builtin_bit_cast(float, (bits - (bits_of_back > bits_of_value ? 1u : 0u)) | 1u);
}

/// A result, whose NaN is that of every result, as a T with the NaN of its type.
template <class T>
TILEFOLD_HD T rounded(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_same_v<T, float>) {
    return detail::canonical(static_cast<float>(value));
  } else {
    return T(capi::rounded_to_odd(value));
  }
}

/// use(std::type_identity<T>{}) for the type of results.
TILEFOLD_NO_EXEC_CHECK
template <class Use>
TILEFOLD_HD void visit_rounded(dtype type, const Use& use) {
  switch (type) {
    case dtype::float32:
      return use(std::type_identity<float>{});
    case dtype::float16:
      return use(std::type_identity<half>{});
    case dtype::bfloat16:
      return use(std::type_identity<bfloat16>{});
    default:
      return use(std::type_identity<double>{});
  }
}

/// Writes result number i of an array of `type`.
TILEFOLD_HD inline void write_rounded(double value, dtype type, char* array, std::int64_t i = 0) {
  capi::visit_rounded(type, [&]<class T>(std::type_identity<T>) {
    reinterpret_cast<T*>(array)[i] = capi::rounded<T>(value);
  });
}

#if defined(__CUDACC__)
/// Where doubles go that are rounded so. Which type it is is known when a program runs, so that all
/// share kernels. What depends on the type is computed where a result is written: before, it would
/// keep registers of the fold.
class rounded_output {
 public:
  using stores_rows_tag = rounded_output;
  using value_type = double;
  using difference_type = std::int64_t;

  class place {
   public:
    TILEFOLD_HD place(char* array, dtype type, std::int64_t i)
        : array_(array), type_(type), i_(i) {}
    TILEFOLD_HD void operator=(double result) const {
      capi::write_rounded(result, type_, array_, i_);
    }

   private:
    char* array_;
    dtype type_;
    std::int64_t i_;
  };

  rounded_output(void* results, dtype type) : array_(static_cast<char*>(results)), type_(type) {}

  TILEFOLD_HD place operator*() const { return {array_, type_, first_}; }
  TILEFOLD_HD friend rounded_output operator+(rounded_output out, std::int64_t n) {
    out.first_ += n;
    return out;
  }
  char* get() const { return array_ + first_ * bytes_of(type_); }

  /// Neighbouring results, where is_aligned(Width).
  template <int Width>
  __device__ void store_row(const double (&results)[Width]) const {
    capi::visit_rounded(type_, [&]<class T>(std::type_identity<T>) { store_as<T>(results); });
  }
  bool is_aligned(int width) const {
    const auto bytes =
        detail::smaller(static_cast<int>(width * bytes_of(type_)), 16);  // of a store
    return reinterpret_cast<std::uintptr_t>(get()) % static_cast<std::uintptr_t>(bytes) == 0;
  }

 private:
  template <class T, int Width>
  __device__ void store_as(const double (&results)[Width]) const {
    T row[Width];
#pragma unroll
    for (int j = 0; j < Width; ++j) row[j] = capi::rounded<T>(results[j]);
    detail::cuda::store_row(reinterpret_cast<T*>(array_) + first_, row);
  }

  char* array_;
  dtype type_;
  std::int64_t first_ = 0;
};
#endif

}  // namespace tilefold::capi
