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

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "input.hpp"
#include "input_error.hpp"
#include "scratch.hpp"
#include "watched_range.hpp"

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

// No byte is that of its neighbours, or of the same place of another page.
std::string numbered(std::size_t bytes) {
  std::string all(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<char>(i * 131 % 251 + 1);
  return all;
}

std::string copied(const std::byte* from, std::size_t bytes) {
  std::string to(bytes, '?');
  copy_mapped(reinterpret_cast<std::byte*>(to.data()), from, bytes);
  return to;
}

TEST(mapped_file, copies_what_stands_in_the_file) {
  const scratch files;
  const std::string text = numbered(size);
  const mapped_file first(files.file("a", text));
  const mapped_file second(files.file("b", text.substr(7)));
  for (const std::size_t begin : {std::size_t{0}, std::size_t{1}, std::size_t{70001}, size - 9}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{9}, size - 70001}) {
      if (begin + bytes > size - 7) continue;
      EXPECT_TRUE(copied(&first.bytes()[begin], bytes) == text.substr(begin, bytes));
      EXPECT_TRUE(copied(&second.bytes()[begin], bytes) == text.substr(begin + 7, bytes));
    }
  }
  EXPECT_TRUE(copied(reinterpret_cast<const std::byte*>(text.data()) + 5, 1000) ==
              text.substr(5, 1000));  // not of a file
  EXPECT_EQ(complaint(first), "");
  EXPECT_EQ(complaint(second), "");
}

TEST(mapped_file, copies_zeros_for_what_is_gone) {
  constexpr std::size_t left = 5000;
  const scratch files;
  const std::string text = numbered(size);
  const std::string path = files.file("a", text);
  const mapped_file file(path);
  std::filesystem::resize_file(path, left);
  EXPECT_TRUE(copied(file.bytes().data(), size) ==
              text.substr(0, left) + std::string(size - left, '\0'));
  EXPECT_EQ(complaint(file), "became shorter while it was read");
  std::filesystem::resize_file(path, size);
  EXPECT_EQ(complaint(file),
            "could not be read to its end (it was rewritten meanwhile, or a disk failed)");
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

constexpr watched_range::place low{1000, 2000, 1};
constexpr watched_range::place high{8000, 9000, 2};

// The slot goes to another range while a handler reads it: 5000 is between the two.
TEST(mapped_file, is_not_mixed_with_the_next_range_of_its_slot) {
  watched_range slot;
  ASSERT_TRUE(slot.take(low));
  const auto use_again = [&] {
    slot.give_back();
    ASSERT_TRUE(slot.take(high));
  };
  EXPECT_FALSE(slot.around(5000, use_again));
  EXPECT_FALSE(slot.around(5000));
  EXPECT_EQ(slot.around(8000).value().end, high.end);
}

// A handler reads the slot while it is given back: it begins at 0 by then, and ends where it did.
TEST(mapped_file, is_not_found_while_its_slot_changes) {
  watched_range slot;
  ASSERT_TRUE(slot.take(low));
  bool found = true;
  slot.give_back([&] { found = slot.around(500).has_value(); });
  EXPECT_FALSE(found);
}

// What a signal handler may see of a slot that is used again and again: one range or the other,
// never the begin of one and the end of the other.
TEST(mapped_file, is_watched_in_a_slot_that_is_used_again) {
  watched_range slot;
  std::atomic<bool> done{false};
  std::thread user([&] {
    for (int i = 0; i < 300000; ++i) {
      EXPECT_TRUE(slot.take({1000, 2000, 1}));
      slot.give_back();
      EXPECT_TRUE(slot.take({8000, 9000, 2}));
      slot.give_back();
    }
    done = true;
  });
  std::int64_t between = 0;
  std::int64_t mixed = 0;
  while (!done) {
    if (slot.around(5000)) ++between;
    if (const auto found = slot.around(1500)) {
      if (found->begin != 1000 || found->end != 2000 || found->descriptor != 1) ++mixed;
    }
  }
  user.join();
  EXPECT_EQ(between, 0);
  EXPECT_EQ(mixed, 0);
}

// The state is that of the file that is read, also if its name leads to another meanwhile.
TEST(mapped_file, has_the_state_of_what_is_mapped) {
  const scratch files;
  const std::string path = files.file("a", "12345");
  const mapped_file before(path);
  std::filesystem::rename(files.file("b", "1234567"), path);
  const mapped_file after(path);
  EXPECT_EQ(before.state().bytes, 5);
  EXPECT_EQ(after.state().bytes, 7);
  EXPECT_NE(before.state().number, after.state().number);
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
