// SPDX-License-Identifier: Apache-2.0
//
// The form of part files: "TFPT", a version, names, numbers, the piece, and a checksum, the least
// byte of each number first.
#include "part_file.hpp"

#include <csignal>

#include <tilefold/detail/core/byte_format.hpp>

#include "backend.hpp"
#include "input_error.hpp"
#include "mapped_file.hpp"
#include "replacement_file.hpp"

namespace tilefold::tool {

namespace {

constexpr std::uint64_t letters = 0x54504654;  // "TFPT"
constexpr std::uint64_t version = 2;           // 1 had no source

template <class Rows>
auto known_name(const Rows& rows, const std::string& name) {
  const auto id = find_by_name(rows, name);
  if (!id) throw input_error("a part of " + in_quotes(name) + ", which this program does not know");
  return *id;
}

std::string items(std::int64_t begin, std::int64_t end) {
  return "items " + std::to_string(begin) + " to " + std::to_string(end);
}

// Whoever can write a checksum can write anything before it.
void require_sense(const part_file& part) {
  const std::string op(row_of(part.op).name);
  if (!fits(part.op, part.type)) {
    throw input_error("a part of " + op + " of " + std::string(row_of(part.type).name) +
                      ", which there is not");
  }
  if (part.begin < 0 || part.end < part.begin || part.total < part.end) {
    throw input_error("a part of " + items(part.begin, part.end) + " of " +
                      std::to_string(part.total));
  }
  const auto piece = detail::piece_bytes::read(part.piece, "its piece");
  const bool whole = part.is_checkpoint() ? piece.end <= part.end : piece.end == part.end;
  if (piece.begin != part.begin || !whole) {
    throw input_error("its piece holds " + items(piece.begin, piece.end) + " where it says " +
                      items(part.begin, part.end));
  }
}

part_file read_fields(std::span<const std::byte> bytes) {
  detail::byte_reader in(bytes, "the file");
  if (bytes.size() < 8 || in.number(4) != letters) throw input_error("is no part of a reduction");
  if (const std::uint64_t found = in.number(4); found != version) {
    throw input_error("a part of version " + std::to_string(found) + "; this program knows " +
                      std::to_string(version));
  }
  in.require_checksum();
  part_file part{};
  part.op = known_name(op_rows, in.text());
  part.type = known_name(dtype_rows, in.text());
  const std::uint64_t k = in.number();
  if (k < 1 || k > most_listed) {
    throw input_error("a part of the best " + std::to_string(k) + " items; there are 1 to " +
                      std::to_string(most_listed));
  }
  part.k = static_cast<int>(k);
  for (std::int64_t* field :
       {&part.total, &part.begin, &part.end, &part.source_bytes, &part.source_time_ns}) {
    *field = static_cast<std::int64_t>(in.number());
  }
  part.source = in.text();
  const auto piece = in.raw_before_checksum();
  part.piece.assign(piece.begin(), piece.end());
  require_sense(part);
  return part;
}

}  // namespace

part_file parse_part(std::span<const std::byte> bytes) {
  return reading_bytes([&] { return read_fields(bytes); });
}

part_file read_part(const std::string& path) {
  const mapped_file file(path);
  return while_whole(file, [&] { return parse_part(file.bytes()); });
}

std::vector<std::byte> part_bytes(const part_file& part) {
  detail::byte_writer out;
  out.number(letters, 4);
  out.number(version, 4);
  out.text(row_of(part.op).name);
  out.text(row_of(part.type).name);
  out.number(static_cast<std::uint64_t>(part.k));
  for (const std::int64_t field :
       {part.total, part.begin, part.end, part.source_bytes, part.source_time_ns}) {
    out.number(static_cast<std::uint64_t>(field));
  }
  out.text(part.source);
  out.raw(part.piece);
  return out.finish();
}

void write_part(const std::string& path, const part_file& part, const std::string& suffix) {
  const std::vector<std::byte> bytes = part_bytes(part);
  const auto write = [&] {
    const signals_deferred deferred;
    replacement_file file(path, suffix);
    file.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    file.commit();
  };
  // The file is there or is not, but not half of it: now the signal does what it would have done.
  const auto pass_on_signal = [] {
    if (caught_signal == 0) return;
    const int caught = caught_signal;
    caught_signal = 0;
    std::raise(caught);
  };
  try {
    write();
  } catch (const input_error& error) {
    pass_on_signal();
    throw input_error(one_line(path) + ": " + error.what());
  }
  pass_on_signal();
}

}  // namespace tilefold::tool
