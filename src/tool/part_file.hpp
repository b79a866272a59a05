// SPDX-License-Identifier: Apache-2.0
//
// Files that hold what a part of an array brings to its reduction: the library's piece, and what it
// is a piece of. Checkpoints are such files of an array that is being read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tables.hpp"

namespace tilefold::tool {

struct part_file {
  op_kind op;
  dtype type;
  int k;                          // of top_k and its like
  std::int64_t total;             // items of the whole
  std::int64_t begin;             // the items that the piece is to hold; a checkpoint holds
  std::int64_t end;               // fewer
  std::int64_t source_bytes = 0;  // of a checkpoint: the file's size and time of change
  std::int64_t source_time_ns = 0;
  std::string source{};  // likewise: which file it is, and in which order its bytes are read
  std::vector<std::byte> piece{};

  bool is_checkpoint() const { return source_bytes != 0 || !source.empty(); }
};

/// Reads what part_bytes() wrote. Throws input_error: not a part, altered, of another version, or
/// of items or a piece that no reduction has. What is in the piece's accumulators its from_bytes()
/// checks.
part_file parse_part(std::span<const std::byte> bytes);

std::vector<std::byte> part_bytes(const part_file& part);

/// The same of a file. Throws input_error also if there is none.
part_file read_part(const std::string& path);

/// What write_part() writes has this behind its name, until it is whole.
inline constexpr const char* unfinished_part = ".new";

/// Writes the file whole or not at all, first under its name and `suffix`. Throws input_error, also
/// if there is a file of that name.
void write_part(const std::string& path, const part_file& part,
                const std::string& suffix = unfinished_part);

}  // namespace tilefold::tool
