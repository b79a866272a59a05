// SPDX-License-Identifier: Apache-2.0
//
// The operations by name, for people.
#pragma once

#include <string>

#include "tables.hpp"

namespace tilefold::tool {

/// Aliases count. Throws input_error, which lists the names and says which is nearest.
op_kind find_op(const std::string& name);

/// A line for each: its name and what it computes.
std::string op_list();

}  // namespace tilefold::tool
