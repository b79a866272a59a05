// SPDX-License-Identifier: Apache-2.0
//
// What a call is about: items of any dtype, read as one type, and a job over them.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tilefold/config.hpp>
#include <tilefold/detail/host/simd.hpp>
#include <tilefold/detail/verbs/axis_plan.hpp>
#include <tilefold/half.hpp>

#include "types.hpp"

namespace tilefold::capi {

/// Stands for a type.
template <class T>
struct type_is {};
template <class T>
struct complex_parts {
  T real;
  T imaginary;
};

/// A bool in memory of the caller's: any byte but 0 is true.
struct bool_byte {
  std::uint8_t bits;

  TILEFOLD_HD friend bool operator==(bool_byte a, bool_byte b) {
    return (a.bits != 0) == (b.bits != 0);
  }
};

/// use(type_is<T>{}) for the type of items of a dtype.
TILEFOLD_NO_EXEC_CHECK
template <class Use>
TILEFOLD_HD auto visit_type(dtype type, const Use& use) {
  switch (type) {
    case dtype::int8:
      return use(type_is<std::int8_t>{});
    case dtype::int16:
      return use(type_is<std::int16_t>{});
    case dtype::int32:
      return use(type_is<std::int32_t>{});
    case dtype::int64:
      return use(type_is<std::int64_t>{});
    case dtype::uint16:
      return use(type_is<std::uint16_t>{});
    case dtype::uint32:
      return use(type_is<std::uint32_t>{});
    case dtype::uint64:
      return use(type_is<std::uint64_t>{});
    case dtype::float16:
      return use(type_is<half>{});
    case dtype::bfloat16:
      return use(type_is<bfloat16>{});
    case dtype::float32:
      return use(type_is<float>{});
    case dtype::float64:
      return use(type_is<double>{});
    case dtype::complex64:
      return use(type_is<complex_parts<float>>{});
    case dtype::complex128:
      return use(type_is<complex_parts<double>>{});
    case dtype::boolean:
      return use(type_is<bool_byte>{});
    default:  // uint8
      return use(type_is<std::uint8_t>{});
  }
}

/// How vector folds name the items of a dtype.
constexpr detail::host::simd_type simd_type_of(dtype type) {
  using named = detail::host::simd_type;
  constexpr named names[num_dtypes] = {
      named::int8,    named::int16,   named::int32,  named::int64,     named::uint8,
      named::uint16,  named::uint32,  named::uint64, named::float16,   named::brain16,
      named::float32, named::float64, named::truth,  named::complex64, named::complex128};
  return names[static_cast<int>(type)];
}

/// Items of any real dtype as Wide, which holds their values (or, of bool, whether they are zero).
template <class Wide>
struct any_items {
  using copies_rows_tag = any_items;
  using value_type = Wide;
  using difference_type = std::int64_t;

  const void* data;
  dtype type;

  TILEFOLD_HD Wide operator[](std::int64_t i) const {
    return capi::visit_type(type, item_at{static_cast<const char*>(data) + i * bytes_of(type)});
  }
  TILEFOLD_HD Wide operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend any_items operator+(const any_items& it, std::int64_t n) {
    return {static_cast<const char*>(it.data) + n * bytes_of(it.type), it.type};
  }
  TILEFOLD_HD friend std::int64_t operator-(const any_items& a, const any_items& b) {
    return (static_cast<const char*>(a.data) - static_cast<const char*>(b.data)) / bytes_of(a.type);
  }

  /// What folds of the items in memory are (detail/host/gathered.hpp).
  const void* array() const { return data; }
  detail::host::simd_type array_type() const { return capi::simd_type_of(type); }
  detail::host::simd_op array_op(detail::host::simd_op as_wide) const {
    // Any byte but 0 counts as 1.
    return type == dtype::boolean && as_wide == detail::host::simd_op::plus
               ? detail::host::simd_op::count
               : as_wide;
  }

  /// Copies items [first, first + n) to an array.
  void copy(std::int64_t first, std::int64_t n, Wide* to) const {
    capi::visit_type(type, all_of{static_cast<const char*>(data) + first * bytes_of(type), n, to});
  }

 private:
  struct item_at {
    const char* at;

    template <class T>
    TILEFOLD_HD Wide operator()(type_is<T>) const {
      return any_items::convert(*reinterpret_cast<const T*>(at));
    }
  };
  struct all_of {
    const char* at;
    std::int64_t n;
    Wide* to;

    template <class T>
    Wide operator()(type_is<T>) const {
      const T* const items = reinterpret_cast<const T*>(at);
      for (std::int64_t i = 0; i < n; ++i) to[i] = any_items::convert(items[i]);
      return Wide{};
    }
  };

  template <class T>
  TILEFOLD_HD static Wide convert(const complex_parts<T>& value) {
    if constexpr (std::is_same_v<Wide, bool>) {
      return value.real != 0 || value.imaginary != 0;
    } else {
      return Wide{};  // no operation reads them so
    }
  }
  TILEFOLD_HD static Wide convert(const bool_byte& value) {
    return static_cast<Wide>(value.bits != 0);
  }
  template <class T>
  TILEFOLD_HD static Wide convert(const T& value) {
    if constexpr (is_narrow_float<T>) {
      return any_items::convert(static_cast<float>(value));
    } else if constexpr (std::is_same_v<Wide, bool>) {
      return value != 0;
    } else if constexpr (std::is_integral_v<Wide> && std::is_floating_point_v<T>) {
      return Wide{};  // no operation reads floats so
    } else {
      return static_cast<Wide>(value);
    }
  }
};

/// 1 for items that are not zero, of any dtype, and 0 for others.
struct nonzero_items {
  using copies_rows_tag = nonzero_items;
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  any_items<bool> items;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const { return items[i] ? 1 : 0; }
  TILEFOLD_HD std::int64_t operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend nonzero_items operator+(const nonzero_items& it, std::int64_t n) {
    return {it.items + n};
  }
  TILEFOLD_HD friend std::int64_t operator-(const nonzero_items& a, const nonzero_items& b) {
    return a.items - b.items;
  }

  const void* array() const { return items.data; }
  detail::host::simd_type array_type() const { return items.array_type(); }
  detail::host::simd_op array_op(detail::host::simd_op) const {
    return detail::host::simd_op::count;  // they are only added up
  }

  void copy(std::int64_t first, std::int64_t n, std::int64_t* to) const {
    constexpr std::int64_t most = 2048;
    bool flags[most];
    while (n > 0) {
      const std::int64_t count = n < most ? n : most;
      items.copy(first, count, flags);
      for (std::int64_t i = 0; i < count; ++i) to[i] = flags[i] ? 1 : 0;
      first += count;
      to += count;
      n -= count;
    }
  }
};

/// Where segments begin: at offsets of 32 or 64 bits, or each `step` items.
struct any_offsets {
  using value_type = std::int64_t;
  using difference_type = std::int64_t;

  const void* data = nullptr;
  std::int64_t step = 0;
  int bits = 0;  // of an offset; 0: none in memory
  std::int64_t first = 0;

  TILEFOLD_HD std::int64_t operator[](std::int64_t i) const {
    if (bits == 0) return (first + i) * step;
    if (bits == 32) return static_cast<const std::int32_t*>(data)[first + i];
    return static_cast<const std::int64_t*>(data)[first + i];
  }
  TILEFOLD_HD std::int64_t operator*() const { return (*this)[0]; }
  TILEFOLD_HD friend any_offsets operator+(const any_offsets& it, std::int64_t n) {
    return {it.data, it.step, it.bits, it.first + n};
  }
};

/// One call.
struct job {
  const void* items = nullptr;
  dtype type = dtype::float32;
  bool reads_items = true;
  detail::axis_plan plan;  // `columns` and `rows` if by_columns; `out` always
  bool by_columns = false;
  std::int64_t segments = 1;
  any_offsets offsets;
  void* results = nullptr;
  dtype results_type = dtype::float64;  // of operations that is_rounded() names
  bool is_range = false;                // one segment, of offsets.step items
};

/// What It reads of items in memory.
template <class It>
It items_of(const void* items, dtype type) {
  if constexpr (std::is_pointer_v<It>) {
    return static_cast<It>(items);
  } else {
    return It{items, type};
  }
}

}  // namespace tilefold::capi
