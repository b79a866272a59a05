// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a piece, which C++ (piece.hpp), the C interface and the tool write and read: "TFPC";
// a version; a signature; begin and end; the values of its blocks; a checksum. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tilefold/detail/core/byte_format.hpp>
#include <tilefold/error.hpp>

namespace tilefold::detail {

struct piece_bytes {
  std::string signature;
  std::int64_t begin;
  std::int64_t end;
  std::span<const std::byte> values;  // of the bytes that were read

  static constexpr std::uint64_t letters = 0x43504654;  // "TFPC"
  static constexpr std::uint64_t version = 1;

  /// For messages: cut, and without what is not printed.
  std::string shown_signature() const {
    std::string shown = signature.substr(0, 200);
    for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
    return shown;
  }

  std::vector<std::byte> written() const {
    byte_writer out;
    out.number(letters, 4);
    out.number(version, 4);
    out.text(signature);
    out.number(static_cast<std::uint64_t>(begin));
    out.number(static_cast<std::uint64_t>(end));
    out.raw(values);
    return out.finish();
  }

  /// Reads what written() wrote. Throws format_error, which begins with `who`, for other bytes, and
  /// for items that no sequence has. Signature and values are the caller's to check.
  static piece_bytes read(std::span<const std::byte> bytes, const std::string& who) {
    byte_reader in(bytes, "a piece");
    if (const std::uint64_t found = in.number(4); found != letters) {
      throw format_error(who + ": these bytes are no piece: they begin with " +
                         std::to_string(found) + " in place of " + std::to_string(letters));
    }
    if (const std::uint64_t found = in.number(4); found != version) {
      throw format_error(who + ": a piece of version " + std::to_string(found) +
                         "; this library knows version " + std::to_string(version));
    }
    in.require_checksum();
    piece_bytes piece{in.text(), 0, 0, {}};
    piece.begin = static_cast<std::int64_t>(in.number());
    piece.end = static_cast<std::int64_t>(in.number());
    if (piece.begin < 0 || piece.end < piece.begin) {
      throw format_error(who + ": a piece cannot hold items " + std::to_string(piece.begin) +
                         " to " + std::to_string(piece.end));
    }
    piece.values = in.raw_before_checksum();
    return piece;
  }

  /// Throws format_error unless there are `count` values of `size` bytes.
  void require_values(std::int64_t count, std::size_t size, const std::string& who) const {
    if (values.size() == static_cast<std::size_t>(count) * size) return;
    throw format_error(who + ": a piece of items " + std::to_string(begin) + " to " +
                       std::to_string(end) + " has " + std::to_string(count) + " accumulators of " +
                       std::to_string(size) + " bytes; these bytes hold " +
                       std::to_string(values.size()));
  }
};

}  // namespace tilefold::detail
