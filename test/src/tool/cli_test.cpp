// SPDX-License-Identifier: Apache-2.0
//
// The tool as its users run it: results against an oracle that knows nothing of the library, one
// line and exit code 2 for whatever cannot be done, and files that are written whole or not at all.
// GPUs are hidden from it here; reduce_cuda_test.cu is their test.
#include <gtest/gtest.h>
#include <signal.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "npy_writer.hpp"
#include "run_tool.hpp"
#include "support/items.hpp"
#include "support/oracle.hpp"

namespace tilefold::test {
namespace {

std::string hex(std::uint64_t bits, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(bits));
  return text;
}

std::string bits_of(float x) { return hex(std::bit_cast<std::uint32_t>(x), 8); }
std::string bits_of(double x) { return hex(std::bit_cast<std::uint64_t>(x), 16); }

// Runs `reduce --json` on one file.
json reduced(const std::string& op, const std::string& file,
             const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"reduce", "--json", "--op", op, file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const outcome result = tool()(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return json::parse(result.out);
}

void expect_complaint(const std::vector<std::string>& arguments, const std::string& message) {
  const outcome result = tool()(arguments);
  EXPECT_EQ(result.exit_code, 2) << message;
  EXPECT_EQ(result.out, "") << message;
  EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
}

TEST(cli, float_sums_follow_the_fold_order) {
  const scratch files;
  const auto plus = [](auto a, auto b) { return a + b; };
  for (const std::int64_t n : {1, 2, 3, 1000, 4097, 100003}) {
    const auto floats = make_items<float>(pattern::mixed, n);
    const auto doubles = make_items<double>(pattern::mixed, n);
    const std::string f = files.file("f.npy", npy_file("<f4", floats));
    const std::string d = files.file("d.npy", npy_file("<f8", doubles));
    for (const char* threads : {"1", "2", "3"}) {
      EXPECT_EQ(reduced("sum", f, {"--threads", threads})["bits"],
                bits_of(neighbour_tree(plus, floats)))
          << n;
      EXPECT_EQ(reduced("sum", d, {"--threads", threads})["bits"],
                bits_of(neighbour_tree(plus, doubles)))
          << n;
    }
  }
}

TEST(cli, complex_sums_and_products) {
  using complex = std::complex<double>;
  const scratch files;
  std::vector<complex> items;
  for (int i = 0; i < 501; ++i) items.emplace_back(std::cos(i), std::sin(i) * (i % 7));
  const std::string file = files.file("z.npy", npy_file("<c16", items));
  const complex sum = neighbour_tree([](complex a, complex b) { return a + b; }, items);
  EXPECT_EQ(reduced("sum", file)["bits"], bits_of(sum.real()) + " " + bits_of(sum.imag()));
  EXPECT_EQ(reduced("sum", file)["value"], json::array({sum.real(), sum.imag()}));
  const auto times = [](complex a, complex b) {
    const double ac = a.real() * b.real(), bd = a.imag() * b.imag();
    const double ad = a.real() * b.imag(), bc = a.imag() * b.real();
    return complex(ac - bd, ad + bc);
  };
  items.resize(40);
  const complex product = neighbour_tree(times, items);
  const std::string few = files.file("few.npy", npy_file("<c16", items));
  EXPECT_EQ(reduced("product", few)["bits"],
            bits_of(product.real()) + " " + bits_of(product.imag()));
}

template <class T>
void expect_integer_ops(const std::string& code, const std::string& accumulator) {
  const scratch files;
  const auto items = make_items<T>(pattern::mixed, 1003);
  const std::string file = files.file("i.npy", npy_file(code, items));
  std::uint64_t sum = 0, product = 1, all = ~std::uint64_t{0}, any = 0, odd = 0;
  T least = items[0], most = items[0];
  for (const T x : items) {
    const auto word = static_cast<std::uint64_t>(x);
    sum += word;
    product *= word;
    all &= word;
    any |= word;
    odd ^= word;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  const json result = reduced("sum", file, {"--check"});
  EXPECT_EQ(result["accumulator"], accumulator) << code;
  EXPECT_EQ(result["check"]["equal"], true) << code;
  const int wide = accumulator == "int64" || accumulator == "uint64" ? 16 : 8;
  const auto low = [](std::uint64_t word, int digits) {
    return hex(digits == 16 ? word : word & ((std::uint64_t{1} << (4 * digits)) - 1), digits);
  };
  EXPECT_EQ(result["bits"], low(sum, wide)) << code;
  EXPECT_EQ(reduced("product", file, {"--check"})["bits"], low(product, wide)) << code;
  const int narrow = 2 * static_cast<int>(sizeof(T));
  EXPECT_EQ(reduced("min", file, {"--check"})["value"], least) << code;
  EXPECT_EQ(reduced("max", file, {"--check"})["value"], most) << code;
  EXPECT_EQ(reduced("min_number", file)["value"], least) << code;
  EXPECT_EQ(reduced("max_number", file)["value"], most) << code;
  EXPECT_EQ(reduced("and", file, {"--check"})["bits"], low(all, narrow)) << code;
  EXPECT_EQ(reduced("or", file, {"--check"})["bits"], low(any, narrow)) << code;
  EXPECT_EQ(reduced("xor", file, {"--check"})["bits"], low(odd, narrow)) << code;
}

TEST(cli, integers_of_every_width) {
  expect_integer_ops<std::int8_t>("|i1", "int32");
  expect_integer_ops<std::int16_t>("<i2", "int32");
  expect_integer_ops<std::int32_t>("<i4", "int32");
  expect_integer_ops<std::int64_t>("<i8", "int64");
  expect_integer_ops<std::uint8_t>("|u1", "uint32");
  expect_integer_ops<std::uint16_t>("<u2", "uint32");
  expect_integer_ops<std::uint32_t>("<u4", "uint32");
  expect_integer_ops<std::uint64_t>("<u8", "uint64");
}

TEST(cli, bools_are_counted) {
  const scratch files;
  const std::string file =
      files.file("b.npy", npy_preamble(npy_dict("|b1", "(6,)")) + std::string("\1\0\1\1\0\1", 6));
  const json count = reduced("sum", file, {"--check"});
  EXPECT_EQ(count["value"], 4);
  EXPECT_EQ(count["accumulator"], "int64");
  EXPECT_EQ(reduced("and", file)["value"], false);
  EXPECT_EQ(reduced("or", file)["value"], true);
  EXPECT_EQ(reduced("xor", file)["value"], false);
  EXPECT_EQ(reduced("min", file)["value"], false);
  EXPECT_EQ(reduced("max", file)["value"], true);
}

TEST(cli, halves_are_added_in_float) {
  const scratch files;
  const std::vector<std::uint16_t> halves{0x3c00, 0x4000, 0xb800, 0x7bff};  // 1, 2, -0.5, 65504
  const std::string file = files.file("h.npy", npy_file("<f2", halves));
  EXPECT_EQ(reduced("sum", file)["value"], 1 + 2 + (-0.5 + 65504.0));
  EXPECT_EQ(reduced("sum", file)["accumulator"], "float32");
  EXPECT_EQ(reduced("max", file)["bits"], "0x7bff");
  EXPECT_EQ(reduced("min", file)["value"], -0.5);
  EXPECT_EQ(reduced("min", file)["accumulator"], "float16");
}

TEST(cli, nan_and_zero_in_extremes) {
  const scratch files;
  const double nan = -std::nan("1");  // sign and payload must not show
  const std::string file = files.file("a.npy", npy_file("<f8", std::vector<double>{3, nan, -1}));
  EXPECT_EQ(reduced("min", file)["value"], "nan");
  EXPECT_EQ(reduced("min", file, {"--check"})["bits"], "0x7ff8000000000000");
  EXPECT_EQ(reduced("min", file, {"--check"})["check"]["equal"], true);
  EXPECT_EQ(reduced("min_number", file)["value"], -1);
  EXPECT_EQ(reduced("max_number", file)["value"], 3);
  const std::string zeros = files.file("z.npy", npy_file("<f8", std::vector<double>{0.0, -0.0}));
  EXPECT_EQ(reduced("min", zeros)["bits"], "0x8000000000000000");
  EXPECT_EQ(reduced("max", zeros)["bits"], "0x0000000000000000");
}

TEST(cli, stored_otherwise_same_result) {
  const scratch files;
  const auto items = make_items<double>(pattern::mixed, 600);
  const std::string plain = files.file("a.npy", npy_file("<f8", items));
  const std::string big = files.file(
      "b.npy", npy_preamble(npy_dict(">f8", "(600,)")) + turned_round(bytes_of(items), 8));
  const std::string raw = files.file("c.bin", "12345" + bytes_of(items));
  const std::string raw_big = files.file("d.bin", turned_round(bytes_of(items), 8));
  const json bits = reduced("sum", plain)["bits"];
  EXPECT_EQ(reduced("sum", big)["bits"], bits);
  EXPECT_EQ(reduced("sum", raw, {"--raw", "float64", "--offset", "5"})["bits"], bits);
  EXPECT_EQ(reduced("sum", raw_big, {"--dtype", ">f8"})["bits"], bits);
}

TEST(cli, json_describes_everything) {
  const scratch files;
  const std::string preamble = npy_preamble(npy_dict("<f4", "(2, 3)"));
  const std::string file =
      files.file("a\xff.npy", preamble + bytes_of(std::vector<float>{1, 2, 3, 4, 5, 6.5f}) + "x");
  const json result = reduced("sum", file, {"--check", "--on", "auto"});
  EXPECT_EQ(result["op"], "sum");
  EXPECT_EQ(result["dtype"], "float32");
  EXPECT_EQ(result["shape"], json::array({2, 3}));
  EXPECT_EQ(result["n"], 6);
  EXPECT_EQ(result["bytes"], 24);
  EXPECT_EQ(result["value"], 21.5);
  EXPECT_EQ(result["hex"], "0x1.58p+4");
  EXPECT_EQ(result["bits"], "0x41ac0000");
  EXPECT_EQ(result["notes"], json::array({"1 byte after the array not read"}));
  EXPECT_EQ(result["check"]["method"], "serial long double loop");
  EXPECT_EQ(result["check"]["absolute"], 0);
  const std::string executor = result["executor"];
  EXPECT_EQ(executor.rfind("host, ", 0), 0u) << executor;
  EXPECT_NE(executor.find("(no GPU: "), std::string::npos) << executor;
  EXPECT_GT(result["seconds"], 0);
}

TEST(cli, text_describes_everything) {
  const scratch files;
  const std::string file = files.file("a.npy", npy_file("<f4", std::vector<float>{1, 2, 3.5f}));
  const outcome result = tool()({"reduce", "--check", "--on", "host", "--threads", "1", file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 6u) << result.out;
  EXPECT_EQ(lines[0], file + ": 3 items of float32, 12 bytes");
  EXPECT_EQ(lines[1], "  sum         6.5  (float32)");
  EXPECT_EQ(lines[2], "  exact       0x1.ap+2, bits 0x40d00000");
  EXPECT_EQ(lines[3], "  executor    host, 1 thread");
  EXPECT_NE(lines[4].find("GB/s (fastest of"), std::string::npos);
  EXPECT_EQ(lines[5], "  check       serial long double loop: equal");
}

TEST(cli, check_measures_rounding) {
  const scratch files;
  // 2^24 + 1 + 1: the tree adds 1 to 2^24, which is lost, and then 1 again.
  const std::string file = files.file("a.npy", npy_file("<f4", std::vector<float>{16777216, 1, 1}));
  const json check = reduced("sum", file, {"--check"})["check"];
  EXPECT_EQ(check["exact"], false);
  EXPECT_EQ(check["equal"], false);
  EXPECT_EQ(check["absolute"], 2);
  EXPECT_EQ(check["ulps"], 1);
}

TEST(cli, empty_arrays) {
  const scratch files;
  const std::string file = files.file("e.npy", npy_preamble(npy_dict("<i4", "(0, 4)")));
  EXPECT_EQ(reduced("sum", file, {"--check"})["value"], 0);
  EXPECT_EQ(reduced("product", file)["value"], 1);
  for (const char* op : {"min", "max", "min_number", "max_number"}) {
    expect_complaint({"reduce", "--op", op, file},
                     file + ": op '" + op + "' has no value for an empty array");
  }
}

TEST(cli, trouble_with_one_file_leaves_the_others) {
  const scratch files;
  const std::string good = files.file("good.npy", npy_file("<i4", std::vector<std::int32_t>{1, 2}));
  const std::string object = files.file("o.npy", npy_preamble(npy_dict("|O", "(1,)")) + "xxxxxxxx");
  const std::string cut =
      files.file("cut.npy", npy_file("<i4", std::vector<int>{1, 2}).substr(0, 130));
  const std::string junk = files.file("junk.npy", "hello");
  const std::string missing = files.path("missing.npy");
  const outcome result =
      tool()({"reduce", "--json", object, good, cut, junk, files.path(""), missing, good});
  EXPECT_EQ(result.exit_code, 2);
  const auto errors = lines_of(result.err);
  ASSERT_EQ(errors.size(), 5u) << result.err;
  EXPECT_NE(errors[0].find(object + ": dtype '|O' holds Python objects"), std::string::npos);
  EXPECT_NE(errors[1].find(cut + ": truncated: 2 items of int32 need 8 bytes"), std::string::npos);
  EXPECT_NE(errors[2].find(junk + ": is not a .npy file"), std::string::npos);
  EXPECT_NE(errors[3].find(": is a directory"), std::string::npos);
  EXPECT_NE(errors[4].find(missing + ": cannot open: No such file"), std::string::npos);
  const auto results = lines_of(result.out);
  ASSERT_EQ(results.size(), 2u) << result.out;
  for (const std::string& line : results) EXPECT_EQ(json::parse(line)["value"], 3);
}

#if defined(__linux__)
// Whether a process has a file mapped.
bool has_mapped(pid_t pid, const std::string& path) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

// The file is mapped for as long as it is folded, which is two seconds.
TEST(cli, a_file_that_becomes_shorter_meanwhile_is_an_error) {
  const scratch files;
  const std::string path = files.file("a.npy", npy_file("<f4", std::vector<float>(1 << 20, 1.0f)));
  const tool run;
  const pid_t pid = run.start({"reduce", "--repeats", "1000000000", path});
  for (int i = 0; i < 10000 && !has_mapped(pid, path); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::filesystem::resize_file(path, 5000);
  const outcome result = run.finish(pid);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "tilefold: " + path + ": became shorter while it was read\n");
}
#endif

TEST(cli, ops_that_do_not_fit_the_type) {
  const scratch files;
  const std::string floats = files.file("f.npy", npy_file("<f4", std::vector<float>{1}));
  const std::string complex =
      files.file("c.npy", npy_file("<c8", std::vector<std::complex<float>>{{1, 2}}));
  for (const std::string op : {"bit_and", "bit_or", "bit_xor"}) {
    for (const std::string& name : {op, op.substr(4)}) {
      expect_complaint({"reduce", "--op", name, floats},
                       floats + ": op '" + op + "' is not defined for float32, only for integers");
    }
    expect_complaint({"reduce", "--op", op, complex}, "is not defined for complex64");
  }
  for (const char* op : {"min", "max", "min_number", "max_number", "mean", "count", "top_k"}) {
    expect_complaint({"reduce", "--op", op, complex}, "is not defined for complex64");
  }
}

TEST(cli, options_that_make_no_sense) {
  const scratch files;
  const std::string file = files.file("f.npy", npy_file("<f4", std::vector<float>{1}));
  expect_complaint({"reduce", "--op", "moan", file},
                   "unknown op 'moan', did you mean 'mean'?; known: sum, product, min, max, ");
  expect_complaint({"reduce", "--on", "tpu", file}, "unknown executor 'tpu'");
  expect_complaint({"reduce", "--offset", "4", file}, "--offset is for raw binary");
  expect_complaint({"reduce", "--raw", "float31", file},
                   "dtype 'float31' is not supported; known:");
  expect_complaint({"reduce", "--frobnicate", file}, "--frobnicate");
  expect_complaint({"reduce"}, "FILE");
  expect_complaint({"frobnicate"}, "frobnicate");
  expect_complaint({}, "tilefold reduce, merge, stats, generate or tune");
}

struct number_option {
  std::vector<std::string> command;
  std::string name;
  std::vector<std::string> accepted;
  std::vector<std::string> refused;  // besides those that every number option refuses
};

// Every option that takes a number.
std::vector<number_option> number_options(const scratch& files) {
  const std::string npy = files.file("f.npy", npy_file("<f4", std::vector<float>(100, 1.0f)));
  const std::string raw = files.file("f.raw", std::string(800, '\1'));
  const std::string made = files.path("made.npy");
  const std::vector<std::string> reduce{"reduce", npy};
  const std::vector<std::string> part{"reduce", "--part", files.path("part"), npy};
  const std::vector<std::string> check{"reduce", "--checkpoint", files.path("check"), npy};
  const std::vector<std::string> stats{"stats", npy};
  const std::string most = "9223372036854775807";
  const std::string too_large = "9223372036854775808";
  const std::vector<std::string> no_sizes{
      too_large, "9223372036854775807kB", "16EiB", "1zib", "1.5kB", "kB", "-1b", "0x1kB"};
  return {{reduce, "--k", {"1", "32", "032"}, {"0", "33"}},
          {reduce, "--threads", {"0", "2"}, {"4097"}},
          {reduce, "--repeats", {"1", "3"}, {"0", "1000000001"}},
          {check, "--checkpoint-seconds", {"0", "0.5", "1e3"}, {"1e400", "inf", "nan", "2e9"}},
          {part, "--chunk", {"1", "4 KiB", "1mb", most, "7EiB"}, no_sizes},
          {part, "--chunk", {}, {"0"}},
          {{"reduce", "--raw", "int8", raw}, "--offset", {"0", "8", "08", "0008b"}, no_sizes},
          {{"generate", made}, "--bytes", {"0", "1kib", "4096"}, no_sizes},
          {{"generate", "--bytes", "4", made},
           "--seed",
           {"0", "18446744073709551615"},
           {"18446744073709551616"}},
          {stats, "--bins", {"1", "1000"}, {"0", "1001"}},
          {stats, "--jobs", {"1"}, {"0", "1001"}},
          {stats, "--threads", {"1"}, {"4097"}}};
}

outcome run_with(const number_option& option, const std::string& value) {
  std::vector<std::string> arguments = option.command;
  arguments.push_back(option.name);
  arguments.push_back(value);
  return tool()(arguments);
}

TEST(cli, number_options_refuse_what_is_no_number_of_theirs) {
  const scratch files;
  const std::string long_one(100000, '9');
  for (const number_option& option : number_options(files)) {
    for (const std::string& value : option.accepted) {
      const outcome result = run_with(option, value);
      EXPECT_EQ(result.exit_code, 0) << option.name << " " << value << ": " << result.err;
    }
    std::vector<std::string> refused = option.refused;
    refused.insert(refused.end(), {"", " ", "-1", "+1", "x", "1x", "1 2", "0x10", "1,5",
                                   "99999999999999999999999", long_one});
    for (const std::string& value : refused) {
      const outcome result = run_with(option, value);
      const std::string named = option.name + ": '" + value.substr(0, 80);
      EXPECT_EQ(result.exit_code, 2) << option.name << " '" << value << "'";
      EXPECT_EQ(result.out, "");
      EXPECT_NE(result.err.find(named), std::string::npos) << named << ": " << result.err;
      EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
      EXPECT_LT(result.err.size(), 300u) << result.err;
    }
  }
}

TEST(cli, numbers_are_decimal) {
  const scratch files;
  const std::string raw = files.file("f.raw", std::string(800, '\1'));
  const json result = reduced("count", raw, {"--raw", "int8", "--offset", "010"});
  EXPECT_EQ(result["value"], 790);
}

// What a terminal would take for a command, or what turns the direction of writing.
TEST(cli, names_of_files_are_shown_as_letters) {
  const std::string letters = "\u00e9\u65e5\U0001f600";
  const scratch files;
  for (const auto& [name, shown] : std::vector<std::pair<std::string, std::string>>{
           {letters, letters},
           {"\x9b"
            "2J",
            "\\x9b2J"},
           {"a\u009b"
            "2J",
            "a\\xc2\\x9b2J"},
           {"\u202e"
            "gpj",
            "\\xe2\\x80\\xaegpj"},
           {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
           {"\xc3", "\\xc3"},
           {"\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf"}}) {
    const outcome result = tool()({"reduce", "--op", "sum", files.path(name)});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("/" + shown + ":"), std::string::npos) << result.err;
  }
  const outcome result = tool()({"reduce", "--op", "sum", std::string(100000, 'n')});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_LT(result.err.size(), 2500u);
}

// A file that is opened would get the number of a stream that is closed, and what is printed.
TEST(cli, closed_streams_take_nothing_into_files) {
  const scratch files;
  const std::string input = files.file("f.npy", npy_file("<f4", std::vector<float>(100, 1.0f)));
  const std::string check = files.path("check");
  for (const std::string closed : {" >&-", " <&- >&-", " <&- >&- 2>&-"}) {
    const std::string command = TILEFOLD_TOOL " reduce --on host --checkpoint " + check +
                                " --checkpoint-seconds 0 --chunk 64 " + input + closed;
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << command;
    EXPECT_TRUE(std::filesystem::exists(check))
        << command;  // nothing was said: the next run says it
  }
  // With standard input closed alone nothing is lost.
  EXPECT_EQ(std::system((TILEFOLD_TOOL " reduce --on host " + input + " <&- >/dev/null").c_str()),
            0);
}

TEST(cli, what_is_no_argument_is_cut) {
  const std::string message = tool()({"reduce", "--" + std::string(100000, 'x') + "\x9b"}).err;
  EXPECT_EQ(message.rfind("tilefold: ", 0), 0u);
  EXPECT_LT(message.size(), 700u);
  EXPECT_EQ(message.find('\x9b'), std::string::npos);
}

TEST(cli, without_a_gpu_cuda_is_refused) {
  const scratch files;
  const std::string file = files.file("f.npy", npy_file("<f4", std::vector<float>{1}));
  expect_complaint({"reduce", "--on", "cuda", file}, "--on cuda: ");
}

TEST(cli, help_and_version) {
  const outcome help = tool()({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"reduce", "stats", "generate", "Examples:", "Exit code"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  const outcome reduce_help = tool()({"reduce", "--help"});
  EXPECT_EQ(reduce_help.exit_code, 0);
  for (const char* word : {"min_number", "complex128", "--check", "--threads"}) {
    EXPECT_NE(reduce_help.out.find(word), std::string::npos) << word;
  }
  const outcome version = tool()({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out.rfind("tilefold ", 0), 0u);
  EXPECT_EQ(lines_of(version.out).size(), 1u);
}

std::string generated(const scratch& files, const std::string& dtype, const std::string& seed,
                      const std::string& bytes = "64kib") {
  const outcome result =
      tool()({"generate", "--dtype", dtype, "--bytes", bytes, "--seed", seed, files.path("g.npy")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(files.num_files(), 1u);
  return files.contents("g.npy");
}

TEST(cli, generate_depends_on_the_seed_alone) {
  const scratch files;
  const std::string once = generated(files, "float32", "7");
  EXPECT_EQ(once.size(), 128u + 65536u);
  EXPECT_EQ(generated(files, "float32", "7"), once);
  EXPECT_NE(generated(files, "float32", "8"), once);
}

// Made from the definition of mt19937_64 by a program that shares nothing with the tool.
TEST(cli, generate_golden) {
  const scratch files;
  const std::string file = generated(files, "float32", "1", "16");
  const std::vector<std::uint32_t> expected{0x38686f68, 0x3818fa4e, 0xbee6459a, 0x35b5c08e};
  EXPECT_EQ(file.substr(128), bytes_of(expected));
}

template <class T>
std::vector<T> generated_items(const std::string& dtype) {
  const scratch files;
  const std::string data = generated(files, dtype, "3").substr(128);
  std::vector<T> items(data.size() / sizeof(T));
  std::memcpy(items.data(), data.data(), data.size());
  return items;
}

template <class Float>
void expect_mixed_floats(const std::string& dtype, Float low, Float high) {
  Float least = high, most = low;
  std::size_t negative = 0;
  const auto items = generated_items<Float>(dtype);
  for (const Float x : items) {
    ASSERT_TRUE(std::isnormal(x)) << x;
    least = std::min(least, std::fabs(x));
    most = std::max(most, std::fabs(x));
    negative += std::signbit(x);
  }
  EXPECT_GE(least, low / 2);
  EXPECT_LT(least, low);
  EXPECT_GT(most, high);
  EXPECT_LT(most, 2 * high);
  EXPECT_GT(negative, items.size() / 3);
  EXPECT_LT(negative, items.size() * 2 / 3);
}

template <class Integer>
void expect_mixed_integers(const std::string& dtype) {
  int widths[65] = {};
  for (const Integer x : generated_items<Integer>(dtype)) {
    ASSERT_NE(x, 0) << dtype;
    const auto word = static_cast<std::uint64_t>(x);
    ++widths[std::bit_width(std::is_signed_v<Integer> && x < 0 ? 0 - word : word)];
  }
  for (int width = 1; width <= std::numeric_limits<Integer>::digits; ++width) {
    EXPECT_GT(widths[width], 0) << dtype << ", " << width << " bits";
  }
}

TEST(cli, generate_mixes_magnitudes_and_signs) {
  expect_mixed_floats<float>("float32", 0x1p-19f, 0x1p20f);
  expect_mixed_floats<double>("float64", 0x1p-39, 0x1p40);
  expect_mixed_integers<std::int8_t>("int8");
  expect_mixed_integers<std::uint16_t>("uint16");
  expect_mixed_integers<std::int32_t>("int32");
  expect_mixed_integers<std::uint64_t>("uint64");
  expect_mixed_integers<std::int64_t>("int64");
}

TEST(cli, generated_files_of_every_type_can_be_reduced) {
  const scratch files;
  for (const char* dtype : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                            "uint64", "float16", "float32", "float64", "complex64", "complex128"}) {
    generated(files, dtype, "5");
    const json result = reduced("sum", files.path("g.npy"), {"--check"});
    EXPECT_EQ(result["dtype"], dtype);
    EXPECT_EQ(result["bytes"], 65536);
    EXPECT_TRUE(result["check"]["equal"] == true || result["check"]["exact"] == false) << result;
  }
}

TEST(cli, generate_refuses) {
  const scratch files;
  const std::string file = files.path("g.npy");
  expect_complaint({"generate", "--bytes", "10", "--dtype", "float64", file},
                   "--bytes 10 is not a whole number of items of 8 bytes (float64)");
  expect_complaint({"generate", "--bytes", "1zib", file}, "zib");
  expect_complaint({"generate", "--bytes", "-4", file}, "-4");
  expect_complaint({"generate", "--dtype", "string", "--bytes", "4", file},
                   "dtype 'string' is not supported; known");
  expect_complaint({"generate", "--dtype", "<d", "--bytes", "9", file}, "8 bytes (float64)");
  expect_complaint({"generate", "--dtype", ">q", "--bytes", "8", file}, "the other byte order");
  expect_complaint({"generate", "--dtype", "bfloat16", "--bytes", "4", file}, "bfloat16");
  expect_complaint({"generate", file}, "--bytes");
  expect_complaint({"generate", "--bytes", "4", files.path("")}, "is a directory");
  expect_complaint({"generate", "--bytes", "4", "/dev/null"}, "/dev/null: is not a regular file");
  expect_complaint({"generate", "--bytes", "4", files.path("no/such/place")}, "cannot create");
  EXPECT_EQ(files.num_files(), 0u);
}

TEST(cli, interrupted_generate_leaves_nothing) {
  const scratch files;
  files.file("g.npy", "as it was");
  for (const int signal : {SIGINT, SIGTERM}) {
    const tool tool;
    const pid_t pid = tool.start({"generate", "--bytes", "8GiB", files.path("g.npy")});
    while (files.num_files() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(pid, signal);
    const outcome result = tool.finish(pid);
    EXPECT_EQ(result.exit_code, 128 + signal);
    EXPECT_NE(result.err.find("interrupted, nothing written"), std::string::npos) << result.err;
    EXPECT_EQ(lines_of(result.err).size(), 1u);
    EXPECT_EQ(files.num_files(), 1u);
    EXPECT_EQ(files.contents("g.npy"), "as it was");
  }
}

}  // namespace
}  // namespace tilefold::test
