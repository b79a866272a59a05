// SPDX-License-Identifier: Apache-2.0
//
// Well-formed lies: bytes that say something else than what was written, with a checksum that fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tilefold::test {

/// Makes the last eight bytes of a container of bytes the FNV-1a of all before them, the least byte
/// first: what a file or a piece ends with. Shorter ones stay as they are.
template <class Bytes>
void mend_checksum(Bytes& bytes) {
  if (bytes.size() < 8) return;
  std::uint64_t hash = 0xcbf29ce484222325u;
  const std::size_t body = bytes.size() - 8;
  for (std::size_t i = 0; i < body; ++i) {
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
  }
  for (std::size_t i = 0; i < 8; ++i) {
    const auto byte = static_cast<unsigned char>(hash >> (8 * i) & 0xff);
    std::memcpy(&bytes[body + i], &byte, 1);
  }
}

/// The same bytes with `value` from `place` on, counted from the end if it is negative; the
/// checksum is mended.
template <class Bytes, class T>
Bytes forged(Bytes bytes, std::ptrdiff_t place, const T& value) {
  const auto size = static_cast<std::ptrdiff_t>(bytes.size());
  std::memcpy(&bytes[static_cast<std::size_t>(place < 0 ? size + place : place)], &value,
              sizeof value);
  mend_checksum(bytes);
  return bytes;
}

}  // namespace tilefold::test
