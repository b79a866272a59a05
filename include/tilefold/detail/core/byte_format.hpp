// SPDX-License-Identifier: Apache-2.0
//
// Numbers as bytes, the least byte first on every machine, and checksums of bytes; the bytes of a
// piece. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilefold/error.hpp>

namespace tilefold::detail {

/// FNV-1a: any change of a single byte changes it.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  return hash;
}
inline std::uint64_t fnv1a(std::string_view text) {
  return detail::fnv1a(std::as_bytes(std::span(text.data(), text.size())));
}

class byte_writer {
 public:
  void number(std::uint64_t value, int num_bytes = 8) {
    for (int i = 0; i < num_bytes; ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
    }
  }
  void text(std::string_view text) {
    number(text.size(), 4);
    raw(std::as_bytes(std::span(text.data(), text.size())));
  }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// All of them, and their checksum behind them.
  std::vector<std::byte> finish() {
    number(detail::fnv1a(bytes_));
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what a byte_writer wrote; throws format_error where there are too few bytes. `what` is
/// what messages call them.
class byte_reader {
 public:
  byte_reader(std::span<const std::byte> bytes, const char* what) : bytes_(bytes), what_(what) {}

  std::uint64_t number(int num_bytes = 8) {
    const auto part = raw(static_cast<std::size_t>(num_bytes));
    std::uint64_t value = 0;
    for (int i = 0; i < num_bytes; ++i) {
      value |= static_cast<std::uint64_t>(part[static_cast<std::size_t>(i)]) << (8 * i);
    }
    return value;
  }
  std::string text() {
    const auto part = raw(number(4));
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::span<const std::byte> raw(std::uint64_t count) {
    if (count > left()) {
      throw format_error("tilefold: " + std::string(what_) + " ends after " +
                         std::to_string(bytes_.size()) + " bytes, before its end");
    }
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  std::uint64_t left() const { return bytes_.size() - at_; }

  /// All that is left but the checksum.
  std::span<const std::byte> raw_before_checksum() {
    constexpr std::uint64_t checksum = 8;
    return raw(left() < checksum ? checksum : left() - checksum);
  }

  /// Throws unless the last eight bytes are the checksum of all before.
  void require_checksum() const {
    const auto body = bytes_.size() < 8 ? bytes_ : bytes_.first(bytes_.size() - 8);
    byte_reader last(bytes_.subspan(body.size()), what_);
    if (last.number() != detail::fnv1a(body)) {
      throw format_error("tilefold: the bytes of " + std::string(what_) +
                         " have been altered, or some are missing");
    }
  }

 private:
  std::span<const std::byte> bytes_;
  const char* what_;
  std::size_t at_ = 0;
};

/// The bytes of a piece, which C++ (piece.hpp), the C interface and the tool write and read:
/// "TFPC"; a version; a signature; begin and end; the values of its blocks; a checksum.
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
