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

class progress {
 public:
  enum class shown { to_people, always };  // always: at once and on whatever standard error is

  /// `verb` and `name` say what is going on: "reading", "elevation.npy".
  progress(std::string verb, std::string name, std::int64_t total_bytes,
           shown when = shown::to_people);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();  // wipes the bar

  void advance_to(std::int64_t done_bytes);
  void advance_by(std::int64_t more_bytes);

  /// Wipes the bar, so that a line can be written in its place; the next advance draws it again.
  void wipe();

 private:
  void draw(std::int64_t done_bytes);

  using clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::string label_;
  std::int64_t total_bytes_;
  clock::time_point start_ = clock::now();
  clock::time_point next_draw_;
  std::int64_t done_bytes_ = 0;
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace tilefold::tool
