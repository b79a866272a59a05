// SPDX-License-Identifier: Apache-2.0
//
// Measurements of one fold: everyone in every shape, at the sizes and in the modes that it has.
#pragma once

#include "roster.hpp"
#include "shape.hpp"

namespace bench {

/// Enters all shapes, and reading of as many bytes as each that passes.
void enter_shapes(roster& all, shapes what);

}  // namespace bench
