// SPDX-License-Identifier: Apache-2.0
//
// Prints the outcome of a reduction on standard output, for people or (JSON, one object a line) for
// programs.
#pragma once

#include <string>

#include "backend.hpp"
#include "input.hpp"

namespace tilefold::tool {

struct reduction_report {
  std::string file;
  const array& input;
  op_kind op;
  std::string executor;
  const fold_result& result;
};

void print_text(const reduction_report& report);
void print_json(const reduction_report& report);

}  // namespace tilefold::tool
