// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a part file or a checkpoint, and its piece gone on with, most with checksums that
// fit: that of the file, and that of the piece in it.
#include "part_file.hpp"

#include <cstring>

#include <tilefold/detail/core/byte_format.hpp>

#include "input_error.hpp"
#include "kinds.hpp"

namespace tilefold::fuzz {

namespace {

bytes file_of(const char* op, const char* type, std::int64_t begin, std::int64_t end,
              const std::string& source, const bytes& piece) {
  tool::part_file part{*tool::find_by_name(tool::op_rows, op),
                       *tool::find_by_name(tool::dtype_rows, type),
                       5,
                       100,
                       begin,
                       end};
  part.source_bytes = source.empty() ? 0 : 528;
  part.source = source;
  part.piece = piece;
  return tool::part_bytes(part);
}

// Where the piece of a part file stands, as far as its lengths tell; at most `size`.
std::size_t piece_place(const std::uint8_t* data, std::size_t size) {
  std::size_t at = 8;
  const auto skip_text = [&] {
    if (size < at + 4) return at = size;
    std::uint32_t length = 0;
    std::memcpy(&length, data + at, 4);
    at += 4;
    return at = length > size - at ? size : at + length;
  };
  skip_text();
  skip_text();
  at = size - at < 48 ? size : at + 48;
  return skip_text();
}

}  // namespace

std::vector<bytes> seeds() {
  std::vector<bytes> all;
  for (const bytes& piece : sound_pieces()) {
    const std::int64_t begin = static_cast<std::int64_t>(all.size()) % 4 / 2 * 3;
    for (const char* const source : {"", "file 77"}) {
      all.push_back(file_of("mean", "float64", begin, begin + 21, source, piece));
    }
  }
  return all;
}

}  // namespace tilefold::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace tilefold;
  const std::size_t place = fuzz::piece_place(data, size);
  if (seed % 2 == 0 && size >= place + 16) {
    // The piece alone, in the room that there is behind it.
    const std::size_t piece = LLVMFuzzerMutate(data + place, size - place - 8, most - place - 8);
    size = place + piece + 8;
    std::span<std::uint8_t> inner(data + place, piece);
    if (seed % 32 != 0) test::mend_checksum(inner);
  } else {
    size = LLVMFuzzerMutate(data, size, most);
  }
  std::span<std::uint8_t> all(data, size);
  if (seed % 16 != 1) test::mend_checksum(all);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilefold;
  fuzz::refuses<tool::input_error>([&] {
    const tool::part_file part = tool::parse_part(std::as_bytes(std::span(data, size)));
    if (part.begin < 0 || part.end < part.begin || part.total < part.end || part.k < 1) {
      fuzz::fail("a part that cannot be");
    }
    fuzz::read_as_piece(part.piece);
  });
  return 0;
}
