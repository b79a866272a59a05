// SPDX-License-Identifier: Apache-2.0
//
// Writes .npy files for the tests, from the format's description and with nothing of the tool:
// magic, version, little-endian length, dict padded so that the items begin at a multiple of 64,
// items.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace tilefold::test {

/// Everything before the items. `major` 1 has a two-byte length, 2 and 3 a four-byte one.
inline std::string npy_preamble(std::string dict, int major = 1) {
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  while ((8 + length_bytes + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string preamble = "\x93NUMPY";
  preamble += static_cast<char>(major);
  preamble += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) {
    preamble += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  }
  return preamble + dict;
}

inline std::string npy_dict(const std::string& descr, const std::string& shape,
                            bool fortran_order = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

/// The items as they stand in memory here.
template <class T>
std::string bytes_of(const std::vector<T>& items) {
  std::string bytes(items.size() * sizeof(T), '\0');
  if (!items.empty()) std::memcpy(bytes.data(), items.data(), bytes.size());
  return bytes;
}

/// The same bytes with every word of `word_bytes` bytes turned round.
inline std::string turned_round(std::string bytes, std::size_t word_bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += word_bytes) {
    for (std::size_t i = 0; i < word_bytes / 2; ++i) {
      std::swap(bytes[at + i], bytes[at + word_bytes - 1 - i]);
    }
  }
  return bytes;
}

/// A 1-D file of version 1.0.
template <class T>
std::string npy_file(const std::string& descr, const std::vector<T>& items) {
  return npy_preamble(npy_dict(descr, "(" + std::to_string(items.size()) + ",)")) + bytes_of(items);
}

}  // namespace tilefold::test
