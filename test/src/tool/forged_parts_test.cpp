// SPDX-License-Identifier: Apache-2.0
//
// Parts and checkpoints that are well formed and lie: each is refused before anything of it is
// used. GPUs are hidden.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tilefold/detail/core/byte_format.hpp>
#include <tilefold/host.hpp>
#include <tilefold/piece.hpp>
#include <tilefold/reducers/exact.hpp>
#include <tilefold/reducers/moments.hpp>

#include "npy_writer.hpp"
#include "part_file.hpp"
#include "run_tool.hpp"
#include "support/forged.hpp"
#include "support/items.hpp"

namespace {

// Files that went to the disk, by the name and with the bytes that they had then.
struct synced_file {
  std::string name;
  std::uintmax_t bytes;
};
std::vector<synced_file> synced;

}  // namespace

// In the place of the C library's.
extern "C" int fsync(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  synced.push_back(
      {std::filesystem::read_symlink(link).string(), std::filesystem::file_size(link)});
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace tilefold::test {
namespace {

using bytes = std::vector<std::byte>;

// What a part file says, whether it is true or not.
struct said {
  std::string op = "sum";
  std::string type = "float32";
  std::uint64_t k = 5;
  std::int64_t total = 100;
  std::int64_t begin = 0;
  std::int64_t end = 40;
  std::int64_t source_bytes = 0;
  std::int64_t source_time_ns = 0;
  std::string source{};
  bytes piece{};

  std::string file() const {
    detail::byte_writer out;
    out.number(0x54504654, 4);
    out.number(2, 4);
    out.text(op);
    out.text(type);
    out.number(k);
    for (const std::int64_t field : {total, begin, end, source_bytes, source_time_ns}) {
      out.number(static_cast<std::uint64_t>(field));
    }
    out.text(source);
    out.raw(piece);
    const bytes all = out.finish();
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }
};

template <class Op = plus, class T = float>
bytes piece_of(std::int64_t begin, std::int64_t end, Op op = {}) {
  const std::vector<T> items(static_cast<std::size_t>(end - begin), T{1});
  return reduce_piece(host_executor(1), items, begin, op).to_bytes();
}

std::string complaint(const std::vector<std::string>& arguments) {
  const outcome result = tool()(arguments);
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
  return result.err;
}

void expect_refused(const said& what, const std::string& words) {
  const scratch files;
  const std::string message = complaint({"merge", files.file("part", what.file())});
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(forged_parts, a_true_one_is_taken) {
  const scratch files;
  said all{.end = 100, .piece = piece_of(0, 100)};
  const outcome result = tool()({"merge", files.file("part", all.file())});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("100"), std::string::npos) << result.out;
}

TEST(forged_parts, of_other_items_than_their_piece_are_refused) {
  for (const auto& [begin, end] :
       {std::pair(0, 39), std::pair(0, 0), std::pair(0, 41), std::pair(8, 40), std::pair(40, 80)}) {
    expect_refused({.piece = piece_of(begin, end)},
                   "its piece holds items " + std::to_string(begin) + " to " + std::to_string(end) +
                       " where it says items 0 to 40");
  }
}

TEST(forged_parts, of_items_that_there_are_not_are_refused) {
  expect_refused({.total = 39, .piece = piece_of(0, 40)}, "items 0 to 40 of 39");
  expect_refused({.total = -1, .piece = piece_of(0, 40)}, "items 0 to 40 of -1");
  expect_refused({.begin = -8, .piece = piece_of(0, 40)}, "items -8 to 40 of 100");
  expect_refused({.begin = 48, .piece = piece_of(0, 40)}, "items 48 to 40 of 100");
}

TEST(forged_parts, of_numbers_that_are_cut_are_refused) {
  for (const std::uint64_t k :
       {std::uint64_t{0}, std::uint64_t{33}, (std::uint64_t{1} << 32) + 5, ~std::uint64_t{0}}) {
    expect_refused({.k = k, .piece = piece_of(0, 40)}, "best " + std::to_string(k) + " items");
  }
}

TEST(forged_parts, of_operations_that_there_are_not_are_refused) {
  expect_refused({.op = "exact_sum", .type = "complex64", .piece = piece_of(0, 40)},
                 "exact_sum of complex64");
  expect_refused({.op = "summ", .piece = piece_of(0, 40)}, "'summ'");
}

TEST(forged_parts, with_counts_that_lie_are_refused) {
  const bytes mean = piece_of<reducers::mean, double>(0, 32);
  const bytes exact = piece_of<reducers::exact_mean<double>, double>(0, 32);
  for (const std::int64_t count : {-32, 0, 31}) {
    expect_refused({.op = "mean",
                    .type = "float64",
                    .end = 32,
                    .piece = forged(mean, -24, static_cast<double>(count))},
                   "cannot leave");
    expect_refused(
        {.op = "exact_mean", .type = "float64", .end = 32, .piece = forged(exact, -16, count)},
        "cannot leave");
  }
}

TEST(forged_parts, of_a_piece_that_is_none_are_refused) {
  expect_refused({.piece = {}}, "ends after 0 bytes");
  expect_refused({.piece = bytes(30, std::byte{7})}, "no piece");
  bytes altered = piece_of(0, 40);
  altered[30] ^= std::byte{1};
  expect_refused({.piece = altered}, "altered");
}

bytes piece_called(const std::string& signature) {
  return detail::piece_bytes{signature, 0, 40, {}}.written();
}

// Whatever the text, the message is one short line of printable ASCII that still says what is
// needed.
void expect_short(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message.substr(0, 2000);
  EXPECT_LT(message.size(), 3000u);
  for (const char c : message.substr(0, message.size() - 1)) {
    EXPECT_TRUE(c >= ' ' && c < 0x7f) << static_cast<int>(c);
  }
}

// The file, and all of a text that has a 0 in it.
TEST(forged_parts, of_another_kind_are_named) {
  const scratch files;
  const std::string part =
      files.file("part", said{.piece = piece_called(std::string("sum\0of", 6))}.file());
  const std::string message = complaint({"merge", part});
  EXPECT_EQ(message.rfind("tilefold: " + part + ": a piece of sum?of was found where one of ", 0),
            0u)
      << message;
}

const std::vector<std::string> long_texts{std::string(1000000, 'a'), std::string(1000000, '\x9b'),
                                          "\x1b[2J\r\n\x9b\xff"};

TEST(forged_parts, with_long_texts_are_refused_in_a_short_line) {
  const scratch files;
  for (const std::string& text : long_texts) {
    expect_short(complaint({"merge", files.file("part", said{.piece = piece_called(text)}.file())}),
                 "is needed");
    expect_short(
        complaint({"merge", files.file("part", said{.op = text, .piece = piece_of(0, 40)}.file())}),
        "does not know");
    expect_short(
        complaint(
            {"merge", files.file("part", said{.type = text, .piece = piece_of(0, 40)}.file())}),
        "does not know");
  }
}

// Of 100 ones, of which it says to have done some.
class checkpoints : public testing::Test {
 protected:
  const scratch files_;
  std::string file_ = files_.file("f.npy", npy_file("<f4", std::vector<float>(100, 1.0f)));

  said about(const bytes& piece) const {
    struct stat status{};
    EXPECT_EQ(stat(file_.c_str(), &status), 0);
    return {
        .end = 100,
        .source_bytes = status.st_size,
        .source_time_ns = std::int64_t{status.st_mtim.tv_sec} * 1000000000 + status.st_mtim.tv_nsec,
        .source = "file " + std::to_string(status.st_ino),
        .piece = piece};
  }
  std::vector<std::string> gone_on_with(const said& checkpoint) const {
    return {"reduce", "--json", "--checkpoint", files_.file("check", checkpoint.file()), file_};
  }
};

TEST_F(checkpoints, that_are_true_are_gone_on_with) {
  const outcome result = tool()(gone_on_with(about(piece_of(0, 64))));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json report = json::parse(result.out);
  EXPECT_EQ(report["value"], 100.0);
  EXPECT_EQ(report["notes"].size(), 1u);
}

TEST_F(checkpoints, of_other_items_are_refused) {
  for (const auto& [begin, end] : {std::pair(8, 100), std::pair(100, 100), std::pair(0, 101)}) {
    const std::string message = complaint(gone_on_with(about(piece_of(begin, end))));
    EXPECT_NE(message.find("its piece holds items"), std::string::npos) << message;
  }
}

TEST_F(checkpoints, with_long_texts_are_refused_in_a_short_line) {
  for (const std::string& text : long_texts) {
    said checkpoint = about(piece_called(text));
    expect_short(complaint(gone_on_with(checkpoint)), "is needed");
    checkpoint.source = text;
    expect_short(complaint(gone_on_with(checkpoint)), "of another reduction");
  }
}

// A power cut between the two leaves the old file or the new one.
TEST(part_files, are_on_the_disk_before_they_have_their_name) {
  const scratch files;
  const std::string path = files.path("part");
  synced.clear();
  tilefold::tool::part_file part{
      tilefold::tool::op_kind::sum, tilefold::tool::dtype::float32, 5, 100, 0, 40};
  part.piece = piece_of(0, 40);
  tilefold::tool::write_part(path, part);
  ASSERT_EQ(synced.size(), 1u);
  EXPECT_EQ(synced[0].name,
            std::filesystem::canonical(path).string() + tilefold::tool::unfinished_part);
  EXPECT_EQ(synced[0].bytes, std::filesystem::file_size(path));
  EXPECT_EQ(tilefold::tool::read_part(path).piece, part.piece);
}

}  // namespace
}  // namespace tilefold::test
