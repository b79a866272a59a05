// SPDX-License-Identifier: Apache-2.0
//
// From a file's name to items in memory: maps the file, reads it if asked (with a progress bar),
// and converts only what cannot be used in place. Items are then native-endian, aligned for their
// type and in C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mapped_file.hpp"
#include "npy.hpp"
#include "tables.hpp"

namespace tilefold::tool {

/// How to read a file that has no header.
struct raw_layout {
  item_type items;
  std::int64_t offset_bytes;
};

/// The items of one file. Owns them.
struct array {
  dtype type;
  std::int64_t count;
  std::vector<std::int64_t> shape;
  const std::byte* data;  // count items, valid as long as the array
  double load_seconds;
  std::vector<std::string> notes;  // what a reader of the result should know about the input

  mapped_file file;
  std::unique_ptr<std::byte[]> converted;
};

/// Whether to bring a mapped file into memory at once, so that what comes next is timed without the
/// disk.
enum class read_ahead { no, yes };

/// Reads a .npy file, or raw binary if a layout is given. Throws input_error. The items may be the
/// file's own bytes: use them in while_whole(array.file, ...).
array load_array(const std::string& path, const std::optional<raw_layout>& raw,
                 read_ahead ahead = read_ahead::yes);

}  // namespace tilefold::tool
