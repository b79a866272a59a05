// SPDX-License-Identifier: Apache-2.0
//
// The reader of .npy headers: files as NumPy writes them, every way to be malformed, and random
// damage, after which a header may be accepted only if what it promises is there.
#include "npy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "input_error.hpp"
#include "npy_writer.hpp"
#include "support/random.hpp"
#include "support/seed.hpp"

namespace tilefold::tool {
namespace {

using test::npy_dict;
using test::npy_preamble;
using namespace std::string_literals;

npy_header parse(std::string_view file) {
  return parse_npy(std::as_bytes(std::span(file.data(), file.size())));
}

// The message of the error, or "" if the file was accepted.
std::string complaint(std::string_view file) {
  try {
    parse(file);
    return "";
  } catch (const input_error& error) {
    return error.what();
  }
}

std::string complaint_about_dict(const std::string& dict) { return complaint(npy_preamble(dict)); }

using shape = std::vector<std::int64_t>;

// The next four are copied from files that NumPy 1.24 wrote; adjacent literals keep hexadecimal
// escapes from running on.
TEST(npy, numpy_version_1) {
  const npy_header header = parse(
      "\x93NUMPY\x01\x00v\x00"
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }                            "
      "                                \n\x00\x00\x80?\x00\x00\x00@\x00\x00@@"s);
  EXPECT_EQ(header.items.type, dtype::float32);
  EXPECT_EQ(header.items.order, std::endian::little);
  EXPECT_FALSE(header.fortran_order);
  EXPECT_EQ(header.shape, shape{3});
  EXPECT_EQ(header.count, 3);
  EXPECT_EQ(header.data_offset, 128);
}

TEST(npy, numpy_version_2_fortran_big_endian) {
  const npy_header header = parse(
      "\x93NUMPY\x02\x00t\x00\x00\x00"
      "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }                         "
      "                                \n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"s);
  EXPECT_EQ(header.items.type, dtype::int16);
  EXPECT_EQ(header.items.order, std::endian::big);
  EXPECT_TRUE(header.fortran_order);
  EXPECT_EQ(header.shape, (shape{2, 3}));
  EXPECT_EQ(header.count, 6);
  EXPECT_EQ(header.data_offset, 128);
}

TEST(npy, numpy_version_3) {
  const npy_header header = parse(
      "\x93NUMPY\x03\x00t\x00\x00\x00"
      "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }                          "
      "                                \n\x01\x00"s);
  EXPECT_EQ(header.items.type, dtype::boolean);
  EXPECT_EQ(header.count, 2);
}

TEST(npy, numpy_empty) {
  const npy_header header = parse(
      "\x93NUMPY\x01\x00v\x00"
      "{'descr': '<u8', 'fortran_order': False, 'shape': (0, 5), }                         "
      "                                 \n"s);
  EXPECT_EQ(header.items.type, dtype::uint64);
  EXPECT_EQ(header.shape, (shape{0, 5}));
  EXPECT_EQ(header.count, 0);
}

TEST(npy, scalar_has_one_item) {
  const npy_header header = parse(npy_preamble(npy_dict("<f8", "()")) + std::string(8, '\0'));
  EXPECT_EQ(header.shape, shape{});
  EXPECT_EQ(header.count, 1);
}

TEST(npy, every_version_finds_the_items) {
  for (const int version : {1, 2, 3}) {
    const std::string preamble = npy_preamble(npy_dict("<u2", "(5,)"), version);
    const npy_header header = parse(preamble + std::string(10, 'x'));
    EXPECT_EQ(header.data_offset, static_cast<std::int64_t>(preamble.size())) << version;
  }
}

TEST(npy, every_type_in_every_byte_order) {
  const struct {
    const char* code;
    dtype type;
  } types[] = {{"b1", dtype::boolean},   {"i1", dtype::int8},       {"i2", dtype::int16},
               {"i4", dtype::int32},     {"i8", dtype::int64},      {"u1", dtype::uint8},
               {"u2", dtype::uint16},    {"u4", dtype::uint32},     {"u8", dtype::uint64},
               {"f2", dtype::float16},   {"f4", dtype::float32},    {"f8", dtype::float64},
               {"c8", dtype::complex64}, {"c16", dtype::complex128}};
  const std::string data(16, '\0');
  for (const auto& [code, type] : types) {
    for (const char order : std::string("<>=|")) {
      const std::string descr = order + std::string(code);
      const item_type items = parse(npy_preamble(npy_dict(descr, "(1,)")) + data).items;
      EXPECT_EQ(items.type, type) << descr;
      const std::endian expected = order == '<'   ? std::endian::little
                                   : order == '>' ? std::endian::big
                                                  : std::endian::native;
      EXPECT_EQ(items.order, expected) << descr;
    }
  }
}

TEST(npy, dict_as_python_reads_it) {
  const char* dicts[] = {
      "{'descr':'<i4','fortran_order':False,'shape':(2,3)}",
      "{'shape': (2, 3), 'fortran_order': False, 'descr': '<i4'}",
      "  {\t\"descr\" : \"<i4\" ,\n 'fortran_order' : False,\r\n 'shape' : ( 2 , 3 , ) , }  ",
      "{u'descr': u'<i4', u'fortran_order': False, u'shape': (2L, 3L), }",
  };
  for (const char* dict : dicts) {
    const npy_header header = parse(npy_preamble(dict) + std::string(24, '\0'));
    EXPECT_EQ(header.items.type, dtype::int32) << dict;
    EXPECT_EQ(header.shape, (shape{2, 3})) << dict;
  }
}

TEST(npy, malformed_dicts_are_refused_with_the_place) {
  const struct {
    std::string dict;
    const char* message;
  } cases[] = {
      {"", "expected '{' at the start"},
      {"[1, 2]", "expected '{' at the start before '[1, 2]"},
      {"{", "expected a string at its end"},
      {"{,}", "expected a string before ',}"},
      {"{}", "the key 'descr' is missing"},
      {"{'descr': '<f4', 'shape': (1,)}", "the key 'fortran_order' is missing"},
      {"{'descr': '<f4', 'fortran_order': False}", "the key 'shape' is missing"},
      {npy_dict("<f4", "(1,)") + "x", "something follows the dict before 'x"},
      {npy_dict("<f4", "(1,)") + "{}", "something follows the dict"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}",
       "unknown key 'extra'"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
       "the key 'descr' stands twice"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "expected ',' or '}'"},
      {"{'descr' '<f4'}", "expected ':' after a key"},
      {"{'descr': '<f4}", "a string does not end"},
      {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}", "unexpected escape"},
      {"{'descr': 4}", "expected a string before '4}"},
      {"{'fortran_order': 0}", "'fortran_order' is neither True nor False before '0}"},
      {"{'fortran_order': 'False'}", "'fortran_order' is neither True nor False"},
      {"{'shape': [1]}", "'shape', which is a tuple before '[1]}"},
      {"{'shape': 3}", "'shape', which is a tuple"},
      {"{'shape': (3)}", "'shape' is not a tuple"},
      {"{'shape': (3 4)}", "'shape' is not a tuple"},
      {"{'shape': (3, 4 5)}", "expected ',' or ')' in 'shape'"},
      {"{'shape': (,)}", "expected a number in 'shape'"},
      {"{'shape': (2,,)}", "expected a number in 'shape'"},
      {"{'shape': (2.0,)}", "'shape' is not a tuple"},
      {"{'shape': (None,)}", "expected a number in 'shape'"},
      {"{'shape': (-1,)}", "negative extent in 'shape' before '-1,)}"},
      {"{'shape': (007,)}", "a number in 'shape' starts with 0 before '007"},
      {"{'shape': (9223372036854775808,)}", "does not fit 63 bits before '9223372036854775808"},
      {"{'shape': (1,", "expected a number in 'shape'"},
  };
  for (const auto& [dict, message] : cases) {
    EXPECT_NE(complaint_about_dict(dict).find(message), std::string::npos)
        << dict << "\n gave: " << complaint_about_dict(dict);
  }
}

TEST(npy, types_that_are_not_numbers_are_refused_by_name) {
  const struct {
    const char* descr;
    const char* message;
  } cases[] = {
      {"|O", "dtype '|O' holds Python objects"}, {"<U3", "dtype '<U3' holds text"},
      {"|S5", "dtype '|S5' holds text"},         {"|V8", "dtype '|V8' holds raw records"},
      {"<M8[ns]", "holds dates or times"},       {"<m8[s]", "holds dates or times"},
      {"<f16", "dtype '<f16' is not supported"}, {"<f3", "dtype '<f3' is not supported"},
      {"", "dtype '' is not supported"},         {"<", "dtype '<' is not supported"},
      {"<f4 ", "dtype '<f4 ' is not supported"}, {"<<f4", "dtype '<<f4' is not supported"},
      {"<f04", "dtype '<f04' is not supported"}, {"g", "dtype 'g' is not supported"},
  };
  for (const auto& [descr, message] : cases) {
    const std::string gave = complaint_about_dict(npy_dict(descr, "(1,)"));
    EXPECT_NE(gave.find(message), std::string::npos) << descr << "\n gave: " << gave;
    EXPECT_NE(gave.find("known: bool, int8"), std::string::npos) << gave;
  }
}

TEST(npy, structured_types_are_refused) {
  const char* descrs[] = {"[('a', '<i4'), ('b', '<f8')]", "('<f4', (2,))", "[('\xe9', '<i4')]"};
  for (const char* descr : descrs) {
    const std::string dict =
        std::string("{'descr': ") + descr + ", 'fortran_order': False, 'shape': (1,), }";
    EXPECT_NE(complaint_about_dict(dict).find("structured dtype"), std::string::npos) << descr;
  }
}

TEST(npy, other_files_are_recognised) {
  EXPECT_NE(complaint("").find("is empty"), std::string::npos);
  EXPECT_NE(complaint("PK\x03\x04 and so on").find("zip archive"), std::string::npos);
  EXPECT_NE(complaint("hello, world").find("is not a .npy file: it starts with 'hello,'"),
            std::string::npos);
  EXPECT_NE(complaint("\x93NUMP").find("is not a .npy file"), std::string::npos);
  for (const std::string& version : {"\x00\x00"s, "\x04\x00"s, "\x01\x01"s, "\xff\xff"s}) {
    EXPECT_NE(complaint("\x93NUMPY" + version + std::string(200, ' ')).find("format version"),
              std::string::npos);
  }
}

TEST(npy, every_truncation_is_refused) {
  for (const int version : {1, 2, 3}) {
    const std::string whole =
        npy_preamble(npy_dict("<f8", "(2, 2)"), version) + std::string(32, '\1');
    ASSERT_EQ(complaint(whole), "");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_NE(complaint(whole.substr(0, size)), "") << size << " bytes of version " << version;
    }
    EXPECT_NE(complaint(whole.substr(0, whole.size() - 1))
                  .find("4 items of float64 need 32 bytes, the file has 31"),
              std::string::npos);
  }
}

TEST(npy, lengths_beyond_the_file_are_refused) {
  EXPECT_NE(complaint("\x93NUMPY\x01\x00\xff\xff{}"s).find("the .npy header has 65535 bytes"),
            std::string::npos);
  EXPECT_NE(complaint("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s)
                .find("the .npy header has 4294967295 bytes"),
            std::string::npos);
}

TEST(npy, shapes_that_overflow_are_refused) {
  const char* shapes[] = {"(9223372036854775807,)", "(4294967296, 4294967296)",
                          "(3037000500, 3037000500)", "(1152921504606846976, 8)",
                          "(2305843009213693952, 2, 2, 2)"};
  for (const char* s : shapes) {
    EXPECT_NE(complaint_about_dict(npy_dict("<f8", s)).find("2^63 bytes or more"),
              std::string::npos)
        << s;
  }
  // One byte an item: the product fits, but nothing is there.
  EXPECT_NE(complaint_about_dict(npy_dict("|u1", "(9223372036854775807,)")).find("truncated"),
            std::string::npos);
  // A zero anywhere means no items, whatever the other extents.
  EXPECT_EQ(complaint_about_dict(npy_dict("<f8", "(9223372036854775807, 9223372036854775807, 0)")),
            "");
}

TEST(npy, messages_are_one_printable_line) {
  const std::string hostile = "{'descr': 'a\nb\x1b[31m\xff" + std::string(500, 'z') + "'}";
  const std::string message = complaint_about_dict(hostile);
  ASSERT_NE(message, "");
  EXPECT_LT(message.size(), 400u);
  for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << message;
}

// Whatever happens to the bytes: an input_error, or a header whose items are all in the file.
TEST(npy, random_damage) {
  test::shape_stream random(test::seed());
  const std::string seeds[] = {
      npy_preamble(npy_dict("<f4", "(3, 2)")) + std::string(24, 'x'),
      npy_preamble(npy_dict(">c16", "()"), 2) + std::string(16, 'x'),
      npy_preamble(npy_dict("|b1", "(2, 0, 7)", true), 3),
  };
  const std::string_view spice = "{}()[]'\",: 0123456789-LuTrueFalse<>|=bifcuO\n\t\\";
  int accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    std::string file = seeds[random() % std::size(seeds)];
    for (int damage = 1 + static_cast<int>(random() % 3); damage > 0 && !file.empty(); --damage) {
      // Most of it where the dict is.
      const std::size_t at =
          random() % (random() % 4 == 0 ? file.size() : std::min<std::size_t>(file.size(), 75));
      const char c =
          random() % 2 == 0 ? spice[random() % spice.size()] : static_cast<char>(random());
      switch (random() % 4) {
        case 0:
          file[at] = c;
          break;
        case 1:
          file.insert(at, 1, c);
          break;
        case 2:
          file.erase(at, 1 + random() % 8);
          break;
        default:
          file.resize(at);
      }
    }
    try {
      const npy_header header = parse(file);
      ++accepted;
      std::int64_t count = 1;
      for (const std::int64_t extent : header.shape) {
        ASSERT_GE(extent, 0);
        count *= extent;  // small unless the file is huge, or a zero follows
      }
      ASSERT_EQ(header.count, count);
      ASSERT_LE(header.data_offset + header.count * row_of(header.items.type).bytes,
                static_cast<std::int64_t>(file.size()));
    } catch (const input_error&) {
    }
  }
  EXPECT_GT(accepted, 1000);  // else the damage is too heavy to test anything
}

TEST(npy, item_types_by_name_or_code) {
  EXPECT_EQ(parse_item_type("float32").type, dtype::float32);
  EXPECT_EQ(parse_item_type("bfloat16").type, dtype::bfloat16);
  EXPECT_EQ(parse_item_type("f2").type, dtype::float16);
  EXPECT_EQ(parse_item_type(">u4").type, dtype::uint32);
  EXPECT_EQ(parse_item_type(">u4").order, std::endian::big);
  for (const char* name : {"float", "int", "", "<", "<double", "g", "|", "dd"}) {
    EXPECT_THROW(parse_item_type(name), input_error) << name;
  }
}

TEST(npy, item_types_by_what_numpy_calls_them) {
  const std::pair<std::string_view, dtype> names[] = {
      {"?", dtype::boolean},      {"b", dtype::int8},
      {"h", dtype::int16},        {"i", dtype::int32},
      {"q", dtype::int64},        {"p", dtype::int64},
      {"B", dtype::uint8},        {"H", dtype::uint16},
      {"I", dtype::uint32},       {"Q", dtype::uint64},
      {"P", dtype::uint64},       {"e", dtype::float16},
      {"f", dtype::float32},      {"d", dtype::float64},
      {"F", dtype::complex64},    {"D", dtype::complex128},
      {"<q", dtype::int64},       {"=d", dtype::float64},
      {"|B", dtype::uint8},       {"half", dtype::float16},
      {"single", dtype::float32}, {"double", dtype::float64},
      {"short", dtype::int16},    {"longlong", dtype::int64},
      {"ubyte", dtype::uint8},    {"cdouble", dtype::complex128}};
  for (const auto& [name, type] : names) EXPECT_EQ(parse_item_type(name).type, type) << name;
  EXPECT_EQ(row_of(parse_item_type("l").type).bytes, int{sizeof(long)});
  EXPECT_EQ(parse_item_type(">q").order, std::endian::big);
  EXPECT_EQ(parse_item_type("<q").order, std::endian::little);
}

TEST(npy, written_header) {
  const std::string expected =
      "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }"s +
      std::string(60, ' ') + "\n";
  EXPECT_EQ(make_npy_header(dtype::float64, 7), expected);
  for (const std::int64_t count : {0L, 1L, 1000000L, 1152921504606846975L}) {
    EXPECT_EQ(make_npy_header(dtype::int8, count).size() % 64, 0u);
  }
}

}  // namespace
}  // namespace tilefold::tool
