// SPDX-License-Identifier: Apache-2.0
//
// Maps files, and survives that one becomes shorter: touching a page that is no longer there is
// SIGBUS, whose handler puts zeros in the place of the lost pages and notes it.
#include "mapped_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "input_error.hpp"
#include "watched_range.hpp"

namespace tilefold::tool {

namespace {

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw input_error(what + ": " + std::generic_category().message(errno));
}

// A table that never moves, for a signal handler must not wait for a lock.
constexpr int most_files = 1024;
std::array<watched_range, most_files> watched_ranges;
std::atomic<std::uintptr_t> page_bytes{0};

// Whether the rest of the range from `address` on reads as zeros now.
bool put_zeros(std::uintptr_t address, std::uintptr_t end) {
  const std::uintptr_t page = address / page_bytes * page_bytes;
  return mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void on_bus_error(int, siginfo_t* info, void*) {
  const int before = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (watched_range& range : watched_ranges) {
    const auto found = range.around(address);
    if (!found) continue;
    range.lose();
    if (!put_zeros(address, found->end)) break;
    errno = before;
    return;
  }
  // Not one of ours. The instruction is tried again, and ends the program as it would have.
  signal(SIGBUS, SIG_DFL);
}

void handle_bus_errors() {
  static const bool done = [] {
    page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  if (!done) throw input_error("cannot be mapped: SIGBUS cannot be handled");
}

int watch(std::span<const std::byte> bytes, int descriptor) {
  handle_bus_errors();
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  for (int i = 0; i < most_files; ++i) {
    if (watched_ranges[static_cast<std::size_t>(i)].take(
            {begin, begin + bytes.size(), descriptor})) {
      return i;
    }
  }
  throw input_error("cannot be mapped: " + std::to_string(most_files) + " files are");
}

file_state state_of_regular_file(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) fail_with_errno("cannot examine");
  if (S_ISDIR(status.st_mode)) throw input_error("is a directory");
  if (!S_ISREG(status.st_mode)) throw input_error("is not a regular file");
  return {status.st_size, std::int64_t{status.st_mtim.tv_sec} * 1000000000 + status.st_mtim.tv_nsec,
          std::to_string(status.st_ino)};
}

std::span<const std::byte> map(int descriptor, std::size_t size) {
  if (size == 0) {  // nothing to map, and mmap would refuse
    char byte;
    if (pread(descriptor, &byte, 1, 0) > 0) {
      throw input_error("has a size of 0, but is not empty (as files of /proc): copy it first");
    }
    return {};
  }
  void* const address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) fail_with_errno("cannot map");
  madvise(address, size, MADV_SEQUENTIAL);  // advice only: its failure changes nothing
  return {static_cast<const std::byte*>(address), size};
}

void unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

void copy_mapped(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  for (watched_range& range : watched_ranges) {
    const auto found = range.around(address);
    if (!found) continue;
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t now = pread(found->descriptor, to + done, bytes - done,
                                static_cast<off_t>(address - found->begin + done));
      if (now > 0) {
        done += static_cast<std::size_t>(now);
      } else if (now == 0 || errno != EINTR) {
        range.lose();
        std::memset(to + done, 0, bytes - done);
        return;
      }
    }
    return;
  }
  std::memcpy(to, from, bytes);
}

mapped_file::mapped_file(const std::string& path)
    // Non-blocking, so that a FIFO without a writer is refused below and not waited for.
    : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) fail_with_errno("cannot open");
  try {
    state_ = state_of_regular_file(descriptor_);
    bytes_ = map(descriptor_, static_cast<std::size_t>(state_.bytes));
    watched_ = watch(bytes_, descriptor_);
  } catch (...) {
    unmap(bytes_);
    close(descriptor_);
    throw;
  }
}

mapped_file::mapped_file(mapped_file&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      state_(std::move(other.state_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      watched_(std::exchange(other.watched_, -1)) {}

mapped_file::~mapped_file() {
  if (descriptor_ < 0) return;
  watched_ranges[static_cast<std::size_t>(watched_)].give_back();
  unmap(bytes_);
  close(descriptor_);
}

void mapped_file::require_whole() const {
  // The size as well as the note: the rest of a last page is zeros, and no bus error.
  if (state_of_regular_file(descriptor_).bytes < state_.bytes) {
    throw input_error("became shorter while it was read");
  }
  if (watched_ranges[static_cast<std::size_t>(watched_)].is_lost()) {
    throw input_error(
        "could not be read to its end (it was rewritten meanwhile, or a disk failed)");
  }
}

}  // namespace tilefold::tool
