// SPDX-License-Identifier: Apache-2.0
//
// The greatest magnitude of items, in the type that the magnitude of one item has.
#pragma once

#include <type_traits>

#include <tilefold/reducers/norms.hpp>

#include "scalar.hpp"
#include "tables.hpp"

namespace tilefold::tool {

/// What reducers::linf found: the magnitude of an item of type `type`, in the type that it has
/// there.
template <class Wide>
scalar narrow_magnitude(dtype type, Wide value) {
  return visit(type, [&]<class Item>(std::type_identity<Item>) {
    if constexpr (is_complex(dtype_of<Item>::value)) {
      return scalar::of(value);  // has none
    } else {
      using size = decltype(reducers::linf{}.lift(Item{}));
      return scalar::of(static_cast<size>(value));
    }
  });
}

}  // namespace tilefold::tool
