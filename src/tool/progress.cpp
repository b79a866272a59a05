// SPDX-License-Identifier: Apache-2.0
//
// Draws the progress bar: one line, rewritten in place a few times a second.
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "format.hpp"
#include "input_error.hpp"

namespace tilefold::tool {

namespace {

constexpr auto before_first_draw = std::chrono::milliseconds(300);
constexpr auto between_draws = std::chrono::milliseconds(100);
constexpr int bar_cells = 28;

}  // namespace

progress::progress(std::string verb, std::string name, std::int64_t total_bytes, shown when)
    : label_(std::move(verb) + " " + one_line(name)),
      total_bytes_(std::max<std::int64_t>(total_bytes, 1)),
      next_draw_(when == shown::always ? start_ : start_ + before_first_draw),
      enabled_(when == shown::always || isatty(STDERR_FILENO) == 1) {}

progress::~progress() { wipe(); }

void progress::wipe() {
  const std::lock_guard lock(mutex_);
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void progress::advance_to(std::int64_t done_bytes) {
  const std::lock_guard lock(mutex_);
  done_bytes_ = done_bytes;
  draw(done_bytes);
}

void progress::advance_by(std::int64_t more_bytes) {
  const std::lock_guard lock(mutex_);
  done_bytes_ += more_bytes;
  draw(done_bytes_);
}

void progress::draw(std::int64_t done_bytes) {
  if (!enabled_) return;
  const clock::time_point now = clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + between_draws;
  drawn_ = true;
  const double share = static_cast<double>(done_bytes) / static_cast<double>(total_bytes_);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = share > 0 ? elapsed / share - elapsed : 0;
  const int filled = std::clamp(static_cast<int>(share * bar_cells), 0, bar_cells);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(bar_cells - filled), '.');
  const double rate = static_cast<double>(done_bytes) / elapsed;
  std::fprintf(stderr, "\r%s [%s] %3.0f%% %s, %s left\033[K", label_.c_str(), bar.c_str(),
               100 * share, format_rate(rate).c_str(), format_seconds(left).c_str());
  std::fflush(stderr);
}

}  // namespace tilefold::tool
