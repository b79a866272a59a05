// SPDX-License-Identifier: Apache-2.0
//
// The name of a type, for what no trait tells.
#pragma once

#include <string_view>

namespace tilefold::detail {

/// T's name, as the compiler that asks spells it.
template <class T>
constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("T =") == name.npos ? name.find("T=") + 2 : name.find("T =") + 3);
  while (name.starts_with(' ')) name.remove_prefix(1);
  return name;
}

}  // namespace tilefold::detail
