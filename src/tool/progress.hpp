// SPDX-License-Identifier: Apache-2.0
//
// A progress bar on standard error, for people only: nothing is written unless standard error is a
// terminal, nor for work that is over in a blink. Several threads may advance it.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tilefold::tool {

/// How far some work is, of which an earlier run may have done a part.
struct work_state {
  std::int64_t total_bytes;
  std::int64_t done_bytes;
  std::int64_t before_bytes;  // of these, by the earlier run
  double seconds;             // of this run
};

/// "[####........................]  14% 1.20 GB/s, 3.4 s left": rate and time left are those of
/// this run.
std::string bar_of(const work_state& work);

class progress {
 public:
  enum class shown { to_people, always };  // always: at once and on whatever standard error is

  /// `verb` and `name` say what is going on: "reading", "elevation.npy". `before_bytes` are done.
  progress(std::string verb, std::string name, std::int64_t total_bytes,
           shown when = shown::to_people, std::int64_t before_bytes = 0);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();  // wipes the bar

  void advance_to(std::int64_t done_bytes);
  void advance_by(std::int64_t more_bytes);

  /// Wipes the bar, so that a line can be written in its place; the next advance draws it again.
  void wipe();

 private:
  void draw();

  using clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::string label_;
  const std::int64_t total_bytes_;
  const std::int64_t before_bytes_;
  clock::time_point start_ = clock::now();
  clock::time_point next_draw_;
  std::int64_t done_bytes_ = before_bytes_;
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace tilefold::tool
