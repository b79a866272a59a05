// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a piece, in C++ and in the C interface, most with a checksum that fits.
#include <tilefold/tilefold.h>

#include "c_interface.hpp"
#include "kinds.hpp"

namespace tilefold::capi {

void add_means(table& all);
void add_places(table& all);
void add_questions(table& all);
void add_precise_sums(table& all);

// Those whose values of blocks say the most of them.
const basic_table<host_executor>& kernels() {
  static const auto all = [] {
    basic_table<host_executor> made;
    table rows(made);
    for (const auto add : {add_means, add_places, add_questions, add_precise_sums}) add(rows);
    return made;
  }();
  return all;
}

}  // namespace tilefold::capi

namespace tilefold::fuzz {

std::vector<bytes> seeds() {
  std::vector<bytes> all = sound_pieces();
  c_executor exec;
  const std::uint64_t items[16] = {};
  for (int i = 0; i < capi::num_named_ops * capi::num_dtypes; ++i) {
    tilefold_piece* piece = nullptr;
    const auto status =
        tilefold_piece_create(capi::op_names[i / capi::num_dtypes].data(),
                              capi::dtype_rows[i % capi::num_dtypes].code, 8, &piece);
    if (status != TILEFOLD_OK) continue;
    std::int64_t size = 0;
    if (tilefold_piece_append(piece, &exec, items, 8) != TILEFOLD_OK) fail("append");
    (void)tilefold_piece_bytes(piece, nullptr, 0, &size);
    bytes written(static_cast<std::size_t>(size));
    (void)tilefold_piece_bytes(piece, written.data(), size, &size);
    all.push_back(written);
    tilefold_piece_destroy(piece);
  }
  return all;
}

}  // namespace tilefold::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  std::span<std::uint8_t> all(data, size);
  if (seed % 16 != 0) tilefold::test::mend_checksum(all);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilefold;
  fuzz::read_as_piece(std::as_bytes(std::span(data, size)));
  tilefold_piece* piece = nullptr;
  const auto status = tilefold_piece_from_bytes(data, static_cast<std::int64_t>(size), &piece);
  if (status != TILEFOLD_OK) {
    if (status != TILEFOLD_FORMAT || piece != nullptr) fuzz::fail("another status");
    return 0;
  }
  fuzz::c_executor exec;
  const std::uint64_t items[16] = {};
  const char* op = nullptr;
  tilefold_dtype type{};
  std::int64_t begin = 0;
  std::int64_t end = 0;
  (void)tilefold_piece_info(piece, &op, &type, &begin, &end);
  if (begin >= 7 && end - begin < 1000) {
    tilefold_piece* before = nullptr;
    (void)tilefold_piece_create(op, type, begin - 7, &before);
    (void)tilefold_piece_append(before, &exec, items, 7);
    if (tilefold_piece_merge(before, piece) != TILEFOLD_OK) fuzz::fail("merge");
    std::swap(before, piece);
    tilefold_piece_destroy(before);
  }
  (void)tilefold_piece_append(piece, &exec, items, 7);
  double value[64];
  (void)tilefold_piece_value(piece, value);
  tilefold_piece_destroy(piece);
  return 0;
}
