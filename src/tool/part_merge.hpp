// SPDX-License-Identifier: Apache-2.0
//
// Puts parts together that were made apart, in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend.hpp"
#include "part_file.hpp"

namespace tilefold::tool {

struct named_part {
  std::string file;  // for messages
  part_file part;
};

/// Throws input_error if `part` is a checkpoint, or of another reduction than `first`.
void require_same_reduction(const named_part& part, const named_part& first);

struct merged_parts {
  part_file part;
  std::vector<std::string> files;     // in the order of their items
  std::optional<fold_result> result;  // none unless the parts begin at item 0 and have items
};

/// Merges parts of one reduction, at least one, in any order. Throws input_error unless they follow
/// each other, or if one's piece is not of the reduction that the part names.
merged_parts merge_parts(std::vector<named_part> parts);

}  // namespace tilefold::tool
