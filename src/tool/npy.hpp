// SPDX-License-Identifier: Apache-2.0
//
// The header of a .npy file, format versions 1.0, 2.0 and 3.0: what the items are, how many, and
// where they begin. Works on bytes in memory, trusts none of them, and keeps no reference to them.
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tables.hpp"

namespace tilefold::tool {

/// An element type as a file spells it.
struct item_type {
  dtype type;
  std::endian order;
};

struct npy_header {
  item_type items;
  bool fortran_order;
  std::vector<std::int64_t> shape;
  std::int64_t count;        // product of the shape; 1 for ()
  std::int64_t data_offset;  // bytes from the file's start to the first item
};

/// Reads the header of the file whose whole contents are `file` and checks that all the items are
/// there. Throws input_error for anything that is not a well-formed .npy file of a type that the
/// tool knows.
npy_header parse_npy(std::span<const std::byte> file);

/// A name of the table ("float32") or a NumPy code ("<f4", ">i2", "u1"). Throws input_error.
item_type parse_item_type(std::string_view text);

/// The start of a version 1.0 file that holds `count` items of a 1-D array: all that stands before
/// the items, padded to a multiple of 64 bytes.
std::string make_npy_header(dtype type, std::int64_t count);

}  // namespace tilefold::tool
