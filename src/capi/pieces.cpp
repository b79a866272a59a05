// SPDX-License-Identifier: Apache-2.0
//
// The functions of tilefold.h for pieces and exact accumulators.
#include "pieces.hpp"

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilefold/detail/core/byte_format.hpp>
#include <tilefold/error.hpp>

#include "executor.hpp"
#include "reader.hpp"

namespace tilefold::capi {

namespace {

std::string kind_name(op which, dtype type) {
  return std::string(capi::name_of(which)) + " of " + std::string(capi::name_of(type));
}

/// What stands in bytes for the operation, the items and the size of an accumulator.
std::string signature_of(op which, dtype type, const piece_kind& kind) {
  return capi::kind_name(which, type) + " in blocks of " + std::to_string(kind.value_bytes) +
         " bytes";
}

// As pieces of C++ are written, whose signatures never look like ours.
std::vector<std::byte> written(const tilefold_piece& piece) {
  return detail::piece_bytes{signature_of(piece.which, piece.type, *piece.kind),
                             piece.state->begin(), piece.state->end(), piece.state->values()}
      .written();
}

/// A piece of no items with this signature; throws format_error for a signature of no operation.
std::unique_ptr<tilefold_piece> piece_called(const detail::piece_bytes& read) {
  for (int i = 0; i < num_named_ops; ++i) {
    for (int j = 0; j < num_dtypes; ++j) {
      const auto which = static_cast<op>(i);
      const auto type = static_cast<dtype>(j);
      const auto* const found = kernels().find(which, type);
      if (found == nullptr || found->pieces == nullptr) continue;
      if (signature_of(which, type, *found->pieces) != read.signature) continue;
      return std::make_unique<tilefold_piece>(
          tilefold_piece{which, type, found->pieces, found->has_empty, found->pieces->make(0)});
    }
  }
  throw format_error("tilefold_piece_from_bytes: a piece of " + read.shown_signature() +
                     ", which this library does not know");
}

std::unique_ptr<tilefold_piece> piece_of_bytes(std::span<const std::byte> bytes) {
  const std::string who = "tilefold_piece_from_bytes";
  const auto read = detail::piece_bytes::read(bytes, who);
  auto piece = piece_called(read);
  const piece_kind& kind = *piece->kind;
  read.require_values(kind.num_values(read.begin, read.end),
                      static_cast<std::size_t>(kind.value_bytes), who);
  piece->state->assign(read.begin, read.end, read.values.data(), who);
  return piece;
}

/// Writes `found` where the caller wants it.
void copy_bytes(const reader& read, const std::vector<std::byte>& found, void* bytes,
                std::int64_t capacity, std::int64_t* size) {
  read.require(size, "size", true);
  const auto count = static_cast<std::int64_t>(found.size());
  if (bytes != nullptr) {
    if (read.count(capacity, "capacity") < count) {
      read.fail(TILEFOLD_INVALID_ARGUMENT, "capacity is " + std::to_string(capacity) + ", and " +
                                               std::to_string(count) + " bytes are needed");
    }
    std::memcpy(bytes, found.data(), found.size());
  }
  *size = count;
}

std::span<const std::byte> span_of(const reader& read, const void* bytes, std::int64_t size) {
  read.count(size, "size");
  read.require(bytes, "bytes", size > 0);
  return {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)};
}

std::unique_ptr<exact_state> exact_state_of(const reader& read, dtype type) {
  auto state = capi::new_exact_state(type);
  if (state == nullptr) {
    read.fail(TILEFOLD_UNSUPPORTED,
              "there is no exact accumulator of " + std::string(capi::name_of(type)));
  }
  return state;
}

}  // namespace

}  // namespace tilefold::capi

using namespace tilefold;
using namespace tilefold::capi;

extern "C" {

tilefold_status tilefold_piece_create(const char* op, tilefold_dtype dtype, int64_t position,
                                      tilefold_piece** piece) {
  return guarded([&] {
    const reader read("tilefold_piece_create");
    const capi::op which = read.operation(op);
    const capi::dtype type = read.type(dtype, "dtype");
    const auto& found = read.kernel_of(which, type);
    if (found.pieces == nullptr) {
      throw unsupported("tilefold_piece_create: there are no pieces of " +
                        std::string(name_of(which)) +
                        ": it joins blocks of items from left to right, which needs everything "
                        "before them");
    }
    read.count(position, "position");
    read.require(piece, "piece", true);
    *piece = new tilefold_piece{which, type, found.pieces, found.has_empty,
                                found.pieces->make(position)};
  });
}

tilefold_status tilefold_piece_append(tilefold_piece* piece, tilefold_executor* executor,
                                      const void* items, int64_t n) {
  return guarded([&] {
    const reader read("tilefold_piece_append");
    tilefold_piece& whole = read.there(piece, "piece");
    tilefold_executor& exec = read.there(executor, "executor");
    read.array(items, whole.type, read.count(n, "n"), "items");
    if (n > INT64_MAX - whole.state->end()) {
      read.fail(TILEFOLD_INVALID_ARGUMENT, std::to_string(n) + " items from position " +
                                               std::to_string(whole.state->end()) +
                                               " on would pass 2^63 - 1");
    }
    if (n > 0) exec.append(whole, items, n);
  });
}

tilefold_status tilefold_piece_merge(tilefold_piece* piece, const tilefold_piece* next) {
  return guarded([&] {
    const reader read("tilefold_piece_merge");
    tilefold_piece& whole = read.there(piece, "piece");
    const tilefold_piece& added = read.there(next, "next");
    if (whole.kind != added.kind || whole.which != added.which || whole.type != added.type) {
      read.fail(TILEFOLD_INVALID_ARGUMENT,
                "a piece of " + capi::kind_name(whole.which, whole.type) +
                    " cannot be merged with one of " + capi::kind_name(added.which, added.type));
    }
    if (added.state->begin() != whole.state->end()) {
      read.fail(TILEFOLD_INVALID_ARGUMENT, "a piece that ends at " +
                                               std::to_string(whole.state->end()) +
                                               " cannot be merged with one that begins at " +
                                               std::to_string(added.state->begin()));
    }
    whole.state->merge(*added.state);
  });
}

tilefold_status tilefold_piece_info(const tilefold_piece* piece, const char** op,
                                    tilefold_dtype* dtype, int64_t* begin, int64_t* end) {
  return guarded([&] {
    const reader read("tilefold_piece_info");
    const tilefold_piece& of = read.there(piece, "piece");
    read.require(op, "op", false);
    read.require(dtype, "dtype", false);
    read.require(begin, "begin", false);
    read.require(end, "end", false);
    if (op != nullptr) *op = capi::name_of(of.which).data();
    if (dtype != nullptr) *dtype = dtype_rows[static_cast<int>(of.type)].code;
    if (begin != nullptr) *begin = of.state->begin();
    if (end != nullptr) *end = of.state->end();
  });
}

tilefold_status tilefold_piece_value(const tilefold_piece* piece, void* result) {
  return guarded([&] {
    const reader read("tilefold_piece_value");
    const tilefold_piece& whole = read.there(piece, "piece");
    read.result(result, read.kernel_of(whole.which, whole.type).result);
    if (whole.state->begin() != 0) {
      read.fail(TILEFOLD_INVALID_ARGUMENT, "a piece that begins at " +
                                               std::to_string(whole.state->begin()) +
                                               " has no value; merge it with those before it");
    }
    if (whole.state->end() == 0 && !whole.has_empty) {
      read.fail(TILEFOLD_EMPTY, "there is nothing to fold, and " +
                                    std::string(capi::name_of(whole.which)) +
                                    " has no result for that");
    }
    whole.state->write_value(result);
  });
}

tilefold_status tilefold_piece_bytes(const tilefold_piece* piece, void* bytes, int64_t capacity,
                                     int64_t* size) {
  return guarded([&] {
    const reader read("tilefold_piece_bytes");
    capi::copy_bytes(read, capi::written(read.there(piece, "piece")), bytes, capacity, size);
  });
}

tilefold_status tilefold_piece_from_bytes(const void* bytes, int64_t size, tilefold_piece** piece) {
  return guarded([&] {
    const reader read("tilefold_piece_from_bytes");
    read.require(piece, "piece", true);
    *piece = capi::piece_of_bytes(capi::span_of(read, bytes, size)).release();
  });
}

void tilefold_piece_destroy(tilefold_piece* piece) { delete piece; }

tilefold_status tilefold_accumulator_create(tilefold_dtype dtype, tilefold_accumulator** sum) {
  return guarded([&] {
    const reader read("tilefold_accumulator_create");
    const capi::dtype type = read.type(dtype, "dtype");
    read.require(sum, "sum", true);
    *sum = new tilefold_accumulator{type, capi::exact_state_of(read, type)};
  });
}

tilefold_status tilefold_accumulator_add(tilefold_accumulator* sum, tilefold_executor* executor,
                                         const void* items, int64_t n) {
  return guarded([&] {
    const reader read("tilefold_accumulator_add");
    tilefold_accumulator& whole = read.there(sum, "sum");
    tilefold_executor& exec = read.there(executor, "executor");
    read.array(items, whole.type, read.count(n, "n"), "items");
    if (n > 0) exec.add(whole, items, n);
  });
}

tilefold_status tilefold_accumulator_merge(tilefold_accumulator* sum,
                                           const tilefold_accumulator* other) {
  return guarded([&] {
    const reader read("tilefold_accumulator_merge");
    tilefold_accumulator& whole = read.there(sum, "sum");
    const tilefold_accumulator& added = read.there(other, "other");
    if (whole.type != added.type) {
      read.fail(TILEFOLD_INVALID_ARGUMENT,
                "an accumulator of " + std::string(capi::name_of(whole.type)) +
                    " cannot be merged with one of " + std::string(capi::name_of(added.type)));
    }
    whole.state->merge(*added.state);
  });
}

tilefold_status tilefold_accumulator_value(const tilefold_accumulator* sum, void* result) {
  return guarded([&] {
    const reader read("tilefold_accumulator_value");
    const tilefold_accumulator& whole = read.there(sum, "sum");
    read.result(result, whole.state->value_type());
    whole.state->write_value(result);
  });
}

tilefold_status tilefold_accumulator_mean(const tilefold_accumulator* sum, int64_t n,
                                          void* result) {
  return guarded([&] {
    const reader read("tilefold_accumulator_mean");
    const tilefold_accumulator& whole = read.there(sum, "sum");
    read.result(result, whole.state->mean_type());
    if (n <= 0) read.fail(TILEFOLD_INVALID_ARGUMENT, "n is " + std::to_string(n));
    whole.state->write_mean(n, result);
  });
}

tilefold_status tilefold_accumulator_bytes(const tilefold_accumulator* sum, void* bytes,
                                           int64_t capacity, int64_t* size) {
  return guarded([&] {
    const reader read("tilefold_accumulator_bytes");
    capi::copy_bytes(read, read.there(sum, "sum").state->to_bytes(), bytes, capacity, size);
  });
}

tilefold_status tilefold_accumulator_from_bytes(tilefold_dtype dtype, const void* bytes,
                                                int64_t size, tilefold_accumulator** sum) {
  return guarded([&] {
    const reader read("tilefold_accumulator_from_bytes");
    const capi::dtype type = read.type(dtype, "dtype");
    read.require(sum, "sum", true);
    auto state = capi::exact_state_of(read, type);
    state->assign(capi::span_of(read, bytes, size));
    *sum = new tilefold_accumulator{type, std::move(state)};
  });
}

void tilefold_accumulator_destroy(tilefold_accumulator* sum) { delete sum; }
}
