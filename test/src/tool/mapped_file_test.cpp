// SPDX-License-Identifier: Apache-2.0
//
// Files that change while they are mapped: what is gone reads as zeros, is told of, and ends
// nothing.
#include "mapped_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "input.hpp"
#include "input_error.hpp"
#include "scratch.hpp"

namespace tilefold::tool {
namespace {

using test::scratch;

constexpr std::size_t size = std::size_t{1} << 20;

std::int64_t sum_of(std::span<const std::byte> bytes) {
  std::int64_t sum = 0;
  for (const std::byte b : bytes) sum += std::to_integer<int>(b);
  return sum;
}

std::string complaint(const mapped_file& file) {
  try {
    file.require_whole();
    return "";
  } catch (const input_error& error) {
    return error.what();
  }
}

TEST(mapped_file, is_whole_as_long_as_nothing_is_cut_off) {
  const scratch files;
  const std::string path = files.file("a", std::string(size, '\1'));
  const mapped_file file(path);
  std::filesystem::resize_file(path, 2 * size);
  EXPECT_EQ(sum_of(file.bytes()), std::int64_t{size});
  EXPECT_EQ(complaint(file), "");
}

TEST(mapped_file, tells_that_it_became_shorter) {
  for (const std::size_t left : {std::size_t{0}, std::size_t{5000}, size / 2, size - 1}) {
    const scratch files;
    const std::string path = files.file("a", std::string(size, '\1'));
    const mapped_file file(path);
    std::filesystem::resize_file(path, left);
    EXPECT_EQ(sum_of(file.bytes()), static_cast<std::int64_t>(left));
    EXPECT_EQ(complaint(file), "became shorter while it was read") << left;
  }
}

TEST(mapped_file, tells_every_thread) {
  const scratch files;
  const std::string path = files.file("a", std::string(size, '\1'));
  const mapped_file file(path);
  std::filesystem::resize_file(path, 0);
  std::vector<std::thread> readers;
  std::vector<std::int64_t> sums(4, -1);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    readers.emplace_back([&, i] { sums[i] = sum_of(file.bytes().subspan(i * size / 4)); });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(sums, std::vector<std::int64_t>(4, 0));
  EXPECT_EQ(complaint(file), "became shorter while it was read");
}

TEST(mapped_file, tells_that_it_was_shorter_for_a_while) {
  const scratch files;
  const std::string path = files.file("a", std::string(size, '\1'));
  const mapped_file file(path);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(sum_of(file.bytes().first(1)), 0);
  files.file("a", std::string(size, '\1'));
  EXPECT_NE(complaint(file).find("could not be read to its end"), std::string::npos);
}

TEST(mapped_file, that_loses_pages_leaves_others_alone) {
  const scratch files;
  const std::string path = files.file("a", std::string(size, '\1'));
  const mapped_file before(files.file("b", std::string(size, '\2')));
  const mapped_file file(path);
  const mapped_file after(files.file("c", std::string(size, '\3')));
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(sum_of(file.bytes()), 0);
  EXPECT_EQ(sum_of(before.bytes()), std::int64_t{2 * size});
  EXPECT_EQ(sum_of(after.bytes()), std::int64_t{3 * size});
  EXPECT_EQ(complaint(before), "");
  EXPECT_EQ(complaint(after), "");
}

TEST(mapped_file, can_be_mapped_any_number_of_times) {
  const scratch files;
  const std::string path = files.file("a", std::string(5000, '\1'));
  for (int i = 0; i < 3000; ++i) {
    mapped_file file(path);
    const mapped_file moved(std::move(file));
    ASSERT_EQ(sum_of(moved.bytes()), 5000);
    ASSERT_EQ(complaint(moved), "");
  }
}

TEST(mapped_file, that_became_shorter_is_the_error_whatever_else_is) {
  const scratch files;
  const std::string path = files.file("a", std::string(size, '\1'));
  const mapped_file file(path);
  const auto fail = [&]() -> int { throw std::runtime_error("another"); };
  EXPECT_THROW(while_whole(file, fail), std::runtime_error);
  EXPECT_EQ(while_whole(file, [&] { return sum_of(file.bytes()); }), std::int64_t{size});
  std::filesystem::resize_file(path, 0);
  EXPECT_THROW(while_whole(file, fail), input_error);
  EXPECT_THROW(while_whole(file, [&] { return sum_of(file.bytes()); }), input_error);
}

TEST(mapped_file, items_of_an_array_may_go_away) {
  const scratch files;
  const std::string path = files.file("a", std::string(size, '\1'));
  const array input =
      load_array(path, raw_layout{{dtype::uint8, std::endian::native}, 0}, read_ahead::no);
  std::filesystem::resize_file(path, 4096);
  const auto sum = [&] { return sum_of({input.data, static_cast<std::size_t>(input.count)}); };
  EXPECT_EQ(sum(), 4096);
  EXPECT_THROW(while_whole(input.file, sum), input_error);
}

// The handler is for mapped files alone.
TEST(mapped_file, leaves_other_bus_errors_deadly) {
  const scratch files;
  const std::string path = files.file("a", std::string(size, '\1'));
  const auto touch_what_nobody_watches = [&] {
    const mapped_file file(path);
    const int descriptor = open(path.c_str(), O_RDONLY);
    const void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    std::filesystem::resize_file(path, 0);
    (void)*static_cast<const volatile char*>(bytes);
  };
  EXPECT_EXIT(touch_what_nobody_watches(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace tilefold::tool
