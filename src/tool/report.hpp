// SPDX-License-Identifier: Apache-2.0
//
// Prints the outcome of a reduction on standard output, for people or (JSON, one object a line) for
// programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// Of parts that were merged, or of one that was made.
struct part_report {
  std::vector<std::string> files;  // that it was made of
  std::string written;             // where it lies; empty: nowhere
  op_kind op;
  dtype type;
  std::int64_t begin, end, total;  // its items
  const fold_result* result;       // null if it has no value, because it does not begin at 0
};

void print_text(const part_report& report);
void print_json(const part_report& report);

}  // namespace tilefold::tool
