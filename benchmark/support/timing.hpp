// SPDX-License-Identifier: Apache-2.0
//
// How work on the GPU is timed: the one place where a benchmark starts calls and reads a clock.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>

#include "contestant.hpp"

namespace bench {

class session;

/// How the calls of one measurement are started, and what the caches hold before.
enum class mode {
  graph,   // calls in a row in a CUDA graph, each on other memory, L2 full of something else
  hot,     // the same, all calls on the same memory
  stream,  // started one after the other by the host, as cold as in `graph`
  sync,    // one call that returns the value, by the host's clock, input as the last call left it
};

inline const char* name_of(mode m) {
  switch (m) {
    case mode::graph:
      return "graph";
    case mode::hot:
      return "hot";
    case mode::stream:
      return "stream";
    case mode::sync:
      return "sync";
  }
  return "?";
}

/// What one contestant does at one n. Functions may be empty, but not `enqueue`.
struct timed_work {
  mode how = mode::graph;
  index bytes = 0;                // that one call moves
  std::function<void()> enqueue;  // the calls; may be captured unless `how` is stream or sync
  int calls = 1;                  // that it makes
  // Fills L2 with something else before each timing. Not needed where one call moves gibibytes.
  bool flush = false;
  std::function<void()> check;          // before anything is timed; throws if results are wrong
  std::function<void()> before, after;  // each timing; what they throw ends the measurement
};

/// One repetition: the time of one call, as the mean of `calls`, for every iteration of the state.
void measure(benchmark::State& state, session& gpu, const timed_work& work);

}  // namespace bench
