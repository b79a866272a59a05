// SPDX-License-Identifier: Apache-2.0
//
// The element types and operators that the tool knows: the only place that lists them. Parsing,
// help texts, the fit of an operator to a type and the dispatch to the backends follow from the two
// tables below. Plain C++ that nvcc reads too.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <tilefold/half.hpp>
#include <tilefold/op.hpp>

namespace tilefold::tool {

// X(enumerator, name for users, NumPy's kind letter, C++ type). Of two types with the same letter
// and size the first is the one that .npy files mean: NumPy has no code of its own for bfloat16.
#define TILEFOLD_TOOL_DTYPES(X)                       \
  X(boolean, "bool", 'b', bool)                       \
  X(int8, "int8", 'i', std::int8_t)                   \
  X(int16, "int16", 'i', std::int16_t)                \
  X(int32, "int32", 'i', std::int32_t)                \
  X(int64, "int64", 'i', std::int64_t)                \
  X(uint8, "uint8", 'u', std::uint8_t)                \
  X(uint16, "uint16", 'u', std::uint16_t)             \
  X(uint32, "uint32", 'u', std::uint32_t)             \
  X(uint64, "uint64", 'u', std::uint64_t)             \
  X(float16, "float16", 'f', tilefold::half)          \
  X(bfloat16, "bfloat16", 'f', tilefold::bfloat16)    \
  X(float32, "float32", 'f', float)                   \
  X(float64, "float64", 'f', double)                  \
  X(complex64, "complex64", 'c', std::complex<float>) \
  X(complex128, "complex128", 'c', std::complex<double>)

/// What an operator asks of its elements.
enum class domain { any, ordered, integral };

// X(enumerator, name for users, operator, what it needs, whether no items have a value).
#define TILEFOLD_TOOL_OPS(X)                                                        \
  X(sum, "sum", tilefold::plus, domain::any, true)                                  \
  X(product, "product", tilefold::multiplies, domain::any, true)                    \
  X(minimum, "min", tilefold::minimum, domain::ordered, false)                      \
  X(maximum, "max", tilefold::maximum, domain::ordered, false)                      \
  X(minimum_number, "min_number", tilefold::minimum_number, domain::ordered, false) \
  X(maximum_number, "max_number", tilefold::maximum_number, domain::ordered, false) \
  X(bit_and, "and", tilefold::bit_and, domain::integral, true)                      \
  X(bit_or, "or", tilefold::bit_or, domain::integral, true)                         \
  X(bit_xor, "xor", tilefold::bit_xor, domain::integral, true)

#define TILEFOLD_TOOL_ENUMERATOR(id, ...) id,
enum class dtype { TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_ENUMERATOR) };
enum class op_kind { TILEFOLD_TOOL_OPS(TILEFOLD_TOOL_ENUMERATOR) };
#undef TILEFOLD_TOOL_ENUMERATOR

struct dtype_row {
  dtype id;
  std::string_view name;
  char kind;
  int bytes;
};

struct op_row {
  op_kind id;
  std::string_view name;
  domain needs;
  bool empty_has_value;
};

#define TILEFOLD_TOOL_ROW(id, name, kind, type) {dtype::id, name, kind, int{sizeof(type)}},
inline constexpr auto dtype_rows =
    std::to_array<dtype_row>({TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_ROW)});
#undef TILEFOLD_TOOL_ROW

#define TILEFOLD_TOOL_ROW(id, name, functor, needs, empty) {op_kind::id, name, needs, empty},
inline constexpr auto op_rows = std::to_array<op_row>({TILEFOLD_TOOL_OPS(TILEFOLD_TOOL_ROW)});
#undef TILEFOLD_TOOL_ROW

constexpr const dtype_row& row_of(dtype id) { return dtype_rows[static_cast<std::size_t>(id)]; }
constexpr const op_row& row_of(op_kind id) { return op_rows[static_cast<std::size_t>(id)]; }

template <class Rows>
constexpr auto find_by_name(const Rows& rows, std::string_view name)
    -> std::optional<decltype(rows[0].id)> {
  for (const auto& row : rows) {
    if (row.name == name) return row.id;
  }
  return std::nullopt;
}

template <class Rows>
std::string list_names(const Rows& rows) {
  std::string list;
  for (const auto& row : rows) list += (list.empty() ? "" : ", ") + std::string(row.name);
  return list;
}

constexpr bool is_floating(dtype id) { return row_of(id).kind == 'f'; }
constexpr bool is_complex(dtype id) { return row_of(id).kind == 'c'; }

constexpr bool fits(op_kind op, dtype type) {
  const domain needs = row_of(op).needs;
  if (needs == domain::any) return true;
  if (needs == domain::ordered) return !is_complex(type);
  return !is_complex(type) && !is_floating(type);
}

/// The table's entry for a C++ type.
template <class T>
struct dtype_of;
#define TILEFOLD_TOOL_TYPE(id, name, kind, type) \
  template <>                                    \
  struct dtype_of<type> {                        \
    static constexpr dtype value = dtype::id;    \
  };
TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_TYPE)
#undef TILEFOLD_TOOL_TYPE

/// Calls visitor(std::type_identity<T>{}) with the C++ type of `id`.
template <class Visitor>
decltype(auto) visit(dtype id, Visitor&& visitor) {
#define TILEFOLD_TOOL_CASE(id, name, kind, type) \
  case dtype::id:                                \
    return visitor(std::type_identity<type>{});
  switch (id) { TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_CASE) }
#undef TILEFOLD_TOOL_CASE
  __builtin_unreachable();
}

/// Calls visitor(integral_constant of id, functor) with the library's operator for `id`.
template <class Visitor>
decltype(auto) visit(op_kind id, Visitor&& visitor) {
#define TILEFOLD_TOOL_CASE(id, name, functor, needs, empty) \
  case op_kind::id:                                         \
    return visitor(std::integral_constant<op_kind, op_kind::id>{}, functor{});
  switch (id) { TILEFOLD_TOOL_OPS(TILEFOLD_TOOL_CASE) }
#undef TILEFOLD_TOOL_CASE
  __builtin_unreachable();
}

}  // namespace tilefold::tool
