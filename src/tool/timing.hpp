// SPDX-License-Identifier: Apache-2.0
//
// Times a call a few times over and keeps the fastest.
#pragma once

#include <algorithm>
#include <chrono>

namespace tilefold::tool {

struct timing {
  double seconds;  // the fastest
  int calls;
};

/// `timed_call` does the work once and returns how many seconds it took. Slow work is not repeated
/// to the end: no further call begins after two seconds.
template <class TimedCall>
timing fastest_of(int repeats, TimedCall timed_call) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + std::chrono::seconds(2);
  timing best{timed_call(), 1};
  while (best.calls < repeats && clock::now() < deadline) {
    best.seconds = std::min(best.seconds, timed_call());
    ++best.calls;
  }
  return best;
}

/// The wall-clock time of call().
template <class Call>
double wall_seconds(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tilefold::tool
