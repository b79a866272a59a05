// SPDX-License-Identifier: Apache-2.0
//
// What can be drawn on standard output.
#pragma once

namespace tilefold::tool {

/// Of the terminal; where there is none COLUMNS of the environment, else 80.
int terminal_columns();

/// Whether the environment's character encoding is UTF-8.
bool writes_utf8();

}  // namespace tilefold::tool
