// SPDX-License-Identifier: Apache-2.0
//
// A progress bar on standard error, for people only: nothing is written unless standard error is a
// terminal, nor for work that is over in a blink.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tilefold::tool {

class progress {
 public:
  /// `verb` and `name` say what is going on: "reading", "elevation.npy".
  progress(std::string verb, std::string name, std::int64_t total_bytes);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();  // wipes the bar

  void advance_to(std::int64_t done_bytes);

 private:
  using clock = std::chrono::steady_clock;

  std::string label_;
  std::int64_t total_bytes_;
  clock::time_point start_ = clock::now();
  clock::time_point next_draw_;
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace tilefold::tool
