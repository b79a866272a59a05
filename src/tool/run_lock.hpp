// SPDX-License-Identifier: Apache-2.0
//
// A lock that one run of the tool holds, as an empty file that the system unlocks when the run
// ends, however it ends. POSIX only.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "input_error.hpp"

namespace tilefold::tool {

class run_lock {
 public:
  /// Throws input_error if another run holds it, or `path` is something else than such a file.
  /// (Where the file system knows no locks, none is taken.)
  explicit run_lock(std::string path) : path_(std::move(path)) {
    while (!try_to_hold()) {
    }
  }
  run_lock(const run_lock&) = delete;
  run_lock& operator=(const run_lock&) = delete;
  ~run_lock() {
    if (is_at_path()) unlink(path_.c_str());
    close(fd_);
  }

  /// Whether a run that held it before was killed.
  bool was_left_behind() const { return was_there_ && is_locked_; }

  /// The number of the lock's file. A run that takes the place of a killed one finds the same
  /// number; no other file has it as long as this one is there.
  std::string number() const {
    struct stat own{};
    fstat(fd_, &own);
    return std::to_string(own.st_ino);
  }

 private:
  // False if another run has removed the file meanwhile.
  bool try_to_hold() {
    constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    fd_ = open(path_.c_str(), flags | O_CREAT | O_EXCL, 0666);
    was_there_ = fd_ < 0 && errno == EEXIST;
    if (was_there_) fd_ = open(path_.c_str(), flags);
    if (fd_ < 0 && was_there_ && errno == ENOENT) return false;
    if (fd_ < 0) {
      throw input_error("cannot create " + in_quotes(path_) + ": " +
                        std::generic_category().message(errno));
    }
    // Not all file systems know locks.
    is_locked_ = flock(fd_, LOCK_EX | LOCK_NB) == 0;
    if (!is_locked_ && errno == EWOULDBLOCK) {
      close(fd_);
      throw input_error("another run of tilefold uses it (and holds " + in_quotes(path_) + ")");
    }
    if (!is_at_path()) {
      close(fd_);
      return false;
    }
    struct stat own{};
    if (fstat(fd_, &own) != 0 || !S_ISREG(own.st_mode) || own.st_size != 0 || own.st_nlink != 1) {
      close(fd_);
      throw input_error(in_quotes(path_) + " is there already, and is no lock of tilefold's");
    }
    return true;
  }

  bool is_at_path() const {
    struct stat own{};
    struct stat there{};
    return fstat(fd_, &own) == 0 && lstat(path_.c_str(), &there) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
  }

  std::string path_;
  int fd_ = -1;
  bool was_there_ = false;
  bool is_locked_ = false;
};

}  // namespace tilefold::tool
