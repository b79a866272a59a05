// SPDX-License-Identifier: Apache-2.0
//
// What a fold found, as named values: a sum is one without a name, an arg_min a value and an index,
// a top_k two lists.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "any_items.hpp"
#include "scalar.hpp"

namespace tilefold::tool {

struct field {
  std::string name;  // empty if it is the only one
  std::vector<scalar> values;
  bool is_list = false;  // else there is one value
};

inline field one_field(std::string name, const scalar& value) { return {std::move(name), {value}}; }

template <class T>
field one_field(std::string name, const T& value) {
  return one_field(std::move(name), scalar::of(value));
}

/// A wide value that came from an item of type `type`, as that type again.
template <class Wide>
scalar narrow_again(dtype type, Wide value) {
  return visit(type, [&]<class Item>(std::type_identity<Item>) {
    if constexpr (!reads_as<Item, Wide>) {
      return scalar::of(value);  // no item was read as Wide
    } else if constexpr (is_narrow_float<Item>) {
      return scalar::of(static_cast<Item>(static_cast<float>(value)));
    } else {
      return scalar::of(static_cast<Item>(value));
    }
  });
}

}  // namespace tilefold::tool
