// SPDX-License-Identifier: Apache-2.0
//
// Items of a type known at run time, read as the widest type of their kind: no value changes, so
// that the library's statistics come out as they would of the items themselves, and a reducer is
// instantiated three times and not once for every type. Plain C++ that nvcc reads too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tilefold/config.hpp>
#include <tilefold/reducer.hpp>

#include "tables.hpp"

namespace tilefold::tool {

/// The type that holds every value of Item and of its kind.
template <class Item>
using wide_t =
    std::conditional_t<!std::is_integral_v<Item>, double,
                       std::conditional_t<std::is_signed_v<Item>, std::int64_t, std::uint64_t>>;

/// Whether items of type Item can be read as Wide: their wide type, or float if they fit that.
template <class Item, class Wide>
inline constexpr bool reads_as =
    !is_complex(dtype_of<Item>::value) &&
    (std::is_same_v<Wide, wide_t<Item>> ||
     (std::is_same_v<Wide, float> && is_floating(dtype_of<Item>::value) && sizeof(Item) <= 4));

/// A random-access iterator over items of type `type`, which reads_as() Wide.
template <class Wide>
struct any_items {
  using value_type = Wide;
  using difference_type = std::int64_t;

  const void* items;
  dtype type;
  std::int64_t at = 0;  // which item it stands at

  TILEFOLD_HD Wide operator[](std::int64_t i) const {
    switch (type) {
#define TILEFOLD_TOOL_CASE(id, name, kind, item)                             \
  case dtype::id:                                                            \
    if constexpr (reads_as<item, Wide>) {                                    \
      return detail::convert<Wide>(static_cast<const item*>(items)[at + i]); \
    }                                                                        \
    break;
      TILEFOLD_TOOL_DTYPES(TILEFOLD_TOOL_CASE)
#undef TILEFOLD_TOOL_CASE
    }
    return Wide{};
  }
  TILEFOLD_HD Wide operator*() const { return (*this)[0]; }

  TILEFOLD_HD any_items operator+(std::int64_t n) const { return {items, type, at + n}; }
  TILEFOLD_HD friend std::int64_t operator-(const any_items& a, const any_items& b) {
    return a.at - b.at;
  }

  /// Where the items lie, for the executor's check of the memory.
  const std::byte* base() const { return static_cast<const std::byte*>(items); }
};

/// Calls visitor(std::type_identity<Wide>{}) with the wide type of `id`, which is not complex.
template <class Visitor>
decltype(auto) visit_wide(dtype id, Visitor&& visitor) {
  switch (row_of(id).kind) {
    case 'f':
      return visitor(std::type_identity<double>{});
    case 'i':
      return visitor(std::type_identity<std::int64_t>{});
    default:
      return visitor(std::type_identity<std::uint64_t>{});
  }
}

}  // namespace tilefold::tool
