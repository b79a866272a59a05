// SPDX-License-Identifier: Apache-2.0
//
// Repetitions that may fail. Google Benchmark ends the program if some repetitions of a benchmark
// have iterations and others, skipped with an error, have none: so a failure is told and
// remembered, and the repetition comes to an end like any other. The reporters leave it out.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <set>
#include <string>

namespace bench {

/// One repetition of the measurement `name`: measure(), unless it failed before. False if it
/// failed now. `failures` holds the names of what failed.
template <class Measure>
bool attempt(benchmark::State& state, const std::string& name, std::set<std::string>& failures,
             Measure measure) {
  bool fails = false;
  if (!failures.contains(name)) {
    try {
      measure();
      return true;
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "\n%s: %s\n", name.c_str(), failure.what());
      failures.insert(name);
      fails = true;
    }
  }
  // Goes on where a loop over the state was left.
  while (state.KeepRunning()) state.SetIterationTime(1e-6);
  return !fails;
}

}  // namespace bench
