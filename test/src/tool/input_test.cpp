// SPDX-License-Identifier: Apache-2.0
//
// Loading: whatever way the items are stored, they come out native, aligned and in C order; and
// whatever is no file of items is refused.
#include "input.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "input_error.hpp"
#include "npy_writer.hpp"
#include "scratch.hpp"
#include "support/items.hpp"

namespace tilefold::tool {
namespace {

using test::bytes_of;
using test::npy_dict;
using test::npy_preamble;
using test::scratch;

template <class T>
std::vector<T> items_of(const array& input) {
  std::vector<T> items(static_cast<std::size_t>(input.count));
  EXPECT_EQ(input.type, dtype_of<T>::value);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(input.data) % alignof(T), 0u);
  if (!items.empty()) std::memcpy(items.data(), input.data, items.size() * sizeof(T));
  return items;
}

std::string complaint(const std::string& path, const std::optional<raw_layout>& raw = {}) {
  try {
    load_array(path, raw);
    return "";
  } catch (const input_error& error) {
    return error.what();
  }
}

TEST(input, of_a_size_of_0_is_empty_or_refused) {
  const raw_layout bytes{parse_item_type("u1"), 0};
  const scratch files;
  EXPECT_EQ(load_array(files.file("a.bin", ""), bytes).count, 0);
  EXPECT_NE(complaint("/proc/self/status", bytes).find("has a size of 0, but is not empty"),
            std::string::npos);
  EXPECT_NE(complaint("/proc/self/status").find("not empty"), std::string::npos);
}

TEST(input, native_items_are_used_in_place) {
  const scratch files;
  const std::vector<float> items{1, -2.5f, 3e20f};
  const array input = load_array(files.file("a.npy", test::npy_file("<f4", items)), {});
  EXPECT_EQ(items_of<float>(input), items);
  EXPECT_EQ(input.converted, nullptr);
  EXPECT_TRUE(input.notes.empty());
}

template <class T>
void expect_swapped(const std::string& code, std::size_t word_bytes) {
  const scratch files;
  const auto items = test::make_items<T>(test::pattern::mixed, 57);
  const std::string file =
      npy_preamble(npy_dict(">" + code, "(57,)")) + test::turned_round(bytes_of(items), word_bytes);
  const array input = load_array(files.file("a.npy", file), {});
  EXPECT_EQ(bytes_of(items_of<T>(input)), bytes_of(items)) << code;
  EXPECT_EQ(input.notes, std::vector<std::string>{"byte order swapped"}) << code;
}

TEST(input, big_endian_items_are_swapped) {
  static_assert(std::endian::native == std::endian::little, "the test writes '>' for foreign");
  expect_swapped<std::int16_t>("i2", 2);
  expect_swapped<std::uint32_t>("u4", 4);
  expect_swapped<std::int64_t>("i8", 8);
  expect_swapped<half>("f2", 2);
  expect_swapped<float>("f4", 4);
  expect_swapped<double>("f8", 8);
  expect_swapped<std::complex<float>>("c8", 4);
  expect_swapped<std::complex<double>>("c16", 8);
}

TEST(input, one_byte_items_have_no_byte_order) {
  const scratch files;
  const std::vector<std::int8_t> items{1, -2, 3};
  const array input = load_array(files.file("a.npy", test::npy_file(">i1", items)), {});
  EXPECT_EQ(items_of<std::int8_t>(input), items);
  EXPECT_TRUE(input.notes.empty());
}

// Item (i, j, k) has the value 100 i + 10 j + k, stored with i running fastest.
template <class T>
void expect_reordered(const std::string& code, bool big) {
  const int extents[] = {3, 4, 5};
  std::vector<T> stored, expected;
  for (int k = 0; k < extents[2]; ++k)
    for (int j = 0; j < extents[1]; ++j)
      for (int i = 0; i < extents[0]; ++i) stored.push_back(T(100 * i + 10 * j + k));
  for (int i = 0; i < extents[0]; ++i)
    for (int j = 0; j < extents[1]; ++j)
      for (int k = 0; k < extents[2]; ++k) expected.push_back(T(100 * i + 10 * j + k));
  std::string data = bytes_of(stored);
  if (big) data = test::turned_round(data, sizeof(T));
  const scratch files;
  const std::string file =
      npy_preamble(npy_dict((big ? ">" : "<") + code, "(3, 4, 5)", true)) + data;
  const array input = load_array(files.file("a.npy", file), {});
  EXPECT_EQ(items_of<T>(input), expected) << code;
  EXPECT_EQ(input.notes.size(), big ? 2u : 1u);
  EXPECT_EQ(input.notes.front(), "Fortran order brought into C order");
}

TEST(input, fortran_order_becomes_c_order) {
  expect_reordered<std::int16_t>("i2", false);
  expect_reordered<std::int32_t>("i4", false);
  expect_reordered<double>("f8", false);
  expect_reordered<double>("f8", true);
}

TEST(input, fortran_order_of_a_line_is_c_order) {
  const scratch files;
  const std::vector<std::int32_t> items{1, 2, 3, 4};
  for (const char* shape : {"(4,)", "(1, 4)", "(4, 1)", "(1, 4, 1)"}) {
    const std::string file = npy_preamble(npy_dict("<i4", shape, true)) + bytes_of(items);
    const array input = load_array(files.file("a.npy", file), {});
    EXPECT_EQ(items_of<std::int32_t>(input), items) << shape;
    EXPECT_TRUE(input.notes.empty()) << shape;
  }
}

// A header without padding leaves the items where it ends.
TEST(input, misaligned_items_are_moved) {
  const std::vector<double> items{1.5, -2.5, 1e300};
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const scratch files;
    const std::string dict = npy_dict("<f8", "(3,)") + std::string(shift, ' ');
    const char length[] = {static_cast<char>(dict.size()), 0};
    const std::string file =
        std::string("\x93NUMPY\x01\0", 8) + std::string(length, 2) + dict + bytes_of(items);
    const array input = load_array(files.file("a.npy", file), {});
    EXPECT_EQ(items_of<double>(input), items) << shift;
  }
}

TEST(input, odd_bools_become_true) {
  const scratch files;
  const std::string file = npy_preamble(npy_dict("|b1", "(5,)")) + std::string("\0\1\2\xff\0", 5);
  const array input = load_array(files.file("a.npy", file), {});
  ASSERT_EQ(input.count, 5);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(input.data), 5),
            std::string("\0\1\1\1\0", 5));
  EXPECT_EQ(input.notes, std::vector<std::string>{"bools other than 0 and 1 taken as true"});
}

TEST(input, surplus_bytes_are_noted) {
  const scratch files;
  const std::string file = test::npy_file("<i4", std::vector<std::int32_t>{1, 2}) + "123";
  const array input = load_array(files.file("a.npy", file), {});
  EXPECT_EQ(input.count, 2);
  EXPECT_EQ(input.notes, std::vector<std::string>{"3 bytes after the array not read"});
}

TEST(input, no_items) {
  const scratch files;
  const array input =
      load_array(files.file("a.npy", npy_preamble(npy_dict("<f8", "(0, 3)", true))), {});
  EXPECT_EQ(input.count, 0);
  EXPECT_EQ(input.shape, (std::vector<std::int64_t>{0, 3}));
}

TEST(input, raw_binary_from_an_offset) {
  const scratch files;
  const std::vector<std::int32_t> items{7, -8, 9};
  const std::string path = files.file("a.bin", "xyz" + bytes_of(items));
  const array input = load_array(path, raw_layout{{dtype::int32, std::endian::native}, 3});
  EXPECT_EQ(items_of<std::int32_t>(input), items);
  EXPECT_EQ(input.shape, std::vector<std::int64_t>{3});

  EXPECT_NE(complaint(path, raw_layout{{dtype::int32, std::endian::native}, 0})
                .find("15 bytes from offset 0 on are not a whole number of int32 items"),
            std::string::npos);
  EXPECT_NE(complaint(path, raw_layout{{dtype::int8, std::endian::native}, 16})
                .find("offset 16 is past the file's end at 15 bytes"),
            std::string::npos);
  EXPECT_EQ(load_array(path, raw_layout{{dtype::int8, std::endian::native}, 15}).count, 0);
}

TEST(input, what_is_no_file_is_refused) {
  const scratch files;
  EXPECT_EQ(complaint(files.path("missing")), "cannot open: No such file or directory");
  EXPECT_EQ(complaint(files.path("")), "is a directory");
  EXPECT_NE(complaint(files.file("empty", "")).find("is empty"), std::string::npos);
  ASSERT_EQ(mkfifo(files.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(complaint(files.path("fifo")), "is not a regular file");
  EXPECT_EQ(complaint("/dev/null"), "is not a regular file");
}

}  // namespace
}  // namespace tilefold::tool
