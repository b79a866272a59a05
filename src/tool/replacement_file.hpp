// SPDX-License-Identifier: Apache-2.0
//
// Files that are written whole or not at all. POSIX only.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include "input_error.hpp"

namespace tilefold::tool {

inline volatile std::sig_atomic_t caught_signal = 0;

// While it lives, an interrupt only sets a flag, so that the unfinished file can be removed.
class signals_deferred {
 public:
  signals_deferred() {
    struct sigaction action = {};
    action.sa_handler = [](int signal) { caught_signal = signal; };
    for (int i = 0; i < count; ++i) sigaction(signals[i], &action, &before_[i]);
  }
  signals_deferred(const signals_deferred&) = delete;
  signals_deferred& operator=(const signals_deferred&) = delete;
  ~signals_deferred() {
    for (int i = 0; i < count; ++i) sigaction(signals[i], &before_[i], nullptr);
  }

 private:
  static constexpr int count = 3;
  static constexpr int signals[count] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[count];
};

// Writes beside `path` and takes its place only when complete.
class replacement_file {
 public:
  /// Throws input_error if there is something else than a file in its place, or anything at all
  /// where it is written: a link would lead elsewhere, and another run may be writing there.
  explicit replacement_file(const std::string& path, const std::string& suffix = ".part")
      : path_(path), part_(path + suffix) {
    struct stat status;
    // A rename would replace a device or a FIFO, and fail on a directory only after all the work.
    if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
      throw input_error(S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
    }
    fd_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno == EEXIST) {
      throw input_error(in_quotes(part_) +
                        " is there already: another run is writing it, or one was killed; if none "
                        "is, remove it");
    }
    if (fd_ < 0) fail_with_errno("cannot create " + in_quotes(part_));
  }
  replacement_file(const replacement_file&) = delete;
  replacement_file& operator=(const replacement_file&) = delete;
  ~replacement_file() {
    if (fd_ >= 0) close(fd_);
    if (!committed_) unlink(part_.c_str());
  }

  void write(const char* data, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t written = ::write(fd_, data, bytes);
      if (written < 0 && errno == EINTR && caught_signal == 0) continue;
      if (written < 0) fail_with_errno("cannot write " + in_quotes(part_));
      data += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  void commit() {
    // Else a rename can be on the disk before what it names, and a power cut leaves neither file.
    // (Some file systems know no such thing, and say so.)
    if (fsync(fd_) != 0 && errno != EINVAL) fail_with_errno("cannot write " + in_quotes(part_));
    const int fd = std::exchange(fd_, -1);
    if (close(fd) != 0) fail_with_errno("cannot write " + in_quotes(part_));
    if (rename(part_.c_str(), path_.c_str()) != 0)
      fail_with_errno("cannot rename " + in_quotes(part_));
    committed_ = true;
  }

 private:
  [[noreturn]] static void fail_with_errno(const std::string& what) {
    throw input_error(what + ": " + std::generic_category().message(errno));
  }

  std::string path_;
  std::string part_;
  int fd_ = -1;
  bool committed_ = false;
};

}  // namespace tilefold::tool
