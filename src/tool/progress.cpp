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

}  // namespace

std::string bar_of(const work_state& work) {
  constexpr int cells = 28;
  const double share = work.total_bytes > 0 ? static_cast<double>(work.done_bytes) /
                                                  static_cast<double>(work.total_bytes)
                                            : 1;
  const auto own = static_cast<double>(work.done_bytes - work.before_bytes);
  const double rate = work.seconds > 0 ? own / work.seconds : 0;
  const double left = rate > 0 ? static_cast<double>(work.total_bytes - work.done_bytes) / rate : 0;
  const int filled = std::clamp(static_cast<int>(share * cells), 0, cells);
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f%%", 100 * share);
  return "[" + std::string(static_cast<std::size_t>(filled), '#') +
         std::string(static_cast<std::size_t>(cells - filled), '.') + "] " + percent + " " +
         format_rate(rate) + ", " + format_seconds(left) + " left";
}

progress::progress(std::string verb, std::string name, std::int64_t total_bytes, shown when,
                   std::int64_t before_bytes)
    : label_(std::move(verb) + " " + one_line(name)),
      total_bytes_(total_bytes),
      before_bytes_(before_bytes),
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
  draw();
}

void progress::advance_by(std::int64_t more_bytes) {
  const std::lock_guard lock(mutex_);
  done_bytes_ += more_bytes;
  draw();
}

void progress::draw() {
  if (!enabled_) return;
  const clock::time_point now = clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + between_draws;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string bar = bar_of({total_bytes_, done_bytes_, before_bytes_, seconds});
  std::fprintf(stderr, "\r%s %s\033[K", label_.c_str(), bar.c_str());
  std::fflush(stderr);
}

}  // namespace tilefold::tool
