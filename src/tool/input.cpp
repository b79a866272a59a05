// SPDX-License-Identifier: Apache-2.0
//
// Converts what cannot be used in place: foreign byte order, Fortran order, misaligned items, and
// bools that are neither 0 nor 1.
#include "input.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "input_error.hpp"
#include "progress.hpp"

namespace tilefold::tool {

namespace {

// Brings the mapped items into memory.
void touch_pages(std::span<const std::byte> items, const std::string& path) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t step = std::size_t{16} << 20;
  progress bar("reading", path, static_cast<std::int64_t>(items.size()));
  for (std::size_t begin = 0; begin < items.size(); begin += step) {
    const std::size_t end = std::min(begin + step, items.size());
    for (std::size_t at = begin; at < end; at += page) {
      static_cast<void>(*static_cast<const volatile std::byte*>(&items[at]));
    }
    bar.advance_to(static_cast<std::int64_t>(end));
  }
}

std::uint16_t swapped(std::uint16_t x) { return __builtin_bswap16(x); }
std::uint32_t swapped(std::uint32_t x) { return __builtin_bswap32(x); }
std::uint64_t swapped(std::uint64_t x) { return __builtin_bswap64(x); }

template <class Word>
void swap_words(std::byte* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, data + at, sizeof word);
    word = swapped(word);
    std::memcpy(data + at, &word, sizeof word);
  }
}

void swap_byte_order(std::byte* data, std::size_t bytes, dtype type) {
  const int word_bytes = row_of(type).bytes / (is_complex(type) ? 2 : 1);
  switch (word_bytes) {
    case 2:
      return swap_words<std::uint16_t>(data, bytes);
    case 4:
      return swap_words<std::uint32_t>(data, bytes);
    case 8:
      return swap_words<std::uint64_t>(data, bytes);
    default:
      return;
  }
}

// Copies items stored with the first index running fastest so that the last one does.
template <std::size_t ItemBytes>
void copy_to_c_order(const std::byte* from, std::byte* to, const std::vector<std::int64_t>& shape,
                     std::int64_t count) {
  std::vector<std::int64_t> stride(shape.size()), index(shape.size(), 0);
  std::int64_t next_stride = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride[axis] = next_stride;
    next_stride *= shape[axis];
  }
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + static_cast<std::size_t>(i) * ItemBytes,
                from + static_cast<std::size_t>(at) * ItemBytes, ItemBytes);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      at += stride[axis];
      if (++index[axis] < shape[axis]) break;
      at -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

void copy_to_c_order(const std::byte* from, std::byte* to, const npy_header& header) {
  const auto copy = [&]<std::size_t ItemBytes>() {
    copy_to_c_order<ItemBytes>(from, to, header.shape, header.count);
  };
  switch (row_of(header.items.type).bytes) {
    case 1:
      return copy.operator()<1>();
    case 2:
      return copy.operator()<2>();
    case 4:
      return copy.operator()<4>();
    case 8:
      return copy.operator()<8>();
    default:
      return copy.operator()<16>();
  }
}

bool order_differs(const npy_header& header) {
  const auto longer_than_one = [](std::int64_t extent) { return extent > 1; };
  return header.fortran_order && header.count > 0 &&
         std::count_if(header.shape.begin(), header.shape.end(), longer_than_one) > 1;
}

bool has_odd_bool(std::span<const std::byte> items) {
  unsigned bits = 0;
  for (const std::byte item : items) bits |= std::to_integer<unsigned>(item);
  return bits > 1;
}

bool misaligned(const std::byte* data, dtype type) {
  const std::size_t alignment =
      visit(type, [](auto t) { return alignof(typename decltype(t)::type); });
  return reinterpret_cast<std::uintptr_t>(data) % alignment != 0;
}

// Fills `result.data`, from the file's own bytes where they can serve as they are.
void provide_items(array& result, const npy_header& header) {
  const std::size_t bytes =
      static_cast<std::size_t>(header.count) * static_cast<std::size_t>(row_of(result.type).bytes);
  const std::span<const std::byte> stored =
      result.file.bytes().subspan(static_cast<std::size_t>(header.data_offset), bytes);
  const bool swap = header.items.order != std::endian::native && row_of(result.type).bytes > 1;
  const bool reorder = order_differs(header);
  const bool normalize = result.type == dtype::boolean && has_odd_bool(stored);
  result.data = stored.data();
  if (!swap && !reorder && !normalize && !misaligned(stored.data(), result.type)) return;

  result.converted = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::byte* const copy = result.converted.get();
  result.data = copy;
  if (reorder) {
    copy_to_c_order(stored.data(), copy, header);
    result.notes.push_back("Fortran order brought into C order");
  } else {
    std::copy(stored.begin(), stored.end(), copy);
  }
  if (swap) {
    swap_byte_order(copy, bytes, result.type);
    result.notes.push_back("byte order swapped");
  }
  if (normalize) {
    std::transform(copy, copy + bytes, copy,
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    result.notes.push_back("bools other than 0 and 1 taken as true");
  }
}

npy_header describe_raw(std::span<const std::byte> file, const raw_layout& raw) {
  const dtype_row& row = row_of(raw.items.type);
  const auto size = static_cast<std::int64_t>(file.size());
  if (raw.offset_bytes > size) {
    throw input_error("offset " + std::to_string(raw.offset_bytes) + " is past the file's end at " +
                      std::to_string(size) + " bytes");
  }
  const std::int64_t bytes = size - raw.offset_bytes;
  if (bytes % row.bytes != 0) {
    throw input_error(std::to_string(bytes) + " bytes from offset " +
                      std::to_string(raw.offset_bytes) + " on are not a whole number of " +
                      std::string(row.name) + " items of " + std::to_string(row.bytes) + " bytes");
  }
  const std::int64_t count = bytes / row.bytes;
  return {raw.items, false, {count}, count, raw.offset_bytes};
}

void note_surplus(array& result, const npy_header& header) {
  const std::int64_t used = header.data_offset + header.count * row_of(result.type).bytes;
  const std::int64_t surplus = static_cast<std::int64_t>(result.file.bytes().size()) - used;
  if (surplus > 0) {
    result.notes.push_back(std::to_string(surplus) + (surplus == 1 ? " byte" : " bytes") +
                           " after the array not read");
  }
}

}  // namespace

array load_array(const std::string& path, const std::optional<raw_layout>& raw, read_ahead ahead) {
  const auto start = std::chrono::steady_clock::now();
  mapped_file file(path);
  const npy_header header = while_whole(
      file, [&] { return raw ? describe_raw(file.bytes(), *raw) : parse_npy(file.bytes()); });
  array result{header.items.type, header.count, header.shape, nullptr, 0, {}, std::move(file), {}};
  if (ahead == read_ahead::yes) touch_pages(result.file.bytes(), path);
  provide_items(result, header);
  note_surplus(result, header);
  result.load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace tilefold::tool
