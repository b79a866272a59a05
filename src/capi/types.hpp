// SPDX-License-Identifier: Apache-2.0
//
// The dtypes and operations of the C interface, by number and by name.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tilefold/tilefold.h>
#include <tilefold/half.hpp>

namespace tilefold::capi {

enum class dtype : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  boolean,
  complex64,
  complex128
};
inline constexpr int num_dtypes = 15;

enum class op : std::uint8_t {
  sum,
  sum64,
  sum32,
  product,
  product64,
  product32,
  min,
  max,
  minmax,
  arg_min,
  arg_max,
  any,
  all,
  count_nonzero,
  bit_and,
  bit_or,
  bit_xor,
  mean,
  variance,
  population_variance,
  standard_deviation,
  population_standard_deviation,
  l1,
  l2,
  linf,
  logsumexp,
  softmax_pair,
  compensated_sum,
  exact_sum,
  exact_mean,
  checked_sum,
  summary,
  torch_sum,
  torch_product,
  statistics,  // not by name: tilefold_stats()
};
inline constexpr int num_named_ops = static_cast<int>(op::statistics);
inline constexpr int num_ops = num_named_ops + 1;

inline constexpr std::string_view op_names[num_ops] = {
    "sum",
    "sum64",
    "sum32",
    "product",
    "product64",
    "product32",
    "min",
    "max",
    "minmax",
    "arg_min",
    "arg_max",
    "any",
    "all",
    "count_nonzero",
    "bit_and",
    "bit_or",
    "bit_xor",
    "mean",
    "variance",
    "population_variance",
    "standard_deviation",
    "population_standard_deviation",
    "l1",
    "l2",
    "linf",
    "logsumexp",
    "softmax_pair",
    "compensated_sum",
    "exact_sum",
    "exact_mean",
    "checked_sum",
    "summary",
    "torch_sum",
    "torch_product",
    "statistics",
};

/// Operations that compute in double, and whose results can be rounded to what a caller asks for.
constexpr bool is_rounded(op which) {
  switch (which) {
    case op::mean:
    case op::variance:
    case op::population_variance:
    case op::standard_deviation:
    case op::population_standard_deviation:
    case op::l1:
    case op::l2:
    case op::logsumexp:
      return true;
    default:
      return false;
  }
}

/// Operations that networks and tables ask for row by row.
constexpr bool is_common(op which) {
  switch (which) {
    case op::sum:
    case op::sum64:
    case op::product:
    case op::product64:
    case op::min:
    case op::max:
    case op::arg_min:
    case op::arg_max:
    case op::any:
    case op::all:
    case op::softmax_pair:
    case op::torch_sum:
    case op::torch_product:
      return true;
    default:
      return is_rounded(which);
  }
}

/// Operations whose items are joined in another order than that of the neighbour tree.
constexpr bool has_own_order(op which) {
  return which == op::torch_sum || which == op::torch_product;
}

struct dtype_row {
  tilefold_dtype code;
  std::string_view name;
};
inline constexpr dtype_row dtype_rows[num_dtypes] = {
    {{TILEFOLD_INT, 8, 1}, "int8"},
    {{TILEFOLD_INT, 16, 1}, "int16"},
    {{TILEFOLD_INT, 32, 1}, "int32"},
    {{TILEFOLD_INT, 64, 1}, "int64"},
    {{TILEFOLD_UINT, 8, 1}, "uint8"},
    {{TILEFOLD_UINT, 16, 1}, "uint16"},
    {{TILEFOLD_UINT, 32, 1}, "uint32"},
    {{TILEFOLD_UINT, 64, 1}, "uint64"},
    {{TILEFOLD_FLOAT, 16, 1}, "float16"},
    {{TILEFOLD_BFLOAT, 16, 1}, "bfloat16"},
    {{TILEFOLD_FLOAT, 32, 1}, "float32"},
    {{TILEFOLD_FLOAT, 64, 1}, "float64"},
    {{TILEFOLD_BOOL, 8, 1}, "bool"},
    {{TILEFOLD_COMPLEX, 64, 1}, "complex64"},
    {{TILEFOLD_COMPLEX, 128, 1}, "complex128"},
};

TILEFOLD_HD constexpr int bytes_of(dtype type) {
  switch (type) {
    case dtype::int8:
    case dtype::uint8:
    case dtype::boolean:
      return 1;
    case dtype::int16:
    case dtype::uint16:
    case dtype::float16:
    case dtype::bfloat16:
      return 2;
    case dtype::int32:
    case dtype::uint32:
    case dtype::float32:
      return 4;
    case dtype::complex128:
      return 16;
    default:
      return 8;
  }
}
constexpr std::string_view name_of(dtype type) { return dtype_rows[static_cast<int>(type)].name; }
constexpr std::string_view name_of(op which) { return op_names[static_cast<int>(which)]; }

/// The dtype of a C++ type; of no other.
template <class T>
inline constexpr dtype dtype_of = T::has_no_dtype;
template <>
inline constexpr dtype dtype_of<std::int8_t> = dtype::int8;
template <>
inline constexpr dtype dtype_of<std::int16_t> = dtype::int16;
template <>
inline constexpr dtype dtype_of<std::int32_t> = dtype::int32;
template <>
inline constexpr dtype dtype_of<std::int64_t> = dtype::int64;
template <>
inline constexpr dtype dtype_of<std::uint8_t> = dtype::uint8;
template <>
inline constexpr dtype dtype_of<std::uint16_t> = dtype::uint16;
template <>
inline constexpr dtype dtype_of<std::uint32_t> = dtype::uint32;
template <>
inline constexpr dtype dtype_of<std::uint64_t> = dtype::uint64;
template <>
inline constexpr dtype dtype_of<half> = dtype::float16;
template <>
inline constexpr dtype dtype_of<bfloat16> = dtype::bfloat16;
template <>
inline constexpr dtype dtype_of<float> = dtype::float32;
template <>
inline constexpr dtype dtype_of<double> = dtype::float64;
template <>
inline constexpr dtype dtype_of<bool> = dtype::boolean;
template <>
inline constexpr dtype dtype_of<std::complex<float>> = dtype::complex64;
template <>
inline constexpr dtype dtype_of<std::complex<double>> = dtype::complex128;

}  // namespace tilefold::capi
