// SPDX-License-Identifier: Apache-2.0
//
// The element types and operations that the tool knows: the only place that lists them. Parsing,
// help texts, the fit of an operation to a type and the dispatch to the backends follow from the
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

/// What an operation asks of its elements.
enum class domain { any, real, integral, floating };

// X(enumerator, name for users, operator, what it needs, whether no items have a value, meaning):
// one operator each, in the type that the library accumulates in.
#define TILEFOLD_TOOL_OPERATORS(X)                                                               \
  X(sum, "sum", tilefold::plus, domain::any, true, "the sum; integers wrap")                     \
  X(product, "product", tilefold::multiplies, domain::any, true, "the product; integers wrap")   \
  X(minimum, "min", tilefold::minimum, domain::real, false, "the smallest value; NaN if any is") \
  X(maximum, "max", tilefold::maximum, domain::real, false, "the largest value; NaN if any is")  \
  X(minimum_number, "min_number", tilefold::minimum_number, domain::real, false,                 \
    "the smallest value that is not NaN")                                                        \
  X(maximum_number, "max_number", tilefold::maximum_number, domain::real, false,                 \
    "the largest value that is not NaN")                                                         \
  X(bit_and, "bit_and", tilefold::bit_and, domain::integral, true, "bitwise and")                \
  X(bit_or, "bit_or", tilefold::bit_or, domain::integral, true, "bitwise or")                    \
  X(bit_xor, "bit_xor", tilefold::bit_xor, domain::integral, true, "bitwise exclusive or")

// X(enumerator, name for users, what it needs, whether no items have a value, meaning): the
// library's other reducers of one range, in the order of their families (of_family()).
#define TILEFOLD_TOOL_REDUCERS(X)                                                               \
  X(count, "count", domain::real, true, "how many items there are")                             \
  X(any, "any", domain::real, true, "whether an item is not 0")                                 \
  X(all, "all", domain::real, true, "whether no item is 0")                                     \
  X(none, "none", domain::real, true, "whether every item is 0")                                \
  X(logical_xor, "logical_xor", domain::real, true, "whether an odd number of items is not 0")  \
  X(first, "first", domain::real, false, "the first item")                                      \
  X(last, "last", domain::real, false, "the last item")                                         \
  X(minmax, "minmax", domain::real, false, "min and max")                                       \
  X(minmax_number, "minmax_number", domain::real, false, "min_number and max_number")           \
  X(arg_min, "arg_min", domain::real, false, "min and the index of the first such item")        \
  X(arg_max, "arg_max", domain::real, false, "max and the index of the first such item")        \
  X(arg_minmax, "arg_minmax", domain::real, false, "arg_min and arg_max")                       \
  X(arg_min_number, "arg_min_number", domain::real, false, "arg_min with NaN passed over")      \
  X(arg_max_number, "arg_max_number", domain::real, false, "arg_max with NaN passed over")      \
  X(arg_minmax_number, "arg_minmax_number", domain::real, false,                                \
    "arg_minmax with NaN passed over")                                                          \
  X(top_k, "top_k", domain::real, false, "the --k largest values and their indices; NaN first") \
  X(bottom_k, "bottom_k", domain::real, false,                                                  \
    "the --k smallest values and their indices; NaN first")                                     \
  X(top_k_number, "top_k_number", domain::real, false, "top_k with NaN last")                   \
  X(bottom_k_number, "bottom_k_number", domain::real, false, "bottom_k with NaN last")          \
  X(mean, "mean", domain::real, false, "the arithmetic mean, in double")                        \
  X(variance, "variance", domain::real, false, "the variance of a sample (n - 1)")              \
  X(population_variance, "population_variance", domain::real, false, "the same divided by n")   \
  X(standard_deviation, "standard_deviation", domain::real, false, "the root of variance")      \
  X(population_standard_deviation, "population_standard_deviation", domain::real, false,        \
    "the root of population_variance")                                                          \
  X(mean_variance, "mean_variance", domain::real, false, "mean and variance")                   \
  X(skewness, "skewness", domain::real, false, "the population's skewness")                     \
  X(kurtosis, "kurtosis", domain::real, false, "the population's excess kurtosis")              \
  X(geometric_mean, "geometric_mean", domain::real, false, "exp(mean(log x))")                  \
  X(harmonic_mean, "harmonic_mean", domain::real, false, "n / sum(1 / x)")                      \
  X(l1, "l1", domain::real, true, "sum |x|")                                                    \
  X(l2, "l2", domain::real, true, "the root of sum x^2, whose squares cannot overflow")         \
  X(linf, "linf", domain::real, true, "max |x|, in the type of the items")                      \
  X(rms, "rms", domain::real, false, "the root of the mean square")                             \
  X(logsumexp, "logsumexp", domain::real, true, "log(sum exp(x)) without overflow")             \
  X(softmax_pair, "softmax_pair", domain::real, true, "max and sum exp(x - max)")               \
  X(compensated_sum, "compensated_sum", domain::floating, true,                                 \
    "the sum in twice the precision of the items")                                              \
  X(exact_sum, "exact_sum", domain::real, true, "the real sum, rounded once, to a double")      \
  X(exact_mean, "exact_mean", domain::real, false, "the real mean, rounded once, to a double")  \
  X(exact_sum_of_squares, "exact_sum_of_squares", domain::real, true,                           \
    "the real sum x^2, rounded once, to a double")                                              \
  X(exact_l2, "exact_l2", domain::real, true,                                                   \
    "the root of the real sum x^2, rounded once, to a double")

// X(another name, the name that it stands for).
#define TILEFOLD_TOOL_ALIASES(X) \
  X("and", "bit_and")            \
  X("or", "bit_or")              \
  X("xor", "bit_xor")            \
  X("sd", "standard_deviation")  \
  X("population_sd", "population_standard_deviation")

#define TILEFOLD_TOOL_ENUMERATOR(id, ...) id,
enum class dtype { TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_ENUMERATOR) };
enum class op_kind {
  TILEFOLD_TOOL_OPERATORS(TILEFOLD_TOOL_ENUMERATOR) TILEFOLD_TOOL_REDUCERS(TILEFOLD_TOOL_ENUMERATOR)
};
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
  bool is_operator;
  std::string_view meaning;
};

struct alias_row {
  std::string_view name;
  std::string_view stands_for;
};

#define TILEFOLD_TOOL_ROW(id, name, kind, type) {dtype::id, name, kind, int{sizeof(type)}},
inline constexpr auto dtype_rows =
    std::to_array<dtype_row>({TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_ROW)});
#undef TILEFOLD_TOOL_ROW

#define TILEFOLD_TOOL_OPERATOR_ROW(id, name, functor, needs, empty, meaning) \
  {op_kind::id, name, needs, empty, true, meaning},
#define TILEFOLD_TOOL_REDUCER_ROW(id, name, needs, empty, meaning) \
  {op_kind::id, name, needs, empty, false, meaning},
inline constexpr auto op_rows = std::to_array<op_row>({TILEFOLD_TOOL_OPERATORS(
    TILEFOLD_TOOL_OPERATOR_ROW) TILEFOLD_TOOL_REDUCERS(TILEFOLD_TOOL_REDUCER_ROW)});
#undef TILEFOLD_TOOL_OPERATOR_ROW
#undef TILEFOLD_TOOL_REDUCER_ROW

#define TILEFOLD_TOOL_ROW(name, stands_for) {name, stands_for},
inline constexpr auto alias_rows =
    std::to_array<alias_row>({TILEFOLD_TOOL_ALIASES(TILEFOLD_TOOL_ROW)});
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

constexpr bool is_integral(dtype id) { return !is_floating(id) && !is_complex(id); }

/// The argument that belongs to the family of a reducer. Families are compiled together.
template <class T>
constexpr T of_family(op_kind op, T selections, T moments, T norms) {
  return op < op_kind::mean ? selections : op < op_kind::geometric_mean ? moments : norms;
}

/// Lists of the best values are too many instantiations for nvcc. Exact reducers are fast on a GPU
/// over items in memory, not over items that are widened as they are read.
constexpr bool runs_on_host_only(op_kind op) {
  return op == op_kind::top_k || op == op_kind::bottom_k || op == op_kind::top_k_number ||
         op == op_kind::bottom_k_number || op == op_kind::exact_sum || op == op_kind::exact_mean ||
         op == op_kind::exact_sum_of_squares || op == op_kind::exact_l2;
}

constexpr std::string_view name_of(domain needs) {
  switch (needs) {
    case domain::real:
      return "real numbers";
    case domain::integral:
      return "integers and bools";
    case domain::floating:
      return "floating types";
    default:
      return "numbers";
  }
}

constexpr bool fits(domain needs, dtype type) {
  switch (needs) {
    case domain::real:
      return !is_complex(type);
    case domain::integral:
      return is_integral(type);
    case domain::floating:
      return is_floating(type);
    default:
      return true;
  }
}
constexpr bool fits(op_kind op, dtype type) { return fits(row_of(op).needs, type); }

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

/// Calls visitor(integral_constant of id, functor) with the library's operator for `id`, which is
/// one.
template <class Visitor>
decltype(auto) visit(op_kind id, Visitor&& visitor) {
#define TILEFOLD_TOOL_CASE(id, name, functor, needs, empty, meaning) \
  case op_kind::id:                                                  \
    return visitor(std::integral_constant<op_kind, op_kind::id>{}, functor{});
  switch (id) {
    TILEFOLD_TOOL_OPERATORS(TILEFOLD_TOOL_CASE)
    default:
      break;
  }
#undef TILEFOLD_TOOL_CASE
  __builtin_unreachable();
}

}  // namespace tilefold::tool
